"""A label for every position, scored by threes."""
