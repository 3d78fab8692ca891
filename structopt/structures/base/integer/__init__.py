"""0-1 programmes: rows, and the solver that finds their optima."""
