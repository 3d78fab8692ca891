r"""How good a pair (x, y) is, in the problem's own units: one number, the certified gap.

Upper bound: x in its bounds, slacks set to what their rows ask for. Lower bound, for any y of the
right signs:

    D(y) = lower.y+ - upper.y- + sum_j min over lb <= z <= ub of 1/2 p z^2 + (q - A'y) z + l1 |z|

after a repair: the multipliers of a slack's rows are scaled to its cost, and all of them by the
largest t <= 1 at which every column has a minimum (where y = 0 is such a point). What no repair
reaches (rows without slacks, free columns with a cost, a P that couples columns) is a residual,
each relative to 1 + |its right-hand side|, and the error is the largest of gap and residuals.

>>> import numpy as np, scipy.sparse as sp
>>> p = Program(P=sp.csr_array((2, 2)), q=np.array([1.0, 3.0]), l1=np.zeros(2),
...             A=sp.csr_array([[2.0, 1.0]]), lower=np.array([4.0]), upper=np.array([np.inf]),
...             lb=np.zeros(2), ub=np.full(2, np.inf), slacks=np.array([1]))
>>> found = Judge(p).assess(np.array([1.5, 0.0]), np.array([1.0]))
>>> found.primal, round(found.dual, 9), found.x  # 1.5 + 3 * 1, and y scaled to 0.5
(4.5, 2.0, array([1.5, 1. ]))
"""

from __future__ import annotations

import numpy as np

from structopt.arrays import Floats
from structopt.backends.extragradient.certificate import Assessment
from structopt.backends.extragradient.problem import sizes
from structopt.master.lagrangian_kernels import step_to_rest
from structopt.master.program import ROUNDING, Program, one_sided
from structopt.master.rest import resting_points, resting_range
from structopt.master.slacks import Slacks


class Judge:
    """Assesses pairs of one problem.

    Parameters
    ----------
    problem : Program
    floor : float
        Objective below which the gap counts as absolute.

    Notes
    -----
    Where P is diagonal a gap of g suffices, which leaves x within about sqrt(g) of the solution.
    """

    def __init__(self, problem: Program, floor: float = 1.0) -> None:
        self.problem, self.floor = problem, floor
        p = problem
        curvature = p.diagonal
        self._linearised = curvature is None
        self._curvature = np.zeros(len(p.q)) if curvature is None else curvature
        self._floor, self._ceiling = resting_range(p, self._curvature == 0)
        self._row_scale = 1.0 + sizes(p.lower, p.upper)
        self._rests = not self._linearised and np.max(self._beyond(p.q), initial=0.0) <= 0.0
        self._find_slacks()

    def assess(self, x: Floats, y: Floats) -> Assessment:
        """Repair (x, y) and say what it is worth."""
        p = self.problem
        x, y = self._raise_slacks(np.clip(x, p.lb, p.ub)), self._slacks.rest(self.signed(y), p.q)
        Ax, Px, pull = p.A @ x, p.P @ x, p.A.T @ y
        linear = p.q + Px if self._linearised else p.q
        reduced = linear - pull
        dual_residual = 0.0
        if (beyond := self._beyond(reduced)).max(initial=0.0) > ROUNDING:
            if self._rests:
                t = step_to_rest(p.q, pull, self._floor, self._ceiling, 0.0)
                y, reduced = t * y, p.q - t * pull
            else:
                dual_residual = float(np.max(beyond / (1.0 + np.abs(p.q))))
        dual = p.sides(y) + self._least(reduced)
        quadratic = 0.5 * float(x @ Px)
        if self._linearised:
            dual -= quadratic
        primal = quadratic + float(p.q @ x + p.l1 @ np.abs(x))
        violation = np.maximum(p.lower - Ax, Ax - p.upper) / self._row_scale
        primal_residual = float(np.max(violation, initial=0.0))
        gap = abs(primal - dual) / max(abs(primal), self.floor)
        error = max(gap, primal_residual, dual_residual)
        return Assessment(x, y, primal, dual, primal_residual, dual_residual, error)

    # ------------------------------------------------------------------ the repairs
    def _find_slacks(self) -> None:
        """Keep the slacks that only ever help their rows, one a row."""
        p = self.problem
        flat = np.zeros(len(p.q), dtype=bool)
        flat[p.slacks] = True
        flat &= np.isposinf(p.ub) & (p.l1 == 0) & (p.q >= 0) & np.isfinite(p.lb)
        flat &= np.asarray(abs(p.P).sum(axis=0)).ravel() == 0
        row = np.repeat(np.arange(len(p.lower)), np.diff(p.A.indptr))
        column, data = p.A.indices, p.A.data
        helps = np.where(data > 0, np.isposinf(p.upper[row]), np.isneginf(p.lower[row]))
        flat[column[~helps & (data != 0)]] = False
        every = Slacks.of(p.A, flat)
        self._slacks = every.take(np.unique(every.row, return_index=True)[1])
        alone = np.ones(len(p.q), dtype=bool)  # a slack that shares a row is raised, never lowered
        shared = np.bincount(every.row, minlength=len(p.lower)) > 1
        alone[column[shared[row]]] = False
        lowered = np.unique(self._slacks.column)
        self._lowered = lowered[alone[lowered]]

    def _raise_slacks(self, x: Floats) -> Floats:
        p = self.problem
        if len(self._slacks.row):
            x[self._lowered] = p.lb[self._lowered]
            Ax = p.A @ x
            self._slacks.lift(x, x, p.lower - Ax, Ax - p.upper)
        return x

    def signed(self, y: Floats) -> Floats:
        """Return y without what pushes from a side that a row does not have."""
        return one_sided(y, self.problem.lower, self.problem.upper)

    def _beyond(self, reduced: Floats) -> Floats:
        """Return how far each reduced cost is outside the range where its column has a minimum."""
        return np.maximum(0.0, np.maximum(self._floor - reduced, reduced - self._ceiling))

    def _least(self, reduced: Floats) -> float:
        """Return the sum of the columns' minima; what lies beyond a range counts as its end."""
        p, k = self.problem, self._curvature
        z = resting_points(reduced, k, p.l1, p.lb, p.ub)
        z = np.where(np.isfinite(z), z, 0.0)
        return float(np.sum(0.5 * k * z * z + reduced * z + p.l1 * np.abs(z)))
