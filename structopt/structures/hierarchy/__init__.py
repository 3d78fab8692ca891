"""A label on every node of a tree."""
