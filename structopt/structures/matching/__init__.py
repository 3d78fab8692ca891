"""Matchings of two sets."""
