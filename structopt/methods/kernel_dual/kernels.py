"""Compiled loop of :mod:`structopt.methods.kernel_dual.method`."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def balance(value, metric, shares, step, pairs):
    """Move shares between planes, from the worst to the best, in place; return what moved."""
    count = len(shares)
    moved = np.zeros(count)
    for _ in range(pairs):
        best, worst = 0, -1
        for r in range(count):
            if value[r] > value[best]:
                best = r
            if shares[r] > 0 and (worst < 0 or value[r] < value[worst]):
                worst = r
        rise = value[best] - value[worst]
        if rise <= 1e-14 * max(1.0, abs(value[best])):
            break
        bend = step * (metric[best, best] - 2.0 * metric[best, worst] + metric[worst, worst])
        amount = shares[worst]
        if bend > 0 and rise < bend * amount:
            amount = rise / bend
        shares[best] += amount
        shares[worst] -= amount
        moved[best] += amount
        moved[worst] -= amount
        for r in range(count):
            value[r] -= step * amount * (metric[r, best] - metric[r, worst])
    return moved
