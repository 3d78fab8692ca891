"""Compiled loops of the Lagrangian bound (see :mod:`structopt.master.lagrangian`)."""

from __future__ import annotations

from numba import njit


@njit(cache=True)
def step_to_rest(cost, pull, floor, ceiling, rounding):
    """Return the largest t in [0, 1] at which ``floor <= cost - t pull <= ceiling``.

    At t = 0 it holds. Columns without a pull, most of them where words are features, are passed by.
    """
    t = 1.0
    for j in range(len(pull)):
        if pull[j] == 0.0:
            continue
        reduced = cost[j] - pull[j]
        if reduced < floor[j] - rounding:
            t = min(t, (cost[j] - floor[j]) / pull[j])
        elif reduced > ceiling[j] + rounding:
            t = min(t, (cost[j] - ceiling[j]) / pull[j])
    return t if t == 1.0 else max(0.0, t * (1.0 - 1e-15))
