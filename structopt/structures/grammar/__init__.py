"""Constituency trees: the derivations of a weighted context-free grammar."""
