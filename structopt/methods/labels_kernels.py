"""Compiled loops over weights [column, label] (see :mod:`structopt.methods.labels`)."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

FAST = {"contract", "nsz"}


@njit(cache=True, nogil=True, fastmath=FAST)
def scores(indptr, indices, data, place, W):
    # x_t . W[:, k] of every row and label, W over the columns that the given ones became
    K = W.shape[1]
    out = np.zeros((len(indptr) - 1, K))
    for t in range(len(out)):
        row = out[t]
        for q in range(indptr[t], indptr[t + 1]):
            v, w = data[q], W[place[indices[q]]]
            for k in range(K):
                row[k] += v * w[k]
    return out


@njit(cache=True, nogil=True)
def spread(W, kept, n_columns):
    # weights [column, label] of some columns, label by label over all of them
    width, K = W.shape
    out = np.zeros((K, n_columns))
    for first in range(0, width, 16):  # in blocks: both sides stay in the cache
        for k in range(K):
            for j in range(first, min(first + 16, width)):
                out[k, kept[j]] = W[j, k]
    return out
