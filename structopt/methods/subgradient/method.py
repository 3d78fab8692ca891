r"""Sub-gradient methods with certified gaps: stochastic, projected, proximal.

    P(w) = R(w) + sum_i c_i max(0, max_y m_i(y) - s_i(y) w . delta_i(y)),      w in W.

A pass asks about every example once and steps along the planes it finds; how it steps depends on R
and W (:mod:`structopt.methods.subgradient.descent`). One plane an example, with weight c_i, is a
point of the dual, so the average of passes is one too: it bounds the optimum from below, as the
exact objective at the model does from above. Averages are taken over windows of passes, each half
as long as all before it together, because the first passes say little about the optimum.
"""

from __future__ import annotations

import time
from typing import Literal, Unpack

import numpy as np

from structopt.arrays import Floats
from structopt.engines.dataset import DataSet
from structopt.errors import InvalidInputError
from structopt.formulations.base import Formulation
from structopt.master.form import HingeForm
from structopt.methods.frank_wolfe.planes import PlaneFinder
from structopt.methods.mean import Mean
from structopt.methods.method import Method
from structopt.methods.subgradient.descent import Ball, Descent, Proximal, Ridge
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
        random_state: Seed | None = None,
        **limits: Unpack[LimitOptions],
    ) -> None:
        super().__init__(structure, formulation, data, **limits)
        self._form = HingeForm.of(self.master, data, self.name, ball=True)
        self._descent = _descent_on(self._form)
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
        share = 1.0 if self.batch is None else min(1.0, self.batch / len(self._present))
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


def _descent_on(form: HingeForm) -> Descent:
    """Return how to descend on what was recognised."""
    if np.isfinite(form.radius):
        return Ball(len(form.lb), form.radius, np.flatnonzero(form.lb == 0))
    return Ridge(form) if form.is_ridge else Proximal(form)
