"""Objectives that are not convex, by convex upper bounds that are solved one after the other."""
