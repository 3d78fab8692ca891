"""Compiled lists of the k best derivations, for decoders that fill tables (Huang and Chiang 2005).

Each row of ``value`` holds the best values of one item, falling, -inf where there are fewer; the
same row of ``back`` says how each came about: four numbers, the last two the ranks of its parts.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def insert(value, back, row, found, how, where, p, q):
    # keep a derivation among the best of a row; of equals the one that came first stays ahead
    best = value[row]
    r = len(best) - 1
    while r > 0 and best[r - 1] < found:
        best[r] = best[r - 1]
        back[row, r] = back[row, r - 1]
        r -= 1
    best[r] = found
    back[row, r, 0], back[row, r, 1] = how, where
    back[row, r, 2], back[row, r, 3] = p, q


@njit(cache=True, nogil=True)
def join(value, back, row, a, b, score, how, where):
    # derivations of a row from one of row a and one of row b each: of the k best, the ranks p and q
    # of the parts have (p + 1) (q + 1) <= k
    k = value.shape[1]
    if not value[a, 0] + score + value[b, 0] > value[row, k - 1]:
        return
    for p in range(k):
        for q in range(k // (p + 1)):
            found = value[a, p] + score + value[b, q]
            if not found > value[row, k - 1]:
                break
            insert(value, back, row, found, how, where, p, q)


@njit(cache=True, nogil=True)
def extend(value, back, row, a, score, how, where):
    # derivations of a row from one of row a each
    for p in range(value.shape[1]):
        found = value[a, p] + score
        if not found > value[row, value.shape[1] - 1]:
            break
        insert(value, back, row, found, how, where, p, 0)


@njit(cache=True, nogil=True)
def count_finite(best):
    # how many derivations a row has
    count = 0
    while count < len(best) and best[count] > -np.inf:
        count += 1
    return count
