"""Compiled extragradient steps (see :mod:`structopt.backends.extragradient.solver`)."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

# everything of "fast" but the promise that there are no infinities: bounds are infinite
FAST = {"reassoc", "contract", "nsz", "arcp"}

SPARSE = 2  # a product goes by columns from one zero in two on
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


@njit(cache=True, nogil=True, fastmath=FAST)
def product(rows, columns, x, out):
    # out = A x; where most of x is 0, as weights and multipliers are, by the columns of the rest
    indptr, indices, data = rows
    nonzeros = 0
    for j in range(len(x)):
        nonzeros += x[j] != 0.0
    if SPARSE * nonzeros > len(x):
        for i in range(len(out)):
            total = 0.0
            for p in range(indptr[i], indptr[i + 1]):
                total += data[p] * x[indices[p]]
            out[i] = total
        return
    indptr, indices, data = columns
    out[:] = 0.0
    for j in range(len(x)):
        if x[j] != 0.0:
            for p in range(indptr[j], indptr[j + 1]):
                out[indices[p]] += data[p] * x[j]


@njit(cache=True, nogil=True, fastmath=FAST)
def slopes(A, At, P, q, x, y, scratch, out):
    # out = q + P x - A'y
    product(At, A, y, out)
    for j in range(len(out)):
        out[j] = q[j] - out[j]
    if len(P[1]) > 0:
        product(P, P, x, scratch)
        for j in range(len(out)):
            out[j] += scratch[j]


# Without branches, so that the loops around them become vector instructions.
@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def clip(v, low, high):
    v = v if v > low else low
    return v if v < high else high


@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def move_x(x, slope, tau, l1, shrink, lb, ub):
    v = x - tau * slope
    return clip((v - clip(v, -tau * l1, tau * l1)) * shrink, lb, ub)


@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def move_y(y, value, sigma, lower, upper):
    v = y - sigma * value
    low, high = v + sigma * lower, v + sigma * upper
    return (low if low > 0.0 else 0.0) + (high if high < 0.0 else 0.0)


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
    omega, inverse = state[WEIGHT], 1.0 / state[WEIGHT]
    shrink, scratch = np.ones(n), np.empty(n)
    curved = np.any(curvature > 0.0)
    last_x, last_y, last_value, last_slope = np.zeros(n), np.zeros(m), np.zeros(m), np.zeros(n)
    done = 0
    while done < count:
        done += 1
        eta = state[STEP]
        tau, sigma = eta * inverse, eta * omega
        if curved:
            shrink[:] = 1.0 / (1.0 + tau * curvature)
        # moved: predicted minus old point; turned: change of the slopes; the second ones subtract
        # those of the step before, in which a steady drift would hide what circles
        moved, turned, moved2, turned2 = 0.0, 0.0, 0.0, 0.0
        for j in range(n):
            xb[j] = move_x(x[j], slope[j], tau, l1[j], shrink[j], lb[j], ub[j])
            e = xb[j] - x[j]
            moved += omega * e**2
            moved2 += omega * (e - last_x[j]) ** 2
            last_x[j] = e
        product(A, At, xb, valueb)
        for i in range(m):
            yb[i] = move_y(y[i], value[i], sigma, lower[i], upper[i])
            e = yb[i] - y[i]
            moved += e**2 * inverse
            moved2 += (e - last_y[i]) ** 2 * inverse
            last_y[i] = e
            e = valueb[i] - value[i]
            turned += omega * e**2
            turned2 += omega * (e - last_value[i]) ** 2
            last_value[i] = e
        slopes(A, At, P, q, xb, yb, scratch, slopeb)
        for j in range(n):
            e = slopeb[j] - slope[j]
            turned += e**2 * inverse
            turned2 += (e - last_slope[j]) ** 2 * inverse
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
            x[j] = move_x(x[j], slopeb[j], tau, l1[j], shrink[j], lb[j], ub[j])
            sum_x[j] += eta * xb[j]
        for i in range(m):
            y[i] = move_y(y[i], valueb[i], sigma, lower[i], upper[i])
            sum_y[i] += eta * yb[i]
        product(A, At, x, value)
        slopes(A, At, P, q, x, y, scratch, slope)
        state[TOTAL] += eta
        state[STEP] = following
