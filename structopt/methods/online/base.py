r"""Learning one example at a time: what the perceptron and MIRA share.

An epoch visits every example once, in random order, and moves the weights where the answer of the
oracle asks for it:

    w <- w + sum_r tau_r delta_i(y_r),    delta_i(y) = phi(x_i, y_i) - phi(x_i, y).

The model is the average of w over all N visits. An update by d in visit j is part of N - j + 1 of
them, so the sum need not be formed:

    w_avg = w - u / N,    u <- u + (j - 1) d    with every update    (an update costs its nonzeros).

>>> import numpy as np
>>> d = {1: 4.0, 3: 2.0}  # one weight, N = 4 visits, updates in the first and the third
>>> w = np.cumsum([d.get(j, 0.0) for j in (1, 2, 3, 4)])
>>> float(w.mean()), float(w[-1] - sum((j - 1) * step for j, step in d.items()) / 4)
(5.0, 5.0)
"""

from __future__ import annotations

import copy
import logging
import time
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Unpack

import numpy as np

from structopt.arrays import Floats
from structopt.engines.dataset import DataSet
from structopt.errors import IncompatibleError, InvalidInputError, StructoptError
from structopt.formulations.base import Formulation
from structopt.master.form import HingeForm
from structopt.methods.method import Method
from structopt.parameters import Seed
from structopt.run.certificate import FEASIBLE
from structopt.run.events import Round
from structopt.run.limits import LimitOptions
from structopt.run.result import Result, Stop
from structopt.structures.base.parts import Directions
from structopt.structures.base.parts_kernels import add_to, products
from structopt.structures.base.shard import Answers, Shard
from structopt.structures.base.structure import Structure

logger = logging.getLogger(__name__)

_ONLY = np.zeros(1, dtype=np.int64)  # the one example of a single shard


class Deltas(NamedTuple):
    """The directions delta of some outputs of one example."""

    directions: Directions
    base: Any

    @classmethod
    def of(cls, single: Shard, answers: Sequence[Answers]) -> Deltas:
        """Return delta of the answers that a shard of one example gave."""
        found = [single.directions(a.outputs, _ONLY) for a in answers]
        return cls(found[0] if len(found) == 1 else Directions.concatenate(found), single.base)

    def add_to(self, weights: Floats, multipliers: Floats) -> None:
        """Add ``sum_r multipliers_r delta_r`` to weights, in place."""
        add_to(weights, multipliers, *self._arrays())

    def products(self, scratch: Floats) -> Floats:
        """Return delta_r . delta_s for all pairs; ``scratch`` is a zero vector, and stays one."""
        return np.asarray(products(scratch, *self._arrays()))

    def _arrays(self) -> tuple[Any, ...]:
        d, base = self.directions, self.base
        return d.ptr, d.source, d.offset, d.coef, base.indptr, base.indices, base.data


class Passed(NamedTuple):
    """What a run of visits leaves to the next one: the weights, u, visits so far, what is drawn."""

    current: Floats
    late: Floats
    visits: int
    random: np.random.Generator


