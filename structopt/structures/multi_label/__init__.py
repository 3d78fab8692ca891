"""Sets of labels, with losses of their contingency tables."""
