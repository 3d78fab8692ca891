"""A label for every position of a sequence."""
