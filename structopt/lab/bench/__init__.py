"""Measurements that anyone can repeat: masters against hand-written code, letters against peers.

Competitors take turns in one run, so that a busy machine slows all of them; times are medians.
Nothing is taken on a solver's word: objectives are compared, gaps are certified.
"""
