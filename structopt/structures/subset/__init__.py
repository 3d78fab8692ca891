"""Sets of items, with losses of their contingency tables."""
