"""Dual ascent with kernels."""
