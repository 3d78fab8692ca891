"""Conformance checks: what a class of one's own must keep, as functions that say what it does not.

>>> import numpy as np, structopt as so
>>> pairs = so.Enumerated([(0, 1), (1, 0)], np.multiply)
>>> passed = so.testing.check_structure(pairs, [[1.0, 2.0]], [(1, 0)])
>>> "loss_augmented_is_brute_force" in passed
True
"""

from structopt.testing.backend import check_backend
from structopt.testing.check import CheckError
from structopt.testing.formulation import check_formulation
from structopt.testing.method import check_method
from structopt.testing.structure import check_structure

__all__ = [
    "CheckError",
    "check_backend",
    "check_formulation",
    "check_method",
    "check_structure",
]
