"""How the learning problem is driven, one method a file."""
