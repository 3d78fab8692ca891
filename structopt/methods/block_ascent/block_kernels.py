"""Compiled steps over the planes of one block, whatever these are planes of.

Of the block's ``n`` planes, ``alpha`` are the multipliers, ``slope`` the slopes of the dual along
them, ``gram`` their products with each other. ``limit`` is what the multipliers add up to at most;
the rest is gold's, whose slope is 0 and which has no products.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

from structopt.methods.labels_kernels import FAST

REST = 1e-14
"""Share of the limit up to which a gap is rounding."""


@njit(cache=True, nogil=True, fastmath=FAST)
def settle(n, slope, gram, alpha, limit, steps, change):
    # pairwise steps on max slope.d - 1/2 d'Gd with alpha + d >= 0 and sum <= limit; `change`
    # becomes d. Returns what was gained.
    total, gained = 0.0, 0.0
    for k in range(n):
        change[k] = alpha[k]
        total += alpha[k]
    for _ in range(steps):
        up, down, high, low = -1, -1, 0.0, np.inf  # -1: gold
        for k in range(n):
            if slope[k] > high:
                up, high = k, slope[k]
            if alpha[k] > 0.0 and slope[k] < low:
                down, low = k, slope[k]
        if total < limit and low > 0.0:
            down, low = -1, 0.0
        if high - low <= 1e-13:
            break
        square, room = 0.0, limit - total
        if up >= 0:
            square += gram[up, up]
        if down >= 0:
            square += gram[down, down]
            room = alpha[down]
            if up >= 0:
                square -= 2.0 * gram[up, down]
        step = min((high - low) / max(square, 1e-300), room)
        gained += step * (high - low) - 0.5 * step * step * square
        if up >= 0:
            alpha[up] += step
            total += step
            for k in range(n):
                slope[k] -= step * gram[up, k]
        if down >= 0:
            alpha[down] = 0.0 if step == alpha[down] else alpha[down] - step
            total -= step
            for k in range(n):
                slope[k] += step * gram[down, k]
    for k in range(n):
        change[k] = alpha[k] - change[k]
    return gained


@njit(cache=True, nogil=True, fastmath=FAST)
def gap_of(n, slope, alpha, limit):
    # the duality gap of a block over its planes
    spent, top = 0.0, 0.0
    for m in range(n):
        spent += alpha[m] * slope[m]
        top = max(top, slope[m])
    return limit * top - spent


@njit(cache=True, nogil=True)
def shuffle(order):
    for o in range(len(order) - 1, 0, -1):
        r = np.random.randint(0, o + 1)
        order[o], order[r] = order[r], order[o]


@njit(cache=True, nogil=True, fastmath=FAST)
def follow(weight, active, count, alpha, mean):
    # the mean of the multipliers takes up the present ones
    for i in active:
        for m in range(count[i]):
            mean[i, m] += weight * (alpha[i, m] - mean[i, m])
