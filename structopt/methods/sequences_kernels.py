"""Compiled decoding of label sequences, and the counts of their steps.

Steps S[before, after] have the start (row) and the end (column) last, minus infinity where a step
is forbidden.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

from structopt.methods.labels_kernels import FAST


@njit(cache=True, nogil=True)
def longest(offsets):
    most = 0
    for i in range(len(offsets) - 1):
        most = max(most, offsets[i + 1] - offsets[i])
    return most


@njit(cache=True, nogil=True, fastmath=FAST)
def decode(n, unary, S, best, labels):
    # the best labels of n rows and their score; no back pointers: the best step is looked up again
    K = unary.shape[1]
    for k in range(K):
        best[0, k] = S[K, k] + unary[0, k]
    for t in range(1, n):
        now, before = best[t], best[t - 1]
        for k in range(K):
            now[k] = -np.inf
        for j in range(K):
            b, row = before[j], S[j]
            for k in range(K):
                v = b + row[k]
                now[k] = v if v > now[k] else now[k]
        for k in range(K):
            now[k] += unary[t, k]
    k, value = 0, -np.inf
    for j in range(K):
        v = best[n - 1, j] + S[j, K]
        if v > value:
            k, value = j, v
    labels[n - 1] = k
    for t in range(n - 1, 0, -1):
        top, where = -np.inf, 0
        for j in range(K):
            v = best[t - 1, j] + S[j, k]
            if v > top:
                top, where = v, j
        k = where
        labels[t - 1] = k
    return value


@njit(cache=True, nogil=True, fastmath=FAST)
def score_of(n, labels, unary, S):
    K = unary.shape[1]
    total, before = 0.0, K
    for t in range(n):
        total += unary[t, labels[t]] + S[before, labels[t]]
        before = labels[t]
    return total + S[before, K]


@njit(cache=True, nogil=True, fastmath=FAST)
def add_steps(first, n, gold, labels, a, bounded, S):
    # S += a (steps of gold - steps of labels)
    K = S.shape[0] - 1
    before, right = K, K
    for t in range(n):
        p, g = labels[first + t], gold[t]
        if (p != g or before != right) and (t > 0 or bounded):
            S[right, g] += a
            S[before, p] -= a
        before, right = p, g
    if bounded and before != right:
        S[right, K] += a
        S[before, K] -= a


@njit(cache=True, nogil=True, fastmath=FAST)
def dot_steps(first, n, gold, labels, bounded, S):
    K = S.shape[0] - 1
    before, right, total = K, K, 0.0
    for t in range(n):
        p, g = labels[first + t], gold[t]
        if (p != g or before != right) and (t > 0 or bounded):
            total += S[right, g] - S[before, p]
        before, right = p, g
    if bounded and before != right:
        total += S[right, K] - S[before, K]
    return total
