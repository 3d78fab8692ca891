"""What the methods on the saddle-point form share: values of P, rounds of iterations, notes."""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import Any, Unpack

import numpy as np

from structopt.arrays import Floats
from structopt.engines.dataset import DataSet
from structopt.formulations.base import Formulation
from structopt.methods.mean import Mean
from structopt.methods.method import UNPROVEN, Method
from structopt.methods.saddle.form import SaddleForm
from structopt.methods.watcher import Iterate
from structopt.run.events import Round
from structopt.run.limits import LimitOptions
from structopt.structures.base.structure import Structure

_FIRST, _GROWTH = 10, 0.2
"""Iterations of the first round, and by how much a round may prolong the run: passes stay few, and
at most a sixth of the iterations comes after the tolerance is reached."""
_LONGEST = 1e12
"""Step size beyond which steps grow no more."""
_IDLE = 20
"""Rounds, so up to 38 times the iterations before, in which the gap must fall by a hundredth."""


class SaddleMethod(Method):
    """Base of the methods that solve min over w in W, max over z in Z of L(w, z).

    Parameters
    ----------
    structure, formulation, data, **limits
        See :class:`~structopt.Method`. The formulation is `M3N` or another with a quadratic
        regulariser and margin-rescaled hinges.
    """

    def __init__(
        self,
        structure: Structure,
        formulation: Formulation,
        data: DataSet,
        **limits: Unpack[LimitOptions],
    ) -> None:
        super().__init__(structure, formulation, data, **limits)
        self._form = SaddleForm(self.master, data, self.name)
        self._integral = True

    def _judge(self, weights: Floats) -> Iterate:
        """Evaluate P by an exact pass and offer the weights."""
        weights, residual = self._form.inside(weights)
        found = self._form.primal(weights)
        self._proven = self._proven and found.exact
        judged = Iterate(weights, found.value, residual)
        self._offer(*judged)
        return judged

    def _raise(self, gradient: Floats, loss: float) -> float:
        """Raise the lower bound to D at a point of Z, or to 0, since no term of P is below it."""
        bound = self._form.dual(gradient, loss)
        self._dual = max(self._dual, bound, 0.0)
        return bound

    def _certain(self) -> bool:
        return self._proven and self._integral

    def _note(self) -> str:
        notes = {
            "without a regulariser the only lower bound is 0": self._form.held,
            "the relaxation has fractional vertices: the lower bound is its own": self._integral,
            UNPROVEN: self._proven,
        }
        return "; ".join(note for note, fine in notes.items() if not fine)


class IteratedSaddle(SaddleMethod):
    """Base of those that iterate: a round is some iterations, then a certificate.

    Rounds grow with the run. At the end of each the last iterate and the mean of those since the
    last round are judged.
    """

    iterations = 0
    """Iterations done."""
    step_size: float
    """The length of the steps, which adapts itself."""
    _now: Any  # the last iterate
    _mean: Mean  # of this round's predictions
    _length = np.inf  # of the last step
    _solving = 0.0  # seconds in projections or sums
    _here: Iterate  # the better of what the last round judged

    def step(self) -> Round:
        """Do one round and return its record."""
        start, before, solving = time.perf_counter(), self.iterations, self._solving
        for _ in range(self._iterations()):
            self._iterate()
            if self.limits.reached(self._elapsed()):
                break
        mean, primal = self._averaged(), self._primal
        asking = time.perf_counter()
        judged = [self._judge(point.w) for point in (self._now, mean)]
        self._here = min(judged, key=lambda found: found.value)
        asked = time.perf_counter()
        self._conclude(mean, fell=self._primal < primal)
        solving = self._solving - solving
        return self._record(
            value=self._here.value,
            violation=self._length / self.step_size,
            nonzeros=int(np.count_nonzero(self._now.w)),
            iterations=self.iterations - before,
            oracle_seconds=asked - asking,
            lift_seconds=time.perf_counter() - start - solving - (asked - asking),
            solve_seconds=solving,
        )

    @property
    def current(self) -> Floats:
        """The weights of the last iterate."""
        weights: Floats = self._now.w
        return weights

    def iterate(self) -> Iterate:
        """Return the better of what the last round judged."""
        return self._here

    def _iterations(self) -> int:
        """Return how many the next round does: rounds grow with the run."""
        return max(_FIRST, int(_GROWTH * self.iterations))

    def _shorten(self, r: float) -> None:
        """Shorten the step that was refused for its r, by the rule of the paper."""
        self.step_size *= 2.0 / 3.0 * min(1.0, 1.0 / r)

    def _accept(self, r: float, most: float) -> None:
        """Count an iteration, and lengthen steps whose r is far below what is accepted.

        Where nothing moves any more every r is small, and steps would grow out of all bounds.
        """
        self.iterations += 1
        if r < 0.7 * most and self.step_size < _LONGEST:
            self.step_size *= 1.2

    def _stalled(self) -> bool:
        if len(self.history) <= _IDLE:
            return False
        before = self.history[-1 - _IDLE]
        return not self._primal - self._dual < 0.99 * (before.primal - before.dual)

    @abstractmethod
    def _iterate(self) -> None:
        """Do one iteration: predict until the step is short enough, correct, average."""

    @abstractmethod
    def _averaged(self) -> Any:
        """Return the mean of this round's predictions, as a point."""

    @abstractmethod
    def _conclude(self, mean: Any, *, fell: bool) -> None:
        """Raise the lower bound, rebalance the sides and begin the next round's mean."""
