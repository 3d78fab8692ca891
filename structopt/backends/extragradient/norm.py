r"""The largest singular value of A, by Lanczos' method (ARPACK), from a direction known before.

>>> import scipy.sparse as sp
>>> value, direction, products = largest(sp.csr_array([[3.0, 0.0], [0.0, 1.0]]), None)
>>> round(value, 2), abs(direction).round(3)
(3.0, array([1., 0.]))
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from structopt.arrays import Floats

SMALL = 8
"""Below this size the matrix is made dense."""
TOLERANCE, ROOM = 1e-4, 1.0005
"""Of the eigenvalue of A'A; Ritz values come from below, so that a little is added."""


def largest(A: Any, start: Floats | None) -> tuple[float, Floats, int]:
    """Return the value (1 of an empty matrix), its right singular vector, and the products."""
    m, n = A.shape
    if not A.nnz:
        return 1.0, np.zeros(n), 0
    if min(m, n) < SMALL:
        _, values, vectors = np.linalg.svd(A.toarray(), full_matrices=False)
        return ROOM * float(values[0]), vectors[0], 2
    guess = np.random.default_rng(0).standard_normal(n)
    if start is not None and len(start) <= n and np.any(start):
        guess *= 1e-3 * np.linalg.norm(start) / np.linalg.norm(guess)
        guess[: len(start)] += start
    At, calls = A.T.tocsr(), [0]

    def twice(v: Floats) -> Floats:
        calls[0] += 2
        return np.asarray(At @ (A @ v))

    gram = LinearOperator((n, n), matvec=twice, dtype=np.float64)
    try:
        values, vectors = eigsh(gram, k=1, tol=TOLERANCE, v0=guess)
        value = ROOM * float(np.sqrt(values[0]))
        return value, np.asarray(vectors[:, 0]), calls[0]
    except ArpackNoConvergence:  # the Frobenius norm is always enough
        return float(np.linalg.norm(A.data)), guess, calls[0]
