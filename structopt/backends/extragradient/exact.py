r"""Sums of products that are rounded once, at their end: proofs do not hang on rounding.

A product of two floats is the sum of two floats, ``a b = h + l`` with h = fl(a b) (Dekker's
splitting), and `math.fsum` adds any number of floats without error before it rounds. So each
entry of A'y below is the float nearest to the true one; it is 0 only where that is.

>>> import scipy.sparse as sp
>>> A, y = sp.csr_array([[0.1], [0.2], [-0.3]]), np.ones(3)
>>> (A.T @ y).round(18), transposed(A, y)  # 0.1 + 0.2 is not 0.3, and by how much
(array([5.6e-17]), array([2.77555756e-17]))
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats

_SPLIT = 2.0**27 + 1.0


def transposed(A: Any, y: Floats) -> Floats:
    """Return A'y, each entry rounded once."""
    rows = np.flatnonzero(y)
    some = sp.csc_array(sp.csr_array(A)[rows])
    parts = np.stack(_product(some.data, y[rows][some.indices]), axis=1).ravel().tolist()
    found, ends = np.zeros(some.shape[1]), (2 * some.indptr).tolist()
    for j in np.flatnonzero(np.diff(some.indptr)).tolist():
        found[j] = math.fsum(parts[ends[j] : ends[j + 1]])
    return found


def total(*pairs: tuple[Floats, Floats]) -> float:
    """Return the sum of all a.b, rounded once."""
    return math.fsum(part for a, b in pairs for half in _product(a, b) for part in half.tolist())


def _product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    high = a * b
    a1, b1 = _upper(a), _upper(b)
    a2, b2 = a - a1, b - b1
    return high, a2 * b2 - (((high - a1 * b1) - a2 * b1) - a1 * b2)


def _upper(a: Floats) -> Floats:
    """Return the upper half of the digits."""
    c = _SPLIT * a
    return np.asarray(c - (c - a))
