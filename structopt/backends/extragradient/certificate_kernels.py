"""Compiled residuals of a scaled pair (see :mod:`structopt.backends.extragradient.certificate`)."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

from structopt.backends.extragradient.product_kernels import FAST, product

PRIMAL, DUAL, VALUE, BOUND, FAR_DUAL, FAR_BOUND = range(6)
"""Places in the result: norms of the residuals, objectives; the last two by the second reading."""


@njit(cache=True, nogil=True, fastmath=FAST)
def residuals(A, At, costs, sides, box, rows, columns, factors, pair, pulled, out):
    """Write the numbers of ``pair`` in the units of the unscaled problem to ``out``."""
    q, l1 = costs
    lower, upper = sides
    lb, ub = box
    p, d = factors
    x, y, Ax, Px = pair
    product(At, A, y, pulled)
    primal, dual, far_dual, quadratic, linear, bound = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    far_less = 0.0
    for i in range(len(y)):
        v = max(0.0, max(lower[i] - Ax[i], Ax[i] - upper[i])) / (rows[i] * p)
        primal += v * v
        if y[i] != 0.0:
            bound += y[i] * (lower[i] if y[i] > 0.0 else upper[i])
    for j in range(len(x)):
        r = q[j] + Px[j] - pulled[j]
        quadratic += x[j] * Px[j]
        linear += q[j] * x[j] + l1[j] * abs(x[j])
        over = r - l1[j] if r > l1[j] else (r + l1[j] if r < -l1[j] else 0.0)
        if over == 0.0:
            continue
        at = lb[j] if over > 0.0 else ub[j]
        v = over / (columns[j] * d)
        if np.isinf(at):
            dual += v * v
            far_dual += v * v
        else:
            bound += over * at
            if abs(x[j] - at) > abs(x[j]):
                far_dual += v * v
                far_less += over * at
    out[PRIMAL], out[DUAL], out[FAR_DUAL] = np.sqrt(primal), np.sqrt(dual), np.sqrt(far_dual)
    out[VALUE] = (0.5 * quadratic + linear) / (p * d)
    out[BOUND] = (bound - 0.5 * quadratic) / (p * d)
    out[FAR_BOUND] = (bound - far_less - 0.5 * quadratic) / (p * d)
