r"""A lower bound on a master problem from any multipliers.

For y of the right signs (y >= 0 on one-sided rows ``Ax >= lower``), the Lagrangian

    g(y) = sum (lower.y+ - upper.y-) + min over lb <= x <= ub of 1/2 x'Px + r.x + l1.|x|,
    r = q - A'y,

bounds the master from below, and so bounds the full problem, whose rows are a superset. Nothing
here trusts a solver: y is only a suggestion, repaired until every column has a minimum.

* A slack column rests while its cost covers the multipliers of its rows: each example's multipliers
  are scaled by min(1, cost / load).
* A column without curvature needs ``-l1 <= r <= l1`` (one side where it is bounded): y moves
  towards an anchor that satisfies this, just far enough. Without cuts, y = 0 is usually one.
* Static rows have multipliers to spare: before that, those away from their own bounds are corrected
  by least squares so that the columns without curvature come to rest.
* Columns coupled by P use ``h(x) >= z.x - h*(z)`` for the l1 term and the bounds, with z taken from
  the master's x, and the minimum of what remains, ``-1/2 (r + z)' P^-1 (r + z)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import lsqr, splu

from structopt.arrays import Floats
from structopt.master.cuts import Cuts
from structopt.master.lagrangian_kernels import step_to_rest
from structopt.master.program import ROUNDING, Program, one_sided, sided
from structopt.master.rest import resting_points, resting_range
from structopt.master.slacks import Slacks

_POLISHINGS = 5
"""Least-squares steps on static multipliers at most; two or three suffice where any do."""


@dataclass(frozen=True)
class Priced:
    """Multipliers, reduced to what the bound needs of them.

    Every part is linear in the multipliers, so an average of these is the average of the
    multipliers, even over rounds whose cuts are long dropped.

    Attributes
    ----------
    pull : array
        The cut rows weighted by their multipliers and summed, over all columns.
    gain : float
        Their sides weighted likewise: lower.y+ - upper.y-.
    static : array
        Multipliers of the static rows.
    """

    pull: Floats
    gain: float
    static: Floats


class Averages:
    """Averages of multipliers over windows of rounds, for methods whose iterates circle.

    In a proximal method with step t and centres c, the pull of round k is a subgradient of the
    regulariser plus (w_k - c_k) / t. Averaged over a window the last term telescopes to (end -
    begin) / (t * rounds), so the average is ever closer to dual feasible. Windows begin at rounds
    that grow by `GROWTH`, and the last few are kept.
    """

    GROWTH, KEPT = 1.3, 8

    def __init__(self) -> None:
        self._rounds, self._next = 0, 0
        self._weight, self._total = 0.0, Priced(np.zeros(0), 0.0, np.zeros(0))
        self._windows: list[tuple[float, Priced]] = []  # all that came before each window

    def add(self, priced: Priced, weight: float) -> None:
        """Take in a round."""
        if self._rounds == 0:
            self._total = Priced(0.0 * priced.pull, 0.0, 0.0 * priced.static)
        before = self._total
        if self._rounds >= self._next:
            self._next = max(self._rounds + 1, int(self.GROWTH * self._rounds))
            self._windows = [*self._windows[1 - self.KEPT :], (self._weight, before)]
        self._rounds += 1
        self._weight += weight
        self._total = Priced(
            before.pull + weight * priced.pull,
            before.gain + weight * priced.gain,
            before.static + weight * priced.static,
        )

    def means(self) -> Iterator[Priced]:
        """Return the averages of all windows, the longest first."""
        total = self._total
        for weight, before in self._windows:
            scale = 1.0 / (self._weight - weight)
            yield Priced(
                scale * (total.pull - before.pull),
                scale * (total.gain - before.gain),
                scale * (total.static - before.static),
            )


class Lagrangian:
    """The dual function of a master, with its repairs."""

    def __init__(self, program: Program) -> None:
        self.program = program
        coo = sp.coo_array(program.P)
        self._coupled = np.zeros(program.size, dtype=bool)
        self._coupled[coo.row[coo.row != coo.col]] = True
        self._curvature = np.asarray(program.P.diagonal())
        free = ~self._coupled & (self._curvature == 0)
        self._floor, self._ceiling = resting_range(program, free)
        self._slack = np.zeros(program.size, dtype=bool)
        self._slack[program.slacks] = np.isfinite(self._floor[program.slacks])
        # where every column rests at 0 unless pulled beyond these, none adds to the bound
        rests = free & (program.lb <= 0) & (program.ub >= 0)
        self._pulls = None
        if np.all(rests | self._coupled):
            slack = program.l1 + ROUNDING
            self._pulls = (
                np.where(rests & (program.ub > 0), -slack, -np.inf),
                np.where(rests & (program.lb < 0), slack, np.inf),
            )
        self._factor = None
        if np.any(self._coupled):
            block = sp.csc_array(program.P[self._coupled][:, self._coupled])
            try:
                self._factor = splu(block)
            except RuntimeError:  # singular: no bound from this block
                self._factor = None
        self._anchor_duals = np.zeros(program.A.shape[0])
        self._anchor = program.q.copy()
        # linear, without static rows, at rest without cuts: all it takes is to scale multipliers
        self._plain = (
            self._pulls is not None
            and not np.any(self._coupled)
            and bool(np.all((program.ub <= 0) | np.isposinf(program.ub)))
            and bool(np.all((program.lb >= 0) | np.isneginf(program.lb)))
            and program.A.shape[0] == 0
            and self._overshoot(program.q) == 0.0
        )

    def anchor(self, static_duals: Floats | None) -> None:
        """Take the cut-free master's multipliers as the point that repairs move towards."""
        if static_duals is not None and self._overshoot(self._anchor) > 0:
            self._anchor_duals = one_sided(static_duals, self.program.lower, self.program.upper)
            self._anchor = self.program.q - self.program.A.T @ self._anchor_duals

    def price(self, rows: Cuts, cut_duals: Floats, static_duals: Floats | None) -> Priced:
        """Return what the bound needs of the multipliers, signs and slacks repaired."""
        p = self.program
        y = one_sided(cut_duals, rows.lower, rows.upper)
        y = Slacks.of(rows.extra, self._slack).rest(y, p.q)
        given = np.zeros(len(p.lower)) if static_duals is None else static_duals
        static = one_sided(given, p.lower, p.upper)
        return Priced(rows.pull(p, y), sided(y, rows.lower, rows.upper), static)

    def value(self, priced: Priced, x: Floats) -> float:
        """Return a lower bound, -inf if the multipliers cannot be repaired.

        ``x`` is the master's point, used where P couples columns.
        """
        p = self.program
        pull, gain, static = priced.pull, priced.gain, priced.static
        if self._plain:
            t = step_to_rest(p.q, pull, self._floor, self._ceiling, ROUNDING)
            return float(t * gain + p.offset)
        reduced = p.q - pull - p.A.T @ static
        if len(static) and self._overshoot(reduced) > 0.0:
            static, reduced = self._polish(static, reduced)
        t = self._step_from_anchor(reduced)
        if t < 1.0:
            gain = t * gain
            static = (1 - t) * self._anchor_duals + t * static
            reduced = (1 - t) * self._anchor + t * reduced
        bound = gain + sided(static, p.lower, p.upper)
        return float(bound + self._separable(reduced) + self._block(reduced, x) + p.offset)

    def _overshoot(self, reduced: Floats) -> float:
        """Return by how much the columns without curvature miss their rest, 0 up to rounding."""
        below, above = self._floor - reduced, reduced - self._ceiling
        worst = float(max(below.max(initial=0.0), above.max(initial=0.0)))
        return worst if worst > ROUNDING else 0.0

    def _polish(self, static: Floats, reduced: Floats) -> tuple[Floats, Floats]:
        """Correct static multipliers so that columns without curvature come to rest.

        A least-squares step moves the multipliers away from their own bounds. Those that it drives
        beyond a bound stay there in the next step, and those that it wants off a bound join.
        """
        p = self.program
        largest = float(np.abs(static).max())
        near_by = 1e-3 * max(1.0, largest)
        floor, ceiling = self._floor, self._ceiling
        movable = (p.lower == p.upper) | (np.abs(static) > 1e-3 * largest)
        best, best_overshoot = (static, reduced), self._overshoot(reduced)
        for _ in range(_POLISHINGS):
            near = (reduced <= floor + near_by) | (reduced >= ceiling - near_by)
            columns, rows = np.flatnonzero(near), np.flatnonzero(movable)
            missing = np.where(near, reduced - np.clip(reduced, floor, ceiling), 0.0)
            block = p.A[rows][:, columns]
            moved = static.copy()
            moved[rows] += lsqr(block.T, missing[columns], atol=1e-15, btol=1e-15)[0]
            signed = one_sided(moved, p.lower, p.upper)
            reduced = reduced - p.A.T @ (signed - static)
            static = signed
            overshoot = self._overshoot(reduced)
            if overshoot < best_overshoot:
                best, best_overshoot = (static, reduced), overshoot
            if overshoot == 0.0:
                break
            wanted = p.A @ (reduced - np.clip(reduced, floor, ceiling))
            joins = one_sided(wanted, p.lower, p.upper) != 0
            movable = (movable & (moved == signed)) | joins
        return best

    def _step_from_anchor(self, reduced: Floats) -> float:
        """Return the largest t in [0, 1] at which anchor + t (reduced - anchor) is at rest."""
        if self._overshoot(reduced) <= 0.0:
            return 1.0
        if self._overshoot(self._anchor) > 0.0:
            return 0.0
        anchor, ends = self._anchor, (self._floor, self._ceiling)
        return float(step_to_rest(anchor, anchor - reduced, *ends, ROUNDING))

    def _separable(self, reduced: Floats) -> float:
        """Return the sum of column minima outside the coupled block."""
        if self._pulls is not None:
            low, high = self._pulls
            if np.all(reduced >= low) and np.all(reduced <= high):
                return 0.0
        p, k = self.program, ~self._coupled
        r, curvature, l1, lb, ub = reduced[k], self._curvature[k], p.l1[k], p.lb[k], p.ub[k]
        x = resting_points(r, curvature, l1, lb, ub)
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
