"""What is minimised, written in CVXPY, one formulation a file."""
