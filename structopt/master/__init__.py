"""The restricted master problem: declared in CVXPY, compiled once, lifted cut by cut."""
