"""Who solves a master problem, one backend a file."""
