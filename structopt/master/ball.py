r"""The l1 ball among a programme's static rows, however it was written.

CVXPY lowers ``norm1(w) <= radius`` and its relatives to one new column t_j a weight,

    -t_j <= k_j w_j <= t_j,      sum_j a_j t_j <= b,

which is the ball of radius b / r where a_j k_j = r for every j.

>>> import cvxpy as cp
>>> from dataclasses import replace
>>> from structopt.master.compile import compile_problem
>>> w = cp.Variable(3)
>>> compiled = compile_problem(cp.sum(w), [3 * cp.sum(cp.abs(2 * w)) - 1 <= 5], [w])
>>> l1_radius(replace(compiled, weights=slice(0, 3)))
1.0
"""

from __future__ import annotations

import numpy as np

from structopt.master.program import Program

_ROUNDING = 1e-12
"""What CVXPY's scaling of rows may leave, relative to the radius."""


def l1_radius(program: Program) -> float | None:
    """Return the radius if what static rows and bounds say of w is |w|_1 <= radius, w_J >= 0.

    None if they say anything else.
    """
    p, d = program, program.weights.stop - program.weights.start
    added = np.ones(p.size, dtype=bool)
    added[p.weights] = added[p.slacks] = False
    column, entries = np.flatnonzero(added), np.diff(p.A.indptr)
    sums = np.flatnonzero(np.diff(p.A[:, p.weights].indptr) == 0)
    if d == 1 and len(column) == 1 and not len(sums):  # the sum became a bound of its one column
        price, budget = np.ones(1), float(p.ub[column[0]])
    elif len(column) == d and len(sums) == 1 and np.all(np.isposinf(p.ub[column])):
        price, budget = p.A[sums].toarray()[0, column], float(p.upper[sums[0]])
    else:
        return None
    pairs = np.delete(np.arange(len(entries)), sums)
    A = p.A[pairs]
    one_each = np.array_equal(np.diff(A[:, p.weights].indptr), np.ones(2 * d))
    one_each = one_each and np.array_equal(np.diff(A[:, column].indptr), np.ones(2 * d))
    one_sided = not np.any(np.isfinite(p.lower)) and not np.any(p.upper[pairs])
    if not one_each or not one_sided or p.A[:, p.slacks].nnz or np.any(p.lb[column] > 0):
        return None
    w, t = A[:, p.weights], A[:, column]
    slope = -w.data / t.data
    order = np.lexsort((slope, w.indices))
    slope, t_of = slope[order].reshape(d, 2), t.indices[order].reshape(d, 2)
    rate = price[t_of[:, 0]] * slope[:, 1]
    both = np.array_equal(w.indices[order], np.repeat(np.arange(d), 2)) and np.all(t.data < 0)
    own = np.array_equal(t_of[:, 0], t_of[:, 1]) and len(np.unique(t_of)) == d
    even = np.array_equal(slope[:, 0], -slope[:, 1]) and np.allclose(rate, rate[0], _ROUNDING, 0.0)
    if not both or not own or not even or rate[0] <= 0 or budget <= 0:
        return None
    radius = budget / float(rate[0])
    within = radius * (1.0 - _ROUNDING)
    lb, ub = p.lb[p.weights], p.ub[p.weights]
    implied = np.all((lb == 0) | (lb <= -within)) and np.all(ub >= within)
    return radius if implied else None
