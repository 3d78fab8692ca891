"""Orders of items."""
