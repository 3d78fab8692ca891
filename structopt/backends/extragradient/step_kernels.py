r"""Compiled steps: T(z) of the alternating and of Korpelevich's method, and the way to the next z.

The alternating step costs two products: predict y, step x at the predicted y, step y at the new x,

    yb = prox(y - sigma A x),   x+ = prox(x - tau (q + P x - A'yb)),   y+ = prox(y - sigma A x+).

Korpelevich's costs four: predict both, then correct both from the old point with the slopes at the
predicted one. ``prox`` is the projection on the bounds of a column (after soft thresholding where
it has an l1 term) and, for a multiplier, the step along the nearer side of its row.

The iterate z = (x, y) carries A x and P x along: they are linear in z, so that anchoring and
reflecting z needs no product of its own.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

# everything of "fast" but the promise that there are no infinities: bounds are infinite
FAST = {"reassoc", "contract", "nsz", "arcp"}

SPARSE = 2  # a product goes by columns from one zero in two on

PRODUCTS, INNER, ERROR, FIRST, STEPS, STOPPED = range(6)
"""Places in the state: products, steps since the restart, fixed-point error, its value at the
restart, steps in all, whether the paper's rule said stop."""


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


# Without branches, so that the loops around them become vector instructions.
@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def clip(v, low, high):
    v = v if v > low else low
    return v if v < high else high


@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def move_x(x, slope, tau, l1, lb, ub):
    v = x - tau * slope
    return clip(v - clip(v, -tau * l1, tau * l1), lb, ub)


@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def move_y(y, value, sigma, lower, upper):
    v = y - sigma * value
    low, high = v + sigma * lower, v + sigma * upper
    return (low if low > 0.0 else 0.0) + (high if high < 0.0 else 0.0)


@njit(cache=True, nogil=True, fastmath=FAST)
def alternating(count, matrices, costs, sides, box, steps, z, image, anchor, work, state, rules):
    """Do ``count`` steps z <- next(z, T(z)) in place."""
    A, At, P = matrices
    q, l1 = costs
    lower, upper = sides
    lb, ub = box
    tau, sigma = steps
    x, y, Ax, Px = z
    xt, yt, Axt, Pxt = image
    pulled, yb = work
    quadratic = len(P[2]) > 0
    for _ in range(count):
        for i in range(len(y)):
            yb[i] = move_y(y[i], Ax[i], sigma, lower[i], upper[i])
        product(At, A, yb, pulled)
        for j in range(len(x)):
            xt[j] = move_x(x[j], q[j] + Px[j] - pulled[j], tau[j], l1[j], lb[j], ub[j])
        product(A, At, xt, Axt)
        for i in range(len(y)):
            yt[i] = move_y(y[i], Axt[i], sigma, lower[i], upper[i])
        state[PRODUCTS] += 2.0
        if quadratic:
            product(P, P, xt, Pxt)
            state[PRODUCTS] += 1.0
        follow(steps, z, image, anchor, state, rules, 1.0)


@njit(cache=True, nogil=True, fastmath=FAST)
def korpelevich(count, matrices, costs, sides, box, steps, z, image, anchor, work, state, rules):
    """Do up to ``count`` steps in place; stop where line 10 of the paper's Algorithm 2 says so."""
    A, At, P = matrices
    q, l1 = costs
    lower, upper = sides
    lb, ub = box
    tau, sigma = steps
    x, y, Ax, Px = z
    xt, yt, Axt, Pxt = image
    pulled, yb = work
    quadratic = len(P[2]) > 0
    for _ in range(count):
        product(At, A, y, pulled)
        for j in range(len(x)):
            xt[j] = move_x(x[j], q[j] + Px[j] - pulled[j], tau[j], l1[j], lb[j], ub[j])
        for i in range(len(y)):
            yb[i] = move_y(y[i], Ax[i], sigma, lower[i], upper[i])
        product(A, At, xt, Axt)
        product(At, A, yb, pulled)
        if quadratic:
            product(P, P, xt, Pxt)
        for i in range(len(y)):
            yt[i] = move_y(y[i], Axt[i], sigma, lower[i], upper[i])
        for j in range(len(x)):
            xt[j] = move_x(x[j], q[j] + Pxt[j] - pulled[j], tau[j], l1[j], lb[j], ub[j])
        product(A, At, xt, Axt)
        state[PRODUCTS] += 4.0
        if quadratic:
            product(P, P, xt, Pxt)
            state[PRODUCTS] += 2.0
        if rules[2] > 0.0 and settled(x, y, image, costs, sides, rules[2], rules[3]):
            state[STOPPED] = 1.0
        follow(steps, z, image, anchor, state, rules, 0.0)
        if state[STOPPED] > 0.0:
            break


@njit(cache=True, nogil=True, fastmath=FAST)
def settled(x, y, image, costs, sides, eps1, eps2):
    # both halves move by less than eps1 of their length, and the objectives differ by under eps2
    xt, yt, _, Pxt = image
    q, l1 = costs
    lower, upper = sides
    moved_x, long_x, moved_y, long_y, gap = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(len(x)):
        moved_x += (xt[j] - x[j]) ** 2
        long_x += xt[j] ** 2
        gap += (q[j] + Pxt[j]) * xt[j] + l1[j] * abs(xt[j])
    for i in range(len(y)):
        moved_y += (yt[i] - y[i]) ** 2
        long_y += yt[i] ** 2
        if yt[i] != 0.0:
            gap -= yt[i] * (lower[i] if yt[i] > 0.0 else upper[i])
    still = moved_x <= eps1**2 * long_x and moved_y <= eps1**2 * long_y
    return still and gap < eps2


@njit(cache=True, nogil=True, fastmath=FAST)
def follow(steps, z, image, anchor, state, rules, coupled):
    # z <- a ((1 + rho) T(z) - rho z) + (1 - a) z0, a = (k + 1) / (k + 2): Halpern's iteration of
    # the reflected operator; a = 1 and rho = 0 is z <- T(z). Also |T(z) - z| in T's own norm.
    tau, sigma = steps
    x, y, Ax, Px = z
    xt, yt, Axt, Pxt = image
    x0, y0, Ax0, Px0 = anchor
    rho = rules[0]
    a = (state[INNER] + 1.0) / (state[INNER] + 2.0) if rules[1] > 0.0 else 1.0
    b = 1.0 - a
    r = 0.0
    for j in range(len(x)):
        d, e = xt[j] - x[j], Pxt[j] - Px[j]
        r += d * d / tau[j] - coupled * d * e
        x[j] = a * (xt[j] + rho * d) + b * x0[j]
        Px[j] = a * (Pxt[j] + rho * e) + b * Px0[j]
    inverse = 1.0 / sigma
    for i in range(len(y)):
        d, e = yt[i] - y[i], Axt[i] - Ax[i]
        r += d * d * inverse - coupled * sigma * e * e
        y[i] = a * (yt[i] + rho * d) + b * y0[i]
        Ax[i] = a * (Axt[i] + rho * e) + b * Ax0[i]
    state[ERROR] = np.sqrt(max(r, 0.0)) if r == r else np.inf
    if state[INNER] == 0.0:
        state[FIRST] = state[ERROR]
    state[INNER] += 1.0
    state[STEPS] += 1.0
