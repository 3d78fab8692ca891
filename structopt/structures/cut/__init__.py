"""Two sides of a graph."""
