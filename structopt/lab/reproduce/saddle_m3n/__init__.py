"""Taskar, Lacoste-Julien and Jordan (2006), figure by figure."""
