"""Compiled products with a CSR matrix, by its rows or by its columns.

A signed index is tested for being negative before every use, and then nothing around it is
vectorised; an unsigned one is not. The casts below make a product three times as fast.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

# everything of "fast" but the promise that there are no infinities: bounds are infinite
FAST = {"reassoc", "contract", "nsz", "arcp"}

SPARSE = 2  # a product goes by columns from one zero in two on


@njit(cache=True, nogil=True, fastmath=FAST)
def magnitudes(matrix, rows, columns, largest, of_row, of_column):
    # largest or summed |entries| of diag(rows) A diag(columns), taken into what is there already
    indptr, indices, data = matrix
    for i in range(len(indptr) - 1):
        for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            j = np.uint32(indices[p])
            v = abs(data[p]) * rows[i] * columns[j]
            if largest:
                of_row[i] = max(of_row[i], v)
                of_column[j] = max(of_column[j], v)
            else:
                of_row[i] += v
                of_column[j] += v


@njit(cache=True, nogil=True, fastmath=FAST)
def product(rows, columns, x, out):
    # out = A x; where most of x is 0, as weights and multipliers are, by the columns of the rest
    indptr, indices, data = rows
    nonzeros = 0
    for j in range(len(x)):
        nonzeros += x[j] != 0.0
    if SPARSE * nonzeros > len(x):
        for i in range(len(out)):
            total = 0.0
            for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
                total += data[p] * x[np.uint32(indices[p])]
            out[i] = total
        return
    indptr, indices, data = columns
    out[:] = 0.0
    for j in range(len(x)):
        if x[j] != 0.0:
            for p in range(np.uint64(indptr[j]), np.uint64(indptr[j + 1])):
                out[np.uint32(indices[p])] += data[p] * x[j]
