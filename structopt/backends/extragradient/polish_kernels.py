"""Compiled conjugate gradients on an active set (see :mod:`.polish`)."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

from structopt.backends.extragradient.step_kernels import FAST, product


@njit(cache=True, nogil=True, fastmath=FAST)
def least_squares(A, At, rows, columns, r, d, most, tolerance):
    """CGLS: d, 0 outside ``columns``, that makes |r - A d| over ``rows`` small; uses up r.

    Returns the number of products.
    """
    s, v, p = np.zeros(len(d)), np.zeros(len(r)), np.zeros(len(d))
    d[:] = 0.0
    for i in range(len(r)):
        if not rows[i]:
            r[i] = 0.0
    product(At, A, r, s)
    size = 0.0
    for j in range(len(d)):
        s[j] = s[j] if columns[j] else 0.0
        p[j] = s[j]
        size += s[j] * s[j]
    least, used = tolerance * tolerance * size, 1
    while used < most and size > least:
        product(A, At, p, v)
        used += 1
        length = 0.0
        for i in range(len(r)):
            v[i] = v[i] if rows[i] else 0.0
            length += v[i] * v[i]
        if length == 0.0:
            break
        step = size / length
        for j in range(len(d)):
            d[j] += step * p[j]
        for i in range(len(r)):
            r[i] -= step * v[i]
        product(At, A, r, s)
        used += 1
        new = 0.0
        for j in range(len(d)):
            s[j] = s[j] if columns[j] else 0.0
            new += s[j] * s[j]
        turn = new / size
        for j in range(len(d)):
            p[j] = s[j] + turn * p[j]
        size = new
    return used
