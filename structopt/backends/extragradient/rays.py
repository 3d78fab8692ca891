r"""Proofs that a programme has no solution, read off the directions in which iterates run away.

Infeasible: multipliers y (of the right signs) for which

    lower.y+ - upper.y- + sum_j min over lb <= x <= ub of -(A'y)_j x_j  >  0.

A feasible x would have to make up for that with the columns whose minimum is -infinity: with r the
largest |A'y| among those and v the value on the left, |x|_1 >= v / r.

Unbounded: a direction d with ``q.d + l1.|d| < 0`` along which no row or bound is ever left and P d
is 0; with r the largest violation of that, multipliers that bound the objective would need a sum of
|q.d + l1.|d|| / r. Both ratios must exceed :data:`BEYOND`.

>>> import numpy as np, scipy.sparse as sp
>>> p = Program(P=sp.csr_array((1, 1)), q=np.array([-1.0]), l1=np.zeros(1),
...             A=sp.csr_array([[1.0], [-1.0]]), lower=np.array([1.0, 2.0]),
...             upper=np.full(2, np.inf), lb=np.full(1, -np.inf), ub=np.full(1, np.inf))
>>> proves_infeasible(p, np.array([1.0, 1.0])), proves_unbounded(p, np.array([1.0]))
(True, False)
"""

from __future__ import annotations

import numpy as np

from structopt.arrays import Floats
from structopt.master.program import Program

BEYOND = 1e7
"""Size that a solution would need for a ray to be wrong about there being none."""
ROUNDING = 1e-9
"""A value must exceed this share of the terms it is summed from."""


def proves_infeasible(problem: Program, y: Floats) -> bool:
    """Whether multipliers ``y`` prove that no x satisfies all rows and bounds."""
    p = problem
    y = np.where(np.isneginf(p.lower), np.minimum(y, 0.0), y)
    y = np.where(np.isposinf(p.upper), np.maximum(y, 0.0), y)
    if not np.any(y) or not np.all(np.isfinite(y)):
        return False
    y = y / np.max(np.abs(y))
    slope = -(p.A.T @ y)
    at = np.where(slope > 0, p.lb, p.ub)
    held = np.isfinite(at)
    terms = (slope * np.where(held, at, 0.0))[held]
    value = p.sides(y) + float(terms.sum())
    active = y != 0
    size = float(np.abs(np.where(y > 0, p.lower, p.upper)[active] * y[active]).sum())
    if value <= ROUNDING * (size + float(np.abs(terms).sum())):
        return False
    return bool(np.max(np.abs(slope[~held]), initial=0.0) * BEYOND <= value)


def proves_unbounded(problem: Program, d: Floats) -> bool:
    """Whether the objective falls for ever along ``d`` from any feasible point."""
    p = problem
    d = np.where(np.isfinite(p.lb), np.maximum(d, 0.0), d)
    d = np.where(np.isfinite(p.ub), np.minimum(d, 0.0), d)
    if not np.any(d) or not np.all(np.isfinite(d)):
        return False
    d = d / np.max(np.abs(d))
    slope = float(p.q @ d + p.l1 @ np.abs(d))
    if slope >= -ROUNDING * float(np.abs(p.q * d).sum()):
        return False
    Ad = p.A @ d
    left = np.maximum(np.where(np.isfinite(p.lower), -Ad, 0.0), 0.0)
    left = np.maximum(left, np.where(np.isfinite(p.upper), Ad, 0.0))
    residual = max(np.max(left, initial=0.0), np.max(np.abs(p.P @ d), initial=0.0))
    return bool(residual * BEYOND <= -slope)
