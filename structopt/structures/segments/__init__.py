"""Sequences cut into labelled segments."""
