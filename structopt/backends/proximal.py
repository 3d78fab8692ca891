r"""Stabilised cutting planes: the proximal point method around a linear master.

Plain cutting planes jump between vertices of a linear master. Here each move adds a proximal term,

    min  c.(w, xi) + l1.|w| + 1/(2t) |w - centre|^2    s.t. the cuts so far,

does a few sweeps of the dual ascent on it, and moves the centre towards (and beyond) the solution:
centre += relax * (w - centre). The multipliers of single moves are not dual feasible for the
linear programme, but their averages over windows of rounds become so
(:class:`structopt.master.lagrangian.Averages`), which is where the certificate comes from.

A longer step t brings the averages closer to dual feasible, a shorter one keeps w where the cuts
describe the hinges well. So t balances the two halves of the gap: what the objective at w lies
above an estimate of the optimum, and the lower bound below it (:meth:`Proximal.told`).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from structopt.arrays import Floats
from structopt.backends.ascent.backend import Ascent
from structopt.backends.base import Backend, Compiled, MasterSolution
from structopt.master.cuts import Cuts
from structopt.master.program import Program
from structopt.parameters import Seed

_POWER, _PACE = 0.3, 1.5
"""The step changes by (under / over)^_POWER a round, at most by the factor _PACE. On 100 OCR words
and on MedPost (5,700 sentences, C = 30) the balanced step settles at 0.4 and 0.3, where fixed steps
are best; 0.15 to 0.3 and 1.2 to 1.5 take 390 to 430 rounds to 1e-3 on the former."""
_SHARE, _MOVES = 3, 8
"""A solve moves the centre n / (_SHARE * new cuts) times, n the number of slacks, and _MOVES times
at most: where passes bring few cuts, moves are what is missing. In trials on MedPost, where a pass
costs about three moves, half as many passes led to a gap of 5% as with one move a pass."""


class Proximal(Backend):
    """Proximal point method with dual ascent, for linear masters with a price on every weight.

    Parameters
    ----------
    step : float, optional
        t, kept as it is; by default it begins with what the first cuts suggest, and is balanced.
    sweeps : int
        Sweeps of the ascent in one move.
    relax : float
        How far the centre moves: 1 to the solution, up to 2 beyond.
    random_state : int
        Of the order in which groups are visited.

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = so.datasets.make_chain_crf(8, n_features=5, n_relevant=3, seed=0)
    >>> model = so.StructuredClassifier(so.Chain(), so.L1M3N(C=0.5), backend=so.Proximal(sweeps=2))
    >>> result = model.fit(X, Y).result_
    >>> result.backend, result.certificate.certified
    ('proximal', True)
    """

    name = "proximal"
    takes_maps = False
    keeps_time = True
    moving = True
    finisher = "highs"

    def __init__(
        self,
        *,
        step: float | None = None,
        sweeps: int = 2,
        relax: float = 1.5,
        random_state: Seed = 0,
    ) -> None:
        self.step, self.sweeps, self.relax, self.random_state = step, sweeps, relax, random_state

    def refusal(self, program: Program, samples: Sequence[Cuts] = ()) -> str | None:
        """Return why the master is not of this backend's form, or None."""
        if (refused := super().refusal(program, samples)) is not None:
            return refused
        if not np.all(_price(program) > 0):
            return f"The {self.name!r} backend needs a price on every weight, such as norm1(w)."
        return Ascent().refusal(_with_proximal_term(program), samples)

    def start(self, master: Compiled) -> None:
        """Bind a linear master."""
        program = master.program
        self._program = program
        self._ascent = Ascent(
            max_sweeps=self.sweeps, momentum=False, random_state=self.random_state
        )
        pool = getattr(master, "pool", None)  # whose rows go on as they are
        self._ascent.start(SimpleNamespace(program=_with_proximal_term(program), pool=pool))
        weights = program.weights
        self._centre = np.clip(0.0 * program.q[weights], program.lb[weights], program.ub[weights])
        self._t, self._arrived, self._started = 1.0, 0, False

    def append(self, rows: Cuts) -> None:
        """Add cut rows; the first ones set the step."""
        if not self._started and len(rows):
            self._started = True
            self._stretch(self.step or self._first_step(rows))
        self._ascent.append(rows)
        self._arrived += len(rows)

    def delete(self, keep: NDArray[np.bool_]) -> None:
        """Keep only some cut rows."""
        self._ascent.delete(keep)

    def warm(self, cut_duals: Floats, weights: Floats | None = None) -> None:
        """Start from given multipliers, with the centre and a step that suit given weights."""
        self._ascent.warm(cut_duals)
        if weights is not None and np.any(weights):
            own = self._program.weights
            self._centre = np.clip(weights, self._program.lb[own], self._program.ub[own])
            if self.step is None:
                size = float(np.abs(weights[weights != 0]).mean())
                self._stretch(size / float(_price(self._program).mean()))

    def solve(self, *, tolerance: float, time_limit: float | None = None) -> MasterSolution:
        """Move the centre a few times, each time by a rough solution of the proximal master.

        The multipliers are the mean of all moves.
        """
        n_slacks, new = len(self._program.slacks), max(1, self._arrived)
        moves = int(np.clip(n_slacks / (_SHARE * new), 1, _MOVES))
        visits, duals = 0, np.zeros(0)
        deadline = np.inf if time_limit is None else time.perf_counter() + time_limit
        for move in range(moves):
            left = deadline - time.perf_counter()
            if move and left <= 0:
                moves = move
                break
            self._recentre(1.0)
            visits += self._ascent.ascend(tolerance=0.0, time_limit=left)[1]
            self._centre += self.relax * (self._ascent.weights - self._centre)
            now = self._ascent.multipliers()
            duals = now if move == 0 else duals + (now - duals) / (move + 1)
        self._arrived = 0
        solution, weight = self._ascent.solution(False, visits), moves * self.relax * self._t
        return replace(solution, cut_duals=duals, weight=weight)

    def told(self, value: float, dual: float, middle: float) -> None:
        """Balance the step by both halves of the gap around an estimate of the optimum."""
        if self.step is None and self._started and np.isfinite(value):
            over, under = value - middle, max(0.0, middle - dual)
            change = (under / over) ** _POWER if over > 0 else _PACE
            self._stretch(self._t * float(np.clip(change, 1.0 / _PACE, _PACE)))

    def _first_step(self, rows: Cuts) -> float:
        """Return a t of the size of weights that would satisfy a cut evenly."""
        size = self._program.weights.stop - self._program.weights.start
        deltas = rows.deltas(size)
        total = np.asarray(abs(deltas).sum(axis=1)).ravel() * np.abs(rows.factor)
        side = np.abs(np.where(np.isfinite(rows.lower), rows.lower, rows.upper))
        even = np.median(side / np.maximum(total, 1e-300))
        return float(max(even, 1e-12) / _price(self._program).mean())

    def _stretch(self, t: float) -> None:
        ratio, self._t = t / self._t, t
        self._recentre(ratio)

    def _recentre(self, ratio: float) -> None:
        cost = self._program.q[self._program.weights]
        self._ascent.shift(cost - self._centre / self._t, ratio)


def _price(program: Program) -> Floats:
    """Return what a unit of each weight costs where it costs least."""
    cost, l1 = program.q[program.weights], program.l1[program.weights]
    up = np.where(program.ub[program.weights] > 0, cost + l1, np.inf)
    down = np.where(program.lb[program.weights] < 0, l1 - cost, np.inf)
    price = np.minimum(up, down)
    return np.asarray(np.where(np.isfinite(price), price, 1.0))  # a fixed weight costs nothing


def _with_proximal_term(program: Program) -> Program:
    curvature = np.zeros(program.size)
    curvature[program.weights] = 1.0
    return replace(program, P=sp.diags_array(curvature, format="csc"))
