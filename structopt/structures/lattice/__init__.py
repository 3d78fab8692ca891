"""Paths through a directed acyclic graph."""
