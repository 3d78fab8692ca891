"""Several good outputs an example."""
