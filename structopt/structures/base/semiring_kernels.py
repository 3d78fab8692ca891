"""What dynamic programmes add and multiply by: (max, +) for the best, (log sum exp, +) for all.

numba keys the caches of the kernels that call these by their own files alone: touch those when a
function here changes.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def max_plus(source, transition, target):
    # target[k] = max_j source[j] + transition[j, k]; four rows at a time keep the running maxima
    # in registers, which halves the time of one row at a time (measured at K = 26)
    whole = len(source) - len(source) % 4
    for k in range(len(target)):
        target[k] = -np.inf
    for j in range(0, whole, 4):
        s0, s1, s2, s3 = source[j], source[j + 1], source[j + 2], source[j + 3]
        t0, t1, t2, t3 = transition[j], transition[j + 1], transition[j + 2], transition[j + 3]
        for k in range(len(target)):
            a = s0 + t0[k]
            b = s1 + t1[k]
            c = s2 + t2[k]
            d = s3 + t3[k]
            a = a if a > b else b
            c = c if c > d else d
            a = a if a > c else c
            target[k] = a if a > target[k] else target[k]
    for j in range(whole, len(source)):
        s0, t0 = source[j], transition[j]
        for k in range(len(target)):
            a = s0 + t0[k]
            target[k] = a if a > target[k] else target[k]


@njit(cache=True, nogil=True)
def log_sum(values):
    top = -np.inf
    for v in values:
        top = v if v > top else top
    if top == -np.inf:
        return top
    total = 0.0
    for v in values:
        total += np.exp(v - top)
    return top + np.log(total)


@njit(cache=True, nogil=True)
def log_add(a, b):
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + np.log1p(np.exp(b - a))
