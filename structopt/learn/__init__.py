"""Models: the estimator, and what stands around it."""
