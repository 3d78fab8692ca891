"""Methods that visit one example at a time."""
