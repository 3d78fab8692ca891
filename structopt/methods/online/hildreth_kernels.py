"""Hildreth's algorithm, compiled: a small quadratic programme over a box, coordinate by coordinate.

    max over 0 <= tau <= cap of  b . tau - 1/2 tau . G tau,    G_rs = delta_r . delta_s

Each step is the exact maximiser over one coordinate, clipped to the box. A direction that is zero,
or that an earlier one repeats, keeps its multiplier 0.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def repeats(G, r):
    # whether an earlier direction is the same: |delta_r - delta_s|^2 is 0 up to rounding
    apart = np.inf
    for s in range(r):
        apart = min(apart, G[r, r] + G[s, s] - 2.0 * G[r, s])
    return apart <= 1e-12 * G[r, r]


@njit(cache=True, nogil=True)
def hildreth(G, b, cap, tolerance, max_sweeps):
    # stops when a sweep changes no slope by more than tolerance * max |b|
    tau = np.zeros(len(b))
    slope = b.copy()  # b - G tau
    enough = tolerance * np.max(np.abs(b))
    used = np.array([G[r, r] > 0.0 and not repeats(G, r) for r in range(len(b))])
    for _ in range(max_sweeps):
        worst = 0.0
        for r in range(len(b)):
            if not used[r]:
                continue
            moved = min(cap, max(0.0, tau[r] + slope[r] / G[r, r])) - tau[r]
            if moved != 0.0:
                tau[r] += moved
                for s in range(len(b)):
                    slope[s] -= moved * G[r, s]
                worst = max(worst, abs(moved) * G[r, r])
        if worst <= enough:
            break
    return tau
