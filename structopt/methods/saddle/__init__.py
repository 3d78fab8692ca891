"""Saddle-point methods over the outputs' polytope."""
