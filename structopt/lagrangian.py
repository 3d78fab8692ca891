r"""A lower bound on a master problem from any multipliers.

For y of the right signs (y >= 0 on one-sided rows ``Ax >= lower``), the Lagrangian

    g(y) = sum (lower.y+ - upper.y-) + min over lb <= x <= ub of 1/2 x'Px + r.x + l1.|x|,
    r = q - A'y,

bounds the master from below, and so bounds the full problem, whose rows are a superset. Nothing
here trusts a solver: y is only a suggestion, repaired until every column has a minimum.

* A slack column rests while its cost covers the multipliers of its rows: each example's multipliers
  are scaled by min(1, cost / load).
* A column without curvature needs ``-l1 <= r <= l1`` (one side where it is bounded): y moves towards
  an anchor that satisfies this, just far enough. Without cuts, y = 0 is usually one.
* Static rows have multipliers to spare: before that, those away from their own bounds are corrected
  by least squares so that the columns without curvature come to rest.
* Columns coupled by P use ``h(x) >= z.x - h*(z)`` for the l1 term and the bounds, with z taken from
  the master's x, and the minimum of what remains, ``-1/2 (r + z)' P^-1 (r + z)``.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import lsqr, splu

from structopt.program import Program, Rows
from structopt.structures.parts import Floats

ROUNDING = 1e-12
"""What counts as zero among reduced costs: some thousand roundings of numbers near 1."""


class Lagrangian:
    """The dual function of a master, with its repairs."""

    def __init__(self, program: Program) -> None:
        self.program = program
        coo = sp.coo_array(program.P)
        self._coupled = np.zeros(program.size, dtype=bool)
        self._coupled[coo.row[coo.row != coo.col]] = True
        self._curvature = np.asarray(program.P.diagonal())
        free = ~self._coupled & (self._curvature == 0)
        self._needs_floor = free & np.isposinf(program.ub)  # r >= -l1
        self._needs_ceiling = free & np.isneginf(program.lb)  # r <= l1
        self._factor = None
        if np.any(self._coupled):
            block = sp.csc_array(program.P[self._coupled][:, self._coupled])
            try:
                self._factor = splu(block)
            except RuntimeError:  # singular: no bound from this block
                self._factor = None
        self._anchor_duals = np.zeros(program.A.shape[0])
        self._anchor = program.q.copy()

    def anchor(self, static_duals: Floats | None) -> None:
        """Take the cut-free master's multipliers as the point that repairs move towards."""
        if static_duals is not None and self._overshoot(self._anchor) > 0:
            self._anchor_duals = self._signed(static_duals, self.program.lower, self.program.upper)
            self._anchor = self.program.q - self.program.A.T @ self._anchor_duals

    def value(
        self, rows: Rows, cut_duals: Floats, static_duals: Floats | None, x: Floats
    ) -> float:
        """Return a lower bound from the multipliers, -inf if they cannot be repaired."""
        p = self.program
        y = self._signed(cut_duals, rows.lower, rows.upper)
        y = self._rest_slacks(rows, y)
        given = np.zeros(len(p.lower)) if static_duals is None else static_duals
        static = self._signed(given, p.lower, p.upper)
        reduced = p.q - rows.pull(p, y) - p.A.T @ static
        if len(static) and self._overshoot(reduced) > 0.0:
            static, reduced = self._polish(static, reduced)
        t = self._step_from_anchor(reduced)
        if t < 1.0:
            y = t * y
            static = (1 - t) * self._anchor_duals + t * static
            reduced = (1 - t) * self._anchor + t * reduced
        bound = _sided(y, rows.lower, rows.upper) + _sided(static, p.lower, p.upper)
        return float(bound + self._separable(reduced) + self._block(reduced, x) + p.offset)

    @staticmethod
    def _signed(y: Floats, lower: Floats, upper: Floats) -> Floats:
        y = np.where(np.isneginf(lower), np.minimum(y, 0.0), y)
        return np.where(np.isposinf(upper), np.maximum(y, 0.0), y)

    def _rest_slacks(self, rows: Rows, y: Floats) -> Floats:
        p = self.program
        slack = np.zeros(p.size, dtype=bool)
        slack[p.slacks] = self._needs_floor[p.slacks]
        column, row = rows.extra.indices, np.repeat(np.arange(len(y)), np.diff(rows.extra.indptr))
        load = rows.extra.data * y[row]
        counts = slack[column] & (load > 0)
        total = np.bincount(column[counts], load[counts], minlength=p.size)
        over = total > p.q
        if not np.any(over):
            return y
        factor = np.ones(p.size)
        factor[over] = np.maximum(p.q[over], 0.0) / total[over]
        shrink = np.ones(len(y))
        np.minimum.at(shrink, row[counts], factor[column[counts]])
        return y * shrink

    def _overshoot(self, reduced: Floats) -> float:
        """Return by how much the columns without curvature miss their rest, 0 up to rounding."""
        below = np.where(self._needs_floor, -self.program.l1 - reduced, 0.0)
        above = np.where(self._needs_ceiling, reduced - self.program.l1, 0.0)
        worst = float(max(below.max(initial=0.0), above.max(initial=0.0)))
        return worst if worst > ROUNDING else 0.0

    def _polish(self, static: Floats, reduced: Floats) -> tuple[Floats, Floats]:
        """Correct static multipliers so that columns without curvature come to rest."""
        p = self.program
        scale = max(1.0, float(np.abs(static).max()))
        target = np.clip(
            reduced,
            np.where(self._needs_floor, -p.l1, -np.inf),
            np.where(self._needs_ceiling, p.l1, np.inf),
        )
        near = self._needs_floor & (reduced <= -p.l1 + 1e-3 * scale)
        near |= self._needs_ceiling & (reduced >= p.l1 - 1e-3 * scale)
        free = (p.lower == p.upper) | (np.abs(static) > 1e-3 * np.abs(static).max())
        columns, rows = np.flatnonzero(near), np.flatnonzero(free)
        block = p.A[rows][:, columns]
        wanted = (reduced - target)[columns]
        correction = lsqr(block.T, wanted, atol=1e-15, btol=1e-15)[0]
        polished = static.copy()
        polished[rows] += correction
        polished = self._signed(polished, p.lower, p.upper)
        after = reduced - p.A.T @ (polished - static)
        if self._overshoot(after) < self._overshoot(reduced):
            return polished, after
        return static, reduced

    def _step_from_anchor(self, reduced: Floats) -> float:
        """Return the largest t in [0, 1] at which anchor + t (reduced - anchor) is at rest."""
        if self._overshoot(reduced) <= 0.0:
            return 1.0
        if self._overshoot(self._anchor) > 0.0:
            return 0.0
        limit = 1.0
        for needed, bound, sign in (
            (self._needs_floor, -self.program.l1, -1.0),
            (self._needs_ceiling, self.program.l1, 1.0),
        ):
            bad = needed & (sign * (reduced - bound) > ROUNDING)
            if np.any(bad):
                room = (bound - self._anchor)[bad]
                limit = min(limit, float((room / (reduced - self._anchor)[bad]).min()))
        return max(0.0, limit * (1.0 - 1e-15))

    def _separable(self, reduced: Floats) -> float:
        """Return the sum of column minima outside the coupled block."""
        p, k = self.program, ~self._coupled
        r, curvature, l1, lb, ub = reduced[k], self._curvature[k], p.l1[k], p.lb[k], p.ub[k]
        # a column without curvature rests up to rounding (see `_overshoot`)
        over = np.abs(r) - l1 - np.where(curvature > 0, 0.0, ROUNDING)
        pulled = np.sign(-r) * np.maximum(over, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            x = np.where(curvature > 0, pulled / curvature, pulled * np.inf)
        x = np.clip(np.where(pulled == 0.0, 0.0, x), lb, ub)
        if not np.all(np.isfinite(x)):
            return -np.inf
        return float(np.sum(0.5 * curvature * x * x + r * x + l1 * np.abs(x)))

    def _block(self, reduced: Floats, x: Floats) -> float:
        """Return a lower bound on the coupled block."""
        k = self._coupled
        if not np.any(k):
            return 0.0
        if self._factor is None:
            return -np.inf
        p = self.program
        r, l1, lb, ub = reduced[k], p.l1[k], p.lb[k], p.ub[k]
        z = -(p.P[k][:, k] @ x[k] + r)
        z = np.where(np.isposinf(ub), np.minimum(z, l1), z)
        z = np.where(np.isneginf(lb), np.maximum(z, -l1), z)
        rest = np.clip(0.0, lb, ub)
        conjugate = z * rest - l1 * np.abs(rest)
        for end in (lb, ub):
            finite = np.isfinite(end)
            at_end = np.where(finite, z * np.where(finite, end, 0.0), -np.inf)
            conjugate = np.maximum(conjugate, at_end - l1 * np.abs(np.where(finite, end, 0.0)))
        shifted = r + z
        return float(-0.5 * shifted @ self._factor.solve(shifted) - conjugate.sum())


def _sided(y: Floats, lower: Floats, upper: Floats) -> float:
    """Return ``lower.y+ - upper.y-`` with 0 * inf read as 0."""
    active: NDArray[np.bool_] = y != 0
    ends = np.where(y > 0, lower, upper)[active]
    return float(ends @ y[active])