class Online(Method):
    r"""Base of the methods that visit examples one at a time; a round is an epoch.

    They minimise no objective, so what they return differs from other methods in three ways. The
    model is the one after the last whole epoch, whatever the formulation's objective says of it.
    There is no lower bound (`dual` is -inf) and the certificate never holds; its `primal` is the
    objective of the model if the formulation is a regulariser plus hinges
    (:mod:`structopt.master.form`) whose bounds the weights keep, else inf. And the run ends
    with the status "separated" when an epoch made no mistake: the weights did not move, and never
    will again. What counts as a mistake the method says: a wrong prediction, or a margin not met.

    In a :class:`~structopt.Round`, `violation` and `iterations` are the epoch's number of
    mistakes, `primal` is the lowest objective of any epoch's model and `value` that of this one,
    `oracle_seconds` is the time of all decoding, and `solve_seconds` that of everything else; where
    an epoch is one compiled call, all of it counts as the latter.

    Parameters
    ----------
    structure, formulation, data, **limits
        See :class:`~structopt.Method`.
    average : bool
        Whether the model is the average of the weights over all visits, or the last weights.
    evaluate : bool
        Whether the objective is computed after every epoch, at the cost of another pass over the
        data; without it `primal` and `value` are inf.
    random_state : int, optional
        Seed of the order of visits; None is 0.
    """

    rounds = 20
    called: ClassVar[str]
    """The method in a sentence."""

    def __init__(
        self,
        structure: Structure,
        formulation: Formulation,
        data: DataSet,
        *,
        average: bool = True,
        evaluate: bool = True,
        random_state: Seed | None = None,
        **limits: Unpack[LimitOptions],
    ) -> None:
        if "argmax" not in structure.abilities():
            raise IncompatibleError(
                f"The method {self.name!r} needs 'argmax' against one gold output; "
                f"{type(structure).__name__} offers {sorted(structure.abilities())}."
            )
        super().__init__(structure, formulation, data, **limits)
        data.single(0)  # refused here, before any work, where examples cannot be had one by one
        self.average = average
        self.visits = 0
        self._begin()
        self._random = np.random.default_rng(0 if random_state is None else random_state)
        self._present = np.flatnonzero(data.sample_weight > 0)
        self._kept = structure.nonnegative_weights()
        self._least = np.inf
        self._evaluates = evaluate
        self._form: HingeForm | None = self._recognised() if evaluate else None

    def _begin(self) -> None:
        """Set w and u to 0."""
        self._w: Floats = np.zeros(self.data.n_features)
        self._late: Floats = np.zeros(self.data.n_features if self.average else 0)  # u

    def _set(self, current: Floats, late: Floats) -> None:
        """Set w and u."""
        self._w, self._late = current.copy(), late.copy()

    def _recognised(self) -> HingeForm | None:
        try:
            return HingeForm.of(self.master, self.data, self.name)
        except IncompatibleError as reason:
            logger.info("no objective is reported: %s", reason)
            return None

    @property
    def current(self) -> Floats:
        """The weights w after the last visit."""
        return self._w

    # ------------------------------------------------------------------ what a method says
    @abstractmethod
    def _ask(self, single: Shard) -> list[Answers]:
        """Ask about one example at the current weights."""

    @abstractmethod
    def _learn(self, single: Shard, answers: list[Answers], sample_weight: float) -> bool:
        """Move the weights if the answers are a mistake, and say whether they are."""

    def _move(self, deltas: Deltas, multipliers: Floats) -> None:
        """Do ``w += sum_r multipliers_r delta_r``; weights that must stay >= 0 are raised to 0."""
        deltas.add_to(self._w, multipliers)
        if self.average:
            deltas.add_to(self._late, self.visits * multipliers)
        if len(self._kept):
            short = np.minimum(self._w[self._kept], 0.0)
            self._w[self._kept] -= short
            if self.average:
                self._late[self._kept] -= self.visits * short

    # ------------------------------------------------------------------ one run after another
    def passed(self) -> Passed:
        """Return what a run on other examples can :meth:`go_on` from."""
        return Passed(self._w, self._late, self.visits, self._random)

    def go_on(self, passed: Passed) -> None:
        """Begin where an earlier run, of the same method and weights, ended."""
        self._set(passed.current, passed.late)
        self.visits, self._random = passed.visits, copy.deepcopy(passed.random)

    # ------------------------------------------------------------------ running
    def step(self) -> Round:
        """Do one epoch and return its record."""
        start = time.perf_counter()
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # seen below, where it matters
                mistakes, asking = self._epoch()
        except (KeyboardInterrupt, StructoptError):
            if not self.history:  # half an epoch is better than nothing
                self._weights = self.model()
            raise
        visited = time.perf_counter()
        value, nonzeros = self._close()
        evaluated = time.perf_counter()
        return self._record(
            primal=self._least,
            value=value,
            violation=float(mistakes),
            nonzeros=nonzeros,
            iterations=mistakes,
            oracle_seconds=asking + (evaluated - visited),
            solve_seconds=visited - start - asking,
        )

    def solve(self) -> Result:
        """Step until an epoch makes no mistake, the budget is spent, or interrupted."""
        try:
            return super().solve()
        except StructoptError as error:
            if self.visits:
                error.result = self._result("stalled")
            raise

    def model(self) -> Floats:
        """Return the weights to predict with as they stand: averaged if that was asked for."""
        if not self.average or self.visits == 0:
            return self._w.copy()
        model = self._w - self._late / self.visits
        model[self._kept] = np.maximum(model[self._kept], 0.0)  # an average, up to rounding
        return model

    def _epoch(self) -> tuple[int, float]:
        """Visit every example; return the number of mistakes and the seconds of decoding."""
        mistakes, asking, clock = 0, 0.0, time.perf_counter
        weight, single = self.data.sample_weight.tolist(), self.data.single
        for i in self._random.permutation(self._present).tolist():
            example = single(i)
            before = clock()
            answers = self._ask(example)
            asking += clock() - before
            mistakes += self._learn(example, answers, weight[i])
            self.visits += 1
        return mistakes, asking

    def _close(self) -> tuple[float, int]:
        """End an epoch: keep its model; return its objective and how many weights are not 0."""
        model = self.model()
        self._check_finite(model)
        value, residual = self._evaluate(model)
        self._offer(model, value, residual)
        return value, int(np.count_nonzero(model))

    def _check_finite(self, *weights: Floats) -> None:
        if not all(np.isfinite(part).all() for part in weights):
            raise InvalidInputError(
                f"The weights overflowed in epoch {len(self.history) + 1}: scale the inputs down."
            )

    def _evaluate(self, model: Floats) -> tuple[float, float]:
        """Return the formulation's objective, and the violation of its bounds."""
        form = self._form
        if form is None:
            return np.inf, 0.0
        beyond = float(np.maximum(form.lb - model, model - form.ub).max(initial=0.0))
        residual = beyond / max(float(np.abs(model).max(initial=0.0)), 1e-300)
        return (form.value(model, self.data) if residual <= FEASIBLE else np.inf), residual

    def _offer(self, weights: Floats, value: float, residual: float = 0.0) -> None:
        """Keep the weights: the last ones are the model, whatever their objective."""
        self._weights, self._primal, self._residual = weights.copy(), value, residual
        self._least = min(self._least, value)

    # ------------------------------------------------------------------ what the result says
    def _stalled(self) -> bool:
        return self.history[-1].iterations == 0

    def _result(self, status: Stop) -> Result:
        done = status == "stalled" and bool(self.history) and self._stalled()
        return super()._result("separated" if done else status)

    def _certain(self) -> bool:
        return False

    def _note(self) -> str:
        return f"{self.called} minimises no objective; no certificate exists"
