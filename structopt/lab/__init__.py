"""Measurements anyone can repeat: comparisons, benchmarks, the papers' experiments, a demo."""
