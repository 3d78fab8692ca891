"""Compiled loops over columns (see :mod:`structopt.methods.block_ascent.columns`)."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

MISSING, SINGLE = -2, -1
"""Places of columns that nobody has, and that one row has."""


@njit(cache=True, nogil=True)
def mixed(x):
    # the finaliser of splitmix64: every bit of x moves every bit of the answer
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(cache=True, nogil=True)
def placed(indptr, indices, bits, n_columns, apart):
    # new number of each column, how many columns each stands for, and which one comes first
    name = np.zeros(n_columns, np.uint64)
    row_of = np.full(n_columns, MISSING, np.int32)
    for i in range(len(indptr) - 1):
        salt = np.uint64(i + 1) * np.uint64(0x9E3779B97F4A7C15)
        for q in range(indptr[i], indptr[i + 1]):
            j = indices[q]
            name[j] += mixed(salt ^ mixed(bits[q]))
            if row_of[j] == MISSING:
                row_of[j] = i
            elif row_of[j] != i:
                row_of[j] = SINGLE  # stands for several here
    size = 64
    while size < 2 * n_columns:
        size *= 2
    slot = np.full(size, -1, np.int32)
    place = np.full(n_columns, MISSING, np.int32)
    lead = np.zeros(n_columns, np.bool_)
    used = 0
    for j in range(n_columns):
        if row_of[j] == MISSING:
            continue
        if apart and row_of[j] != SINGLE:
            place[j] = SINGLE
            continue
        p = np.int64(name[j] & np.uint64(size - 1))
        while slot[p] >= 0 and name[slot[p]] != name[j]:
            p = (p + 1) & (size - 1)
        if slot[p] >= 0:
            place[j] = place[slot[p]]
        else:
            slot[p], place[j], lead[j] = j, used, True
            used += 1
    count = np.zeros(used, np.int32)
    for j in range(n_columns):
        if place[j] >= 0:
            count[place[j]] += 1
    return place, lead, count


@njit(cache=True, nogil=True)
def kept(indptr, indices, lead):
    # entries of columns that are left
    total = 0
    for q in range(indptr[0], indptr[-1]):
        total += lead[indices[q]]
    return total


@njit(cache=True, nogil=True)
def squares(indptr, data):
    # |x_t|^2 of each row
    found = np.zeros(len(indptr) - 1)
    for i in range(len(found)):
        for q in range(indptr[i], indptr[i + 1]):
            found[i] += data[q] * data[q]
    return found


@njit(cache=True, nogil=True)
def fewer(indptr, indices, data, place, lead, scale, total):
    # the rows over the columns that are left, and the squares of what only one row has
    n = len(indptr) - 1
    ends = np.zeros(n + 1, np.int32)
    where, values = np.empty(total, np.int32), np.empty(total)
    own = np.zeros(n)
    t = 0
    for i in range(n):
        for q in range(indptr[i], indptr[i + 1]):
            j = indices[q]
            if lead[j]:
                where[t], values[t] = place[j], data[q] * scale[place[j]]
                t += 1
            elif place[j] == SINGLE:
                own[i] += data[q] * data[q]
        ends[i + 1] = t
    return ends, where, values, own
