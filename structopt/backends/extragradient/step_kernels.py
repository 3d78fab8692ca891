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

from structopt.backends.extragradient.product_kernels import FAST, product

PRODUCTS, INNER, ERROR, FIRST, STEPS, STOPPED = range(6)
"""Places in the state: products, steps since the restart, fixed-point error, its value at the
restart, steps in all, whether the paper's rule said stop."""


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
    for step in range(count):
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
        if state[INNER] == 0.0 or step == count - 1:
            measure(steps, z, image, state, 1.0)
        follow(quadratic, z, image, anchor, state, rules)


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
    for step in range(count):
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
        if state[INNER] == 0.0 or step == count - 1:
            measure(steps, z, image, state, 0.0)
        follow(quadratic, z, image, anchor, state, rules)
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
def measure(steps, z, image, state, coupled):
    # |T(z) - z| in T's own norm
    tau, sigma = steps
    x, y, Ax, Px = z
    xt, yt, Axt, Pxt = image
    r = 0.0
    for j in range(len(x)):
        d = xt[j] - x[j]
        r += d * (d / tau[j] - coupled * (Pxt[j] - Px[j]))
    inverse = 1.0 / sigma
    for i in range(len(y)):
        d, e = yt[i] - y[i], Axt[i] - Ax[i]
        r += d * d * inverse - coupled * sigma * e * e
    state[ERROR] = np.sqrt(max(r, 0.0)) if r == r else np.inf
    if state[INNER] == 0.0:
        state[FIRST] = state[ERROR]


@njit(cache=True, nogil=True, fastmath=FAST)
def follow(quadratic, z, image, anchor, state, rules):
    # z <- a ((1 + rho) T(z) - rho z) + (1 - a) z0, a = (k + 1) / (k + 2): Halpern's iteration of
    # the reflected operator; a = 1 and rho = 0 is z <- T(z)
    a = (state[INNER] + 1.0) / (state[INNER] + 2.0) if rules[1] > 0.0 else 1.0
    state[INNER] += 1.0
    state[STEPS] += 1.0
    combine(z[0], image[0], anchor[0], a, rules[0])
    combine(z[1], image[1], anchor[1], a, rules[0])
    combine(z[2], image[2], anchor[2], a, rules[0])
    if quadratic:
        combine(z[3], image[3], anchor[3], a, rules[0])


@njit(cache=True, nogil=True, fastmath=FAST, inline="always")
def combine(v, image, anchor, a, rho):
    for i in range(len(v)):
        v[i] = a * (image[i] + rho * (image[i] - v[i])) + (1.0 - a) * anchor[i]
