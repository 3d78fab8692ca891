r"""Sub-gradient methods with certified gaps: stochastic, projected, proximal.

    P(w) = R(w) + sum_i c_i max(0, max_y m_i(y) - s_i(y) w . delta_i(y)),      w in W.

A pass asks about every example once and steps along the planes it finds; how it steps depends on R
and W (:mod:`structopt.methods.subgradient.descent`). One plane an example, with weight c_i, is a
point of the dual, so the average of passes is one too: it bounds the optimum from below, as the
exact objective at the model does from above. Averages are taken over windows of passes, each half
as long as all before it together, because the first passes say little about the optimum.
"""

from __future__ import annotations

import math
import time
from functools import partial
from typing import Any, Literal, Unpack

import numpy as np

from structopt.arrays import Floats
from structopt.engines.dataset import DataSet
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.formulations.base import Formulation
from structopt.formulations.l1_ball_m3n import L1BallM3N
from structopt.formulations.l2_ball_m3n import L2BallM3N
from structopt.master.declare import RestrictedMaster
from structopt.master.form import HingeForm
from structopt.methods.frank_wolfe.planes import PlaneFinder
from structopt.methods.mean import Mean
from structopt.methods.method import Method
from structopt.methods.subgradient.descent import Ball, Descent, EuclideanBall, Proximal, Ridge
from structopt.parameters import Seed
from structopt.run.events import Round
from structopt.run.limits import LimitOptions
from structopt.structures.base.structure import Structure

_GROWTH = 1.5
"""Each window ends at this multiple of the passes before it. 1.25 / 1.5 / 2 / 3 differ little."""


