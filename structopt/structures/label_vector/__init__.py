"""Several binary labels at once."""
