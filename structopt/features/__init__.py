"""From words, pages, arcs and kernels to the vectors that structures take."""
