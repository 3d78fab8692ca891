"""Compiled loops over weights [column, label] (see :mod:`structopt.methods.labels`)."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

FAST = {"contract", "nsz"}
"""What rounding may change: a product and a sum in one, and the sign of 0."""


@njit(cache=True, nogil=True, fastmath=FAST)
def score_row(t, indptr, indices, data, W, row):
    first, stop = indptr[t], indptr[t + 1]
    for k in range(len(row)):  # loops, not slices: those take seconds to compile
        row[k] = 0.0
    whole = stop - (stop - first) % 4
    for q in range(first, whole, 4):  # four nonzeros at once: a quarter of the reads of row
        a, b, c, d = data[q], data[q + 1], data[q + 2], data[q + 3]
        wa, wb = W[indices[q]], W[indices[q + 1]]
        wc, wd = W[indices[q + 2]], W[indices[q + 3]]
        for k in range(len(row)):
            row[k] += (a * wa[k] + b * wb[k]) + (c * wc[k] + d * wd[k])
    for q in range(whole, stop):
        v, w = data[q], W[indices[q]]
        for k in range(len(row)):
            row[k] += v * w[k]


@njit(cache=True, nogil=True, fastmath=FAST)
def scores(indptr, indices, data, place, W):
    # x_t . W[:, k] of every row and label, W over the columns that the given ones became
    K = W.shape[1]
    out = np.zeros((len(indptr) - 1, K))
    for t in range(len(out)):
        row, first, stop = out[t], indptr[t], indptr[t + 1]
        whole = stop - (stop - first) % 4
        for q in range(first, whole, 4):
            a, b, c, d = data[q], data[q + 1], data[q + 2], data[q + 3]
            wa, wb = W[place[indices[q]]], W[place[indices[q + 1]]]
            wc, wd = W[place[indices[q + 2]]], W[place[indices[q + 3]]]
            for k in range(K):
                row[k] += (a * wa[k] + b * wb[k]) + (c * wc[k] + d * wd[k])
        for q in range(whole, stop):
            v, w = data[q], W[place[indices[q]]]
            for k in range(K):
                row[k] += v * w[k]
    return out


@njit(cache=True, nogil=True)
def spread(W, kept, out):
    # weights [column, label] of some columns, label by label over all of them
    width, K = W.shape
    for first in range(0, width, 16):  # in blocks: both sides stay in the cache
        for k in range(K):
            for j in range(first, min(first + 16, width)):
                out[k, kept[j]] = W[j, k]
