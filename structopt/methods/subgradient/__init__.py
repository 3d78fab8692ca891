"""Projected sub-gradients."""
