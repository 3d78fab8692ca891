"""Every output written out: the reference."""
