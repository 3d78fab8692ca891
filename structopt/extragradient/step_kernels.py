"""Compiled extragradient steps (see :mod:`structopt.extragradient.solver`)."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

# everything of "fast" but the promise that there are no infinities: bounds are infinite
FAST = {"reassoc", "contract", "nsz", "arcp"}

NEGLIGIBLE = 1e-20  # squared: two steps that agree to ten digits tell nothing but rounding

STEP, WEIGHT, TOTAL, COUNT = range(4)
"""Places in the state: step, primal weight, sum of the steps averaged over, steps in all."""


@njit(cache=True, nogil=True, fastmath=FAST)
def magnitudes(matrix, rows, columns, largest, of_row, of_column):
    # largest or summed |entries| of diag(rows) A diag(columns), taken into what is there already
    indptr, indices, data = matrix
    for i in range(len(indptr) - 1):
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            v = abs(data[p]) * rows[i] * columns[j]
            if largest:
                of_row[i] = max(of_row[i], v)
                of_column[j] = max(of_column[j], v)
            else:
                of_row[i] += v
                of_column[j] += v


@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def dot(matrix, i, x):
    indptr, indices, data = matrix
    total = 0.0
    for p in range(indptr[i], indptr[i + 1]):
        total += data[p] * x[indices[p]]
    return total


@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def move_x(x, slope, tau, l1, curvature, lb, ub):
    v = x - tau * slope
    shrink = tau * l1
    if v > shrink:
        v -= shrink
    elif v < -shrink:
        v += shrink
    else:
        v = 0.0
    return min(max(v / (1.0 + tau * curvature), lb), ub)


@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def move_y(y, value, sigma, lower, upper):
    v = y - sigma * value
    if v + sigma * lower > 0.0:
        return v + sigma * lower
    if v + sigma * upper < 0.0:
        return v + sigma * upper
    return 0.0


@njit(cache=True, nogil=True, fastmath=FAST)
def steps(count, A, At, P, costs, sides, box, point, predicted, sums, state, safety):
    """Do ``count`` steps in place; a safety of 0 keeps the step fixed."""
    q, l1, curvature = costs
    lower, upper = sides
    lb, ub = box
    x, y, value, slope = point  # value = A x, slope = q + P x - A'y
    xb, yb, valueb, slopeb = predicted
    sum_x, sum_y = sums
    n, m = len(x), len(y)
    omega, quadratic = state[WEIGHT], len(P[1]) > 0
    last_x, last_y, last_value, last_slope = np.zeros(n), np.zeros(m), np.zeros(m), np.zeros(n)
    done = 0
    while done < count:
        done += 1
        eta = state[STEP]
        tau, sigma = eta / omega, eta * omega
        # moved: predicted minus old point; turned: change of the slopes; the second ones subtract
        # those of the step before, in which a steady drift would hide what circles
        moved, turned, moved2, turned2 = 0.0, 0.0, 0.0, 0.0
        for j in range(n):
            xb[j] = move_x(x[j], slope[j], tau, l1[j], curvature[j], lb[j], ub[j])
            e = xb[j] - x[j]
            moved += omega * e**2
            moved2 += omega * (e - last_x[j]) ** 2
            last_x[j] = e
        for i in range(m):
            yb[i] = move_y(y[i], value[i], sigma, lower[i], upper[i])
            valueb[i] = dot(A, i, xb)
            e = yb[i] - y[i]
            moved += e**2 / omega
            moved2 += (e - last_y[i]) ** 2 / omega
            last_y[i] = e
            e = valueb[i] - value[i]
            turned += omega * e**2
            turned2 += omega * (e - last_value[i]) ** 2
            last_value[i] = e
        for j in range(n):
            s = q[j] - dot(At, j, yb)
            if quadratic:
                s += dot(P, j, xb)
            slopeb[j] = s
            e = s - slope[j]
            turned += e**2 / omega
            turned2 += (e - last_slope[j]) ** 2 / omega
            last_slope[j] = e
        state[COUNT] += 1.0
        following = eta
        if safety > 0.0 and moved > 0.0:
            ratio = np.sqrt(turned / moved)  # a local Lipschitz constant
            if done > 1 and moved2 > NEGLIGIBLE * moved:
                ratio = max(ratio, np.sqrt(turned2 / moved2))
            k = state[COUNT] + 1.0
            following = (1.0 + k**-0.6) * eta
            if ratio > 0.0:
                following = min(following, (1.0 - k**-0.3) * safety / ratio)
            if eta * ratio > safety:
                state[STEP] = following
                continue
        for j in range(n):
            x[j] = move_x(x[j], slopeb[j], tau, l1[j], curvature[j], lb[j], ub[j])
            sum_x[j] += eta * xb[j]
        for i in range(m):
            y[i] = move_y(y[i], valueb[i], sigma, lower[i], upper[i])
            value[i] = dot(A, i, x)
            sum_y[i] += eta * yb[i]
        for j in range(n):
            s = q[j] - dot(At, j, y)
            if quadratic:
                s += dot(P, j, x)
            slope[j] = s
        state[TOTAL] += eta
        state[STEP] = following
