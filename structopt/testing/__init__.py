"""Conformance checks: what a class of one's own must keep, as functions that say what it does not.

>>> import numpy as np, structopt as so
>>> X, Y = so.datasets.make_classes(4, n_features=2, seed=0)
>>> passed = so.testing.check_structure(so.Multiclass(), X, Y)
>>> "loss_augmented_is_brute_force" in passed
True
"""

from structopt.testing.check import CheckError
from structopt.testing.structure import check_structure

__all__ = ["CheckError", "check_structure"]
