"""Exact Euclidean projections, each with a bound on its own error."""