class Subgradient(Method):
    r"""A sub-gradient run that can be stepped; a round is a pass over the data.

    ======================================  ==================================================
    form                                    steps
    ======================================  ==================================================
    ridge, 1/2 sum p w^2 + hinges           1/t, averaged (:class:`~.descent.Ridge`)
    \|w\|_1 <= radius, hinges               projected (:class:`~.descent.Ball`)
    \|w\|_2 <= radius, hinges               projected (:class:`~.descent.EuclideanBall`)
    l1, elastic net, bounds, + hinges       proximal (:class:`~.descent.Proximal`)
    ======================================  ==================================================

    Parameters
    ----------
    structure, formulation, data, **limits
        See :class:`~structopt.Method`. Sub-gradient methods take many cheap rounds:
        thousands for a relative gap of a few percent.
    batch : int, None or "auto"
        Examples a step; None asks about all at once. "auto" is 1 with a ridge and None otherwise:
        steps of one example need far fewer passes, but a compiled pass over all is ten times
        faster than as many questions.
    learning_rate : callable or float, optional
        Algorithm 2 as printed, on balls: a step of all examples a pass, of length eta_t =
        ``learning_rate(t)``, t = 1, 2, ...; a number stands for ``learning_rate / sqrt(t)``.
        ``max_iter`` is its T. None lets steps find their own length. (The paper returns the last
        iterate; here it is the best, and ``iterate()`` the last.)
    random_state : int, optional
        Seed of the order of examples; None is 0.

    Raises
    ------
    IncompatibleError
        If the formulation is of another form.

    Notes
    -----
    Zhu, Xing and Zhang (2009), Algorithm 2, for :class:`~.l1_ball_m3n.L1BallM3N`; Pegasos with a
    ridge. The model of a round is the window's average with a ridge and the last point otherwise;
    a pass over all examples at once gives the objective where it asks, every other model costs a
    pass of its own. A record's `value` and `violation` are the objective and the largest hinge of
    the weights evaluated last, `iterations` the steps of the round.

    Examples
    --------
    >>> import structopt as so
    >>> from structopt.methods.subgradient.method import Subgradient
    >>> X, y = so.datasets.make_classes(60, seed=0)
    >>> structure = so.Multiclass().fitted(X, y)
    >>> data = so.DataSet.of(structure, X, y)
    >>> run = Subgradient(structure, so.LPStruct(C=0.1, nonnegative=False), data, tol=0.05)
    >>> first = run.step()
    >>> first.round, first.dual <= first.primal
    (1, True)
    >>> run.solve().certificate.certified
    True
    """

    name = "subgradient"

    def __init__(
        self,
        structure: Structure,
        formulation: Formulation,
        data: DataSet,
        *,
        batch: int | Literal["auto"] | None = "auto",
        learning_rate: Any = None,
        random_state: Seed | None = None,
        **limits: Unpack[LimitOptions],
    ) -> None:
        super().__init__(structure, formulation, data, **limits)
        self._form = HingeForm.of(self.master, data, self.name, ball=True)
        self._descent = self._descends(learning_rate)
        if batch == "auto":
            batch = 1 if self._descent.averages else None
        if batch is not None and not (isinstance(batch, int) and batch >= 1):
            raise InvalidInputError(
                f'batch must be a whole number >= 1, None or "auto"; got {batch!r}.'
            )
        if batch is not None:
            data.single(0)  # refused here, before any work, where examples cannot be had one by one
        self.batch = batch
        self._finder = PlaneFinder(data, self._form)
        self._present = np.flatnonzero(self._form.cost > 0)
        self._random = np.random.default_rng(0 if random_state is None else random_state)
        self._window = _Window(0, 1)
        self._value, self._violation, self._asking = np.inf, 0.0, 0.0

    def _declare(self) -> RestrictedMaster:
        """Declare the formulation; of an l2 ball its hinges, with an l1 ball in its place."""
        wanted = self.formulation
        self._euclidean = isinstance(wanted, L2BallM3N) and type(wanted).master is L2BallM3N.master
        if not self._euclidean:
            return super()._declare()
        try:
            self.formulation = L1BallM3N(wanted.radius)  # type: ignore[attr-defined]
            return super()._declare()
        finally:
            self.formulation = wanted

    def _descends(self, learning_rate: Any) -> Descent:
        """Return how to descend on what was recognised."""
        form = self._form
        rate = learning_rate
        if isinstance(rate, int | float) and not isinstance(rate, bool):
            rate = partial(_falling, float(learning_rate))
        if rate is not None and not callable(rate):
            raise InvalidInputError(
                f"learning_rate is {learning_rate!r}; give a number > 0, or a function of t = 1, 2."
            )
        if np.isfinite(form.radius):
            kind = EuclideanBall if self._euclidean else Ball
            return kind(len(form.lb), form.radius, np.flatnonzero(form.lb == 0), rate)
        if rate is not None:
            raise IncompatibleError(
                "learning_rate is for weights on a ball (L1BallM3N, L2BallM3N), where the paper "
                "has it; steps of other formulations find their own length."
            )
        return Ridge(form) if form.is_ridge else Proximal(form)

    # ------------------------------------------------------------------ running
    def step(self) -> Round:
        """Do one round and return its record."""
        start, self._asking, passed = time.perf_counter(), 0.0, len(self.history)
        descent = self._descent
        if not self.history:
            self._begin()
        if passed == self._window.end:
            end = int(_GROWTH * passed) + 1
            self._window = _Window(passed, end)
            descent.renew()
        weight = descent.enter(self._window.done(passed))
        if self.batch is None:
            steps, margin, pull, mean = self._at_once()
        else:
            steps, margin, pull, mean = self._in_batches(self.batch)
        self._window.mean.add(weight, margin, pull, mean)
        margin, pull, mean = self._window.mean.values()
        self._raise(margin, pull)
        model = mean if descent.averages else descent.point
        if self.batch is not None or descent.averages:
            self._evaluate(model)
        return self._record(
            value=self._value,
            violation=self._violation,
            nonzeros=int(np.count_nonzero(model)),
            iterations=steps,
            oracle_seconds=self._asking,
            solve_seconds=time.perf_counter() - start - self._asking,
        )

    # ------------------------------------------------------------------ the parts of a round
    def _begin(self) -> None:
        """Ask about all examples at the starting point."""
        margin, pull = self._evaluate(self._descent.point)
        self._raise(margin, pull)
        present = max(1, len(self._present))
        share = 1.0 if self.batch is None else min(1.0, self.batch / present)
        self._descent.begin(margin, pull, share)

    def _at_once(self) -> tuple[int, float, Floats, Floats]:
        """Do one step of all examples; return 1, M, V and where it was."""
        point = self._descent.point.copy()
        margin, pull = self._evaluate(point)
        self._descent.step(pull, 1.0)
        return 1, margin, pull, point

    def _in_batches(self, size: int) -> tuple[int, float, Floats, Floats]:
        """Step batch by batch; return the number of steps, M, V and the mean point."""
        descent, cost, clock = self._descent, self._form.cost, time.perf_counter
        margin, total, mean = 0.0, np.zeros_like(descent.point), np.zeros_like(descent.point)
        order = self._random.permutation(self._present)
        starts = range(0, len(order), size)
        for start in starts:
            batch = order[start : start + size]
            share = len(batch) / len(order)
            pull = np.zeros_like(descent.point)
            began = clock()
            for i in batch.tolist():
                found = self._finder.one(i, descent.point)
                if found is not None:
                    margin += cost[i] * float(found.margins[0])
                    self._finder.pull(found, out=pull)
            self._asking += clock() - began
            mean += share * descent.point
            total += pull
            descent.step(pull, share)
        return len(starts), margin, total, mean

    def _evaluate(self, weights: Floats) -> tuple[float, Floats]:
        """Offer weights with their exact objective; return M and V of the planes there."""
        start = time.perf_counter()
        answers = self.data.ask(self._form.oracle, weights)
        found = self._form.at(weights, answers)
        self._value = found.value
        self._violation = float(found.hinges[self._present].max(initial=0.0))
        self._proven = self._proven and found.exact
        self._offer(weights, self._value, self._descent.residual(weights))
        planes = self._finder.all(answers)
        margin = float(self._form.cost[planes.examples] @ planes.margins)
        pull = self._finder.pull(planes)
        self._asking += time.perf_counter() - start
        return margin, pull

    def _raise(self, margin: float, pull: Floats) -> None:
        """Raise the lower bound to that of M and V."""
        self._dual = max(self._dual, self._descent.bound(margin, pull))


class _Window:
    """Some passes whose M, V and points are averaged."""

    def __init__(self, start: int, end: int) -> None:
        self.start, self.end, self.mean = start, end, Mean()

    def done(self, passed: int) -> float:
        """Return how far into the window the middle of the next pass is."""
        return (passed - self.start + 0.5) / (self.end - self.start)


def _falling(first: float, t: int) -> float:
    return first / math.sqrt(t)
