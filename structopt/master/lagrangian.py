r"""A lower bound on a master problem from any multipliers.

For y of the right signs (y >= 0 on one-sided rows ``Ax >= lower``), the Lagrangian

    g(y) = sum (lower.y+ - upper.y-) + min over lb <= x <= ub of 1/2 x'Px + r.x + l1.|x|,
    r = q - A'y,

bounds the master from below, and so bounds the full problem, whose rows are a superset. Nothing
here trusts a solver: y is only a suggestion, repaired until every column has a minimum.

* A slack column rests while its cost, less what static rows take of it, covers the multipliers of
  its rows: each example's multipliers are scaled by min(1, cost / load).
* Other columns that only cuts touch (a learned margin) get theirs by least squares on the cuts'
  multipliers.
* A column without curvature needs ``-l1 <= r <= l1`` (one side where it is bounded): the static
  multipliers, those of cones too, are repaired (:mod:`structopt.master.repair`).
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
from structopt.master.anchor import Anchor, Dual, find_anchor
from structopt.master.curvature import coupled_block, is_definite
from structopt.master.cuts import Cuts
from structopt.master.lagrangian_kernels import step_to_rest
from structopt.master.program import ROUNDING, Program, one_sided, sided
from structopt.master.repair import Repair
from structopt.master.rest import resting_points, resting_range
from structopt.master.slacks import Slacks


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
        self._coupled, block = coupled_block(program.P)
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
        # a block that is not well away from singular would give a bound that is none
        self._factor = splu(block) if block.shape[0] and is_definite(block) else None
        self._dual = Dual.of(program, self._floor, self._ceiling)
        self._repair = Repair(self._dual)
        touched = np.diff(sp.csc_array(program.static).indptr) > 0
        self._cut_only = free & ~self._slack & ~touched
        self._shared = free & ~self._slack & touched & (self._floor == self._ceiling)
        self._anchor: Anchor | None = None
        if not program.static.shape[0] and self._repair.overshoot(program.q) <= ROUNDING:
            self._anchor = Anchor(np.zeros(0), program.q, 0.0)
        self._anchored = self._anchor is not None
        self._tried = 0  # cuts from which on an anchor is looked for again
        # linear, without static rows, at rest without cuts: all it takes is to scale multipliers
        self._plain = (
            self._pulls is not None
            and not np.any(self._coupled)
            and bool(np.all((program.ub <= 0) | np.isposinf(program.ub)))
            and bool(np.all((program.lb >= 0) | np.isneginf(program.lb)))
            and program.static.shape[0] == 0
            and self._repair.overshoot(program.q) <= ROUNDING
        )

    def price(self, rows: Cuts, cut_duals: Floats, static_duals: Floats | None) -> Priced:
        """Return what the bound needs of the multipliers, signs and slacks repaired."""
        p = self.program
        y = one_sided(cut_duals, rows.lower, rows.upper)
        given = np.zeros(p.static.shape[0]) if static_duals is None else static_duals
        static, cost = p.signed(given), p.q
        if len(static):
            reduced = p.q - rows.pull(p, y) - p.static.T @ static
            static = self._repair.restored(static, reduced)[0]
            cost = p.q - p.static.T @ static
        y = Slacks.of(rows.extra, self._slack).rest(
            y, np.where(self._slack, cost - self._floor, cost)
        )
        y = self._settled(rows, y)
        if len(static) and np.any(self._shared[rows.extra.indices]):
            reduced = p.q - rows.pull(p, y) - p.static.T @ static
            y = self._repair.settled(rows.extra, static, y, reduced)
            y = one_sided(y, rows.lower, rows.upper)
        if not self._anchored and not self._plain and len(rows) >= self._tried:
            self._tried = 2 * len(rows) + 1
            self._find_anchor(rows)
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
        reduced = p.q - pull - p.static.T @ static
        if not self._repair.inside(static, reduced):
            static, reduced = self._repair.restored(static, reduced)
        t = 1.0
        if not self._repair.inside(static, reduced):
            if self._anchor is None:
                return -np.inf
            a = self._anchor
            static, reduced = self._repair.restored(static, reduced, level=True)
            t = self._repair.step(a, static, reduced)
            gain = (1 - t) * a.gain + t * gain
            static = p.signed((1 - t) * a.static + t * static)  # roundings
            reduced = (1 - t) * a.reduced + t * reduced
        reduced = np.clip(reduced, self._floor, self._ceiling)  # roundings
        bound = gain + p.sides(static)
        return float(bound + self._separable(reduced) + self._block(reduced, x) + p.offset)

    def _settled(self, rows: Cuts, y: Floats) -> Floats:
        """Bring the columns that only cuts touch to rest, by least squares on the multipliers."""
        if not len(rows) or not np.any(self._cut_only):
            return y
        touched = np.unique(rows.extra.indices[self._cut_only[rows.extra.indices]])
        if not len(touched):
            return y
        block = rows.extra[:, touched]
        for _ in range(2):
            r = self.program.q[touched] - block.T @ y
            missing = r - np.clip(r, self._floor[touched], self._ceiling[touched])
            if not np.any(missing):
                break
            # each moves in proportion to its size, which keeps signs where all must shrink
            root = np.sqrt(np.abs(y))
            weighted = sp.csc_array(block.multiply(root[:, None]))
            # every condition to the same size: those of tiny multipliers are to hold as well
            each = np.sqrt(weighted.power(2).sum(axis=0))
            each = np.where(each > 0, each, 1.0)
            even = sp.csr_array(weighted.multiply(1.0 / each)).T
            y = y + root * lsqr(even, missing / each, atol=1e-15, btol=1e-15)[0]
            y = one_sided(y, rows.lower, rows.upper)
        return y

    def _find_anchor(self, rows: Cuts) -> None:
        """Find what repairs move towards: without cuts, or else with those that there are."""
        p = self.program
        matrix, sides = sp.csr_array((0, p.size)), np.zeros(0)
        found = find_anchor(self._dual, matrix)
        if (found is None or not found.deep) and len(rows):
            every = rows.matrix(p)
            one, other = np.flatnonzero(rows.lower > -np.inf), np.flatnonzero(rows.upper < np.inf)
            matrix = sp.csr_array(sp.vstack([every[one], -every[other]]))
            sides = np.concatenate([rows.lower[one], -rows.upper[other]])
            found = find_anchor(self._dual, matrix)
            if found is None or not found.deep:
                touched = np.zeros(p.size, dtype=bool)
                touched[matrix.indices] = touched[p.weights] = True
                found = find_anchor(self._dual, matrix, touched) or found
        if found is None or (self._anchor is not None and not found.deep):
            return
        repair = Repair(found.dual)
        reduced = p.q - matrix.T @ found.cuts - p.static.T @ found.static
        static, reduced = repair.restored(found.static, reduced)
        if repair.inside(static, reduced):
            self._repair = repair
            self._anchor = Anchor(static, reduced, float(sides @ found.cuts))
            self._anchored = found.deep

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
