"""Our dual coordinate ascent over cuts."""
