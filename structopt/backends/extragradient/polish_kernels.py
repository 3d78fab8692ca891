"""Compiled conjugate gradients on an active set (see :mod:`.polish`)."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

from structopt.backends.extragradient.product_kernels import FAST, product


@njit(cache=True, nogil=True, fastmath=FAST)
def least_squares(A, At, rows, columns, r, d, most, tolerance):
    """CGLS: d, 0 outside ``columns``, that makes |r - A d| over ``rows`` small.

    Returns the number of products.
    """
    held, free = np.flatnonzero(rows), np.flatnonzero(columns)
    d[:] = 0.0
    short, step = r[held], np.zeros(len(free))
    B, Bt = restricted(A, held, columns), restricted(At, free, rows)
    used = conjugate_gradients(B, Bt, short, step, most, tolerance)
    d[free] = step
    return used


@njit(cache=True, nogil=True, fastmath=FAST)
def restricted(matrix, rows, columns):
    # the CSR arrays of some rows and columns of a matrix
    indptr, indices, data = matrix
    place, n = np.empty(len(columns), dtype=np.int32), 0
    for j in range(len(columns)):
        place[j] = n if columns[j] else -1
        n += columns[j]
    most = 0
    for i in rows:
        most += indptr[i + 1] - indptr[i]
    start = np.zeros(len(rows) + 1, dtype=np.int64)
    column, value, count = np.empty(most, dtype=np.int32), np.empty(most), 0
    for k in range(len(rows)):
        for p in range(indptr[rows[k]], indptr[rows[k] + 1]):
            if place[indices[p]] >= 0:
                column[count], value[count] = place[indices[p]], data[p]
                count += 1
        start[k + 1] = count
    return start, column[:count], value[:count]


@njit(cache=True, nogil=True, fastmath=FAST)
def conjugate_gradients(A, At, r, d, most, tolerance):
    # min over d |r - A d|, from d = 0, in at most so many products; r becomes what is left
    s, v = np.zeros(len(d)), np.zeros(len(r))
    product(At, A, r, s)
    p = s.copy()
    size = np.dot(s, s)
    least, used = tolerance * tolerance * size, 1
    while used < most and size > least:
        product(A, At, p, v)
        used += 1
        length = np.dot(v, v)
        if length == 0.0:
            break
        step = size / length
        d += step * p
        r -= step * v
        product(At, A, r, s)
        used += 1
        new = np.dot(s, s)
        p *= new / size
        p += s
        size = new
    return used
