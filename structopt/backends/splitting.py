r"""Splitting: the cuts by dual ascent, everything else by its proximal step, in turns.

    min  S(x) + F(x)    s.t. the cuts so far,

with S separable (ridges, bounds, plain slacks: what the ascent takes as it is) and F all that ties
columns: norms and entropies of weights, static rows and cones, forms that couple weights, slacks
under a maximum or a quantile. A move does, over the columns that are tied,

    x <- argmin of S(x) + 1/(2t) |x - (u - y)|^2 over the cuts       a few sweeps of the ascent
    u <- argmin of F(u) + 1/(2t) |u - (x + y)|^2                     a proximal step
    y <- y + x - u

(the alternating direction method of multipliers, over-relaxed), and columns of S without curvature,
such as a learned margin, keep to a centre that follows them. The proximal step is in closed form
where the terms are known, one factorisation where F is a quadratic form, and a small programme
without cuts elsewhere (:mod:`structopt.backends.proximity`).

The length t begins with what the columns measure by what F pulls at them, and is balanced: longer
where u moves more, by the size of y, than x and u are apart, by theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from structopt.arrays import Floats, Ints, base_matrix
from structopt.backends.ascent.backend import Ascent
from structopt.backends.ascent.form import odd_slacks
from structopt.backends.ascent.prices import Prices
from structopt.backends.base import Backend, Compiled, MasterSolution
from structopt.backends.proximity import Step, proximity_of
from structopt.master.cuts import Cuts
from structopt.master.program import Program
from structopt.parameters import Seed
from structopt.structures.base.parts import Directions

if TYPE_CHECKING:
    from structopt.master.declare import RestrictedMaster

_POWER, _PACE, _ENOUGH = 0.5, 2.0, 1.5
"""A length changes by (one residual / the other)^_POWER a move, at most by the factor _PACE; that
of weights once the changes add up to _ENOUGH: plane products may have to be built again."""
_ALONE = 4
"""So many times the sweeps at most where nothing is tied, with momentum, until the tolerance of the
master is met, and two moves at most: there is no step to hurry to."""
_LARGE = 1000
"""Weights and slacks from which on "auto" takes it."""
_SHARE, _MOVES = 3, 8
"""As in :mod:`structopt.backends.proximal`."""


class Splitting(Backend):
    """Cuts by dual ascent and the rest by proximal steps, for any cones.

    The weights need a ridge, or norms or entropies that are known in closed form.

    Parameters
    ----------
    sweeps : int
        Sweeps of the ascent in one move.
    relax : float
        How far a move goes: 1 to the solution, up to 2 beyond.
    random_state : int
        Of the order in which groups are visited.

    Examples
    --------
    >>> import cvxpy as cp, structopt as so
    >>> class Careful(so.Formulation):  # only the two largest slacks count
    ...     def master(self, m):
    ...         w, xi = m.weights(), m.slacks()
    ...         m.minimize(cp.sum_squares(w) / 2 + cp.sum_largest(xi, 2))
    ...         m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
    >>> X, Y = so.datasets.make_chain_crf(8, n_features=5, n_relevant=3, seed=0)
    >>> model = so.StructuredClassifier(so.Chain(), Careful(), backend=so.Splitting(), tol=1e-2)
    >>> result = model.fit(X, Y).result_
    >>> result.backend, result.certificate.certified
    ('splitting', True)
    """

    name = "splitting"
    takes_quadratic = True
    takes_conic = True
    moving = True
    finisher = "clarabel"

    def __init__(self, *, sweeps: int = 2, relax: float = 1.6, random_state: Seed = 0) -> None:
        self.sweeps, self.relax, self.random_state = sweeps, relax, random_state

    def refusal(self, program: Program, samples: Sequence[Cuts] = ()) -> str | None:
        """Return why the master is not of this backend's form, or None."""
        if (refused := super().refusal(program, samples)) is not None:
            return refused
        lead = f"The {self.name!r} backend takes a ridge, or norms and entropies, of the weights: "
        weights = program.weights
        curved = (program.P.diagonal()[weights] > 0) | (program.lb == program.ub)[weights]
        if program.split is None and not np.all(curved):
            return lead + "some weights have neither."
        reasons = (odd_slacks(program, rows) for rows in samples)
        found = next(filter(None, reasons), None)
        return None if found is None else lead + found

    def suits(self, program: Program) -> bool:
        """Return whether the programme is so large that an exact solve takes long."""
        n_weights: int = program.weights.stop - program.weights.start
        return n_weights + len(program.slacks) > _LARGE

    # ------------------------------------------------------------------ the master's rows
    def start(self, master: Compiled) -> None:
        """Bind a master."""
        program = master.program
        self._proximity = proximity_of(program)
        self._program = plain = program if program.split is None else program.split.plain
        slack = np.zeros(plain.size, dtype=bool)
        slack[plain.slacks] = True
        weights = np.arange(plain.weights.start, plain.weights.stop)
        riders = np.setdiff1d(self._ridden(master), np.concatenate([weights, plain.slacks]))
        # the columns of the ascent: weights, what else stands in cuts, slacks
        self._order = np.concatenate([weights, riders, plain.slacks])
        self._n, self._rides = len(weights) + len(riders), len(riders) > 0
        self._place = np.full(plain.size, -1)
        self._place[self._order] = np.arange(len(self._order))
        tied = np.zeros(plain.size, dtype=bool)
        tied[self._proximity.columns] = True
        self._tied = tied[self._order]
        self._own = np.asarray(plain.P.diagonal())[self._order]
        loose = np.arange(len(self._order)) < self._n
        fixed = (plain.lb == plain.ub)[self._order]
        self._centred = (self._tied | ((self._own == 0) & ~fixed)) & loose
        self._soft = np.flatnonzero(self._tied & ~loose) - self._n
        self._u, self._y = np.zeros(len(self._order)), np.zeros(len(self._order))
        self._t, self._tau, self._change = np.ones(self._n), 1.0, 1.0
        self._last = Step(np.zeros(plain.size), np.zeros(plain.static.shape[0]))
        self._alone = alone = not np.any(tied)
        self._ascent = Ascent(
            max_sweeps=self.sweeps * (_ALONE if alone else 1),
            momentum=alone,
            random_state=self.random_state,
        )
        pool = None if self._rides else getattr(master, "pool", None)  # whose directions go on
        self._ascent.start(SimpleNamespace(program=self._separable(), pool=pool))
        self._arrived, self._started = 0, False

    def _ridden(self, master: Compiled) -> Ints:
        """Return the columns of all variables that cuts touch besides directions."""
        samples = cast("RestrictedMaster", master).samples()
        touched = np.unique(np.concatenate([rows.extra.indices for rows in samples]))
        starts = np.sort(np.array([*self._program.columns.values(), self._program.size]))
        first = np.unique(np.searchsorted(starts, touched, side="right") - 1)
        spans = [np.arange(starts[k], starts[k + 1]) for k in first]
        return np.concatenate([np.zeros(0, dtype=np.int64), *spans])

    def _separable(self) -> Program:
        """Return what the ascent is started on: tied columns are free, with a square of their own.

        Tied slacks get a price at every move.
        """
        p, o, n, tied = self._program, self._order, self._n, self._tied
        free = tied.copy()
        free[n:] = False
        square = np.where(self._centred | tied, 1.0, self._own)
        return Program(
            P=sp.diags_array(square, format="csc"), q=np.where(tied, 0.0, p.q[o]),
            l1=np.where(tied, 0.0, p.l1[o]), A=sp.csr_array((0, len(o))),
            lower=np.zeros(0), upper=np.zeros(0), lb=np.where(free, -np.inf, p.lb[o]),
            ub=np.where(free, np.inf, p.ub[o]), weights=slice(0, n),
            slacks=np.arange(n, len(o)),
        )  # fmt: skip

    def append(self, rows: Cuts) -> None:
        """Add cut rows; the first ones set the lengths."""
        rows = self._riding(rows)
        if not self._started and len(rows):
            self._started = True
            self._first_lengths(rows)
        self._ascent.append(rows)
        self._arrived += len(rows)

    def delete(self, keep: NDArray[np.bool_]) -> None:
        """Keep only some cut rows."""
        self._ascent.delete(keep)

    def warm(self, cut_duals: Floats, weights: Floats | None = None) -> None:
        """Start from given multipliers, with u at given weights."""
        self._ascent.warm(cut_duals)
        if weights is not None:
            self._u[: len(weights)] = weights

    def _riding(self, rows: Cuts) -> Cuts:
        """Return rows over the columns of the ascent; what is no slack joins the direction."""
        place = self._place[rows.extra.indices]
        shape = (len(rows), len(self._order))
        loose = place < self._n
        # not "none in these rows": all batches must number the rows of one base alike
        if not self._rides:
            extra = sp.csr_array((rows.extra.data, place, rows.extra.indptr), shape=shape)
            return replace(rows, extra=extra)
        owner = np.repeat(np.arange(len(rows)), np.diff(rows.extra.indptr))
        d, rides = rows.directions, owner[loose]
        who = np.concatenate([np.repeat(np.arange(len(rows)), np.diff(d.ptr)), rides])
        order = np.argsort(who, kind="stable")
        # a unit row goes before the base, and its parts after those of the directions
        unit = sp.csr_array(([1.0], [0], [0, 1]), shape=(1, rows.base.shape[1]))
        base = base_matrix(sp.csr_array(sp.vstack([unit, rows.base])))
        joined = Directions(
            np.concatenate([[0], np.cumsum(np.bincount(who, minlength=len(rows)))]),
            np.concatenate([d.source + 1, np.zeros(len(rides), dtype=np.int64)])[order],
            np.concatenate([d.offset, place[loose]])[order],
            np.concatenate([d.coef, rows.extra.data[loose] / rows.factor[rides]])[order],
        )
        stays = (rows.extra.data[~loose], (owner[~loose], place[~loose]))
        return replace(rows, extra=sp.csr_array(stays, shape=shape), directions=joined, base=base)

    # ------------------------------------------------------------------ lengths
    def _first_lengths(self, rows: Cuts) -> None:
        """Divide the size of columns that would satisfy a cut evenly by what F pulls at them."""
        n, deltas = self._n, rows.deltas(self._n)
        side = np.abs(np.where(np.isfinite(rows.lower), rows.lower, rows.upper))
        level = float(side.mean()) or 1.0
        total = np.asarray(abs(deltas).sum(axis=1)).ravel() * np.abs(rows.factor)
        even = float(np.median(np.maximum(side, 1e-3 * level) / np.maximum(total, 1e-300)))
        own = np.where(
            self._own[:n] > 0, 1.0 / np.where(self._own[:n] > 0, self._own[:n], 1.0), 0.0
        )
        square = np.asarray((deltas * deltas) @ own) * rows.factor**2
        # a column of S in all cuts answers each move by half with a length that adds to a plane's
        # square what all groups have of it together
        shared = float(square.mean()) / max(1, len(self._program.slacks))
        self._t = np.where(self._centred[:n], shared or even, own)
        x = np.zeros(self._program.size)
        for mine, size in ((np.flatnonzero(self._tied[:n]), even), (self._soft + n, level)):
            if len(mine):
                x[self._order[mine]] = size
                pull = self._proximity.pull(x, self._order[mine])
                length = size * np.sqrt(len(mine)) / max(float(np.linalg.norm(pull)), 1e-300)
                if mine[0] < n:
                    self._t[mine] = length
                else:
                    self._tau, self._u[mine] = length, size
        self._ascent.rescale(self._t)

    def _balance(self, x: Floats, before: Floats) -> None:
        """Change the lengths by both residuals, those of weights only now and then."""
        for mine in (np.flatnonzero(self._tied[: self._n]), self._soft + self._n):
            if not len(mine):
                continue
            u, y = self._u[mine], self._y[mine]
            apart = _size(x[mine] - u) / max(_size(x[mine]), _size(u))
            moved = _size(u - before[mine]) / _size(y)
            change = float(np.clip((moved / apart) ** _POWER, 1 / _PACE, _PACE))
            if mine[0] >= self._n:
                self._tau *= change
                self._y[mine] *= change
                continue
            self._change *= change
            if not 1.0 / _ENOUGH < self._change < _ENOUGH:
                self._t[mine] *= self._change
                self._y[mine] *= self._change
                if len(mine) == self._n:
                    self._ascent.shift(0.0 * self._t, self._change)
                else:
                    self._ascent.rescale(self._t)
                self._change = 1.0

    # ------------------------------------------------------------------ solving
    def solve(self, *, tolerance: float, time_limit: float | None = None) -> MasterSolution:
        """Move a few times; the multipliers are the mean of all moves."""
        most = 2 if self._alone else _MOVES
        moves = int(np.clip(len(self._program.slacks) / (_SHARE * max(1, self._arrived)), 1, most))
        self._arrived = 0
        visits, duals, static = 0, np.zeros(0), np.zeros(0)
        for move in range(moves):
            visits += self._move(tolerance if self._alone else 0.0, time_limit)
            now = self._ascent.multipliers()
            duals = now if move == 0 else duals + (now - duals) / (move + 1)
            static = (
                self._last.static
                if move == 0
                else static + (self._last.static - static) / (move + 1)
            )
            if self._last.status in ("infeasible", "failed"):
                break
        x = self._last.x.copy()
        n = self._n
        x[self._order[:n]] = np.where(self._tied[:n], self._u[:n], self._ascent.mean)
        status = (
            self._last.status if self._last.status in ("infeasible", "failed") else "inaccurate"
        )
        # only where weights are tied without a ridge do multipliers of single rounds circle
        length = float(self._t.mean()) if np.any(self._tied[: self._n]) else 0.0
        own = static if len(static) else None  # rows that were split into terms have none
        return MasterSolution(status, x, duals, own, visits, weight=moves * length)

    def _move(self, tolerance: float, time_limit: float | None) -> int:
        """Do one move; return how many groups the ascent visited."""
        n, aim = self._n, self._u - self._y
        cost = np.where(self._tied, 0.0, self._program.q[self._order])
        squares = np.where(self._centred[:n], aim[:n] / np.maximum(self._t, 1e-300), 0.0)
        self._ascent.shift(cost[:n] - squares, 1.0)
        if len(self._soft):
            self._ascent.reprice(self._soft, Prices(
                np.full(len(self._soft), np.inf), -aim[n + self._soft] / self._tau,
                np.full(len(self._soft), self._tau),
            ))  # fmt: skip
        visits = self._ascent.ascend(tolerance=tolerance, time_limit=time_limit)[1]
        x, before = np.concatenate([self._ascent.weights, self._ascent.slacks()]), self._u
        relaxed = before + self.relax * (x - before)
        self._u = relaxed.copy()
        if len(mine := np.flatnonzero(self._tied)):
            start, steps = np.zeros(self._program.size), np.zeros(self._program.size)
            lengths = np.append(self._t, np.full(len(x) - n, self._tau))
            start[self._order[mine]] = relaxed[mine] + self._y[mine]
            steps[self._order[mine]] = lengths[mine]
            self._last = self._proximity(start, steps)
            self._u[mine] = self._last.x[self._order[mine]]
            self._y[mine] += relaxed[mine] - self._u[mine]
            self._balance(x, before)
        return visits


def _size(x: Floats) -> float:
    """Return the length of a vector, never 0."""
    return max(float(np.linalg.norm(x)), 1e-300)
