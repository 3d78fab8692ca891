"""Predict, then optimise: models whose outputs are decisions."""
