"""Matchings in graphs that need not be bipartite."""
