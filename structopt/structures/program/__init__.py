"""Outputs that CVXPY constrains: 0-1 programmes."""
