r"""The structured perceptron: predict, and where the prediction is wrong, move towards gold.

    y = argmax_y w . phi(x_i, y);    if y != y_i:    w <- w + eta delta_i(y).

See :class:`Perceptron`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Unpack

import numpy as np

from structopt.arrays import Floats
from structopt.engines.dataset import DataSet
from structopt.formulations.base import Formulation
from structopt.master.declare import RestrictedMaster
from structopt.master.form import HingeForm
from structopt.master.plain import PlainForm, plain_form
from structopt.methods.labels import LabelWeights
from structopt.methods.online.base import Deltas, Online, Passed
from structopt.methods.online.vectors import VectorWalk
from structopt.methods.online.walk import LabelWalk
from structopt.methods.state import State
from structopt.methods.watcher import Iterate
from structopt.parameters import Positive, Seed
from structopt.run.limits import LimitOptions
from structopt.run.result import Result, Stop
from structopt.structures.base.shard import Answers, Shard
from structopt.structures.base.structure import Structure


class Perceptron(Online):
    r"""Structured perceptron, averaged or not.

    .. math::
        \hat y = \arg\max_y w\cdot\phi(x_i, y), \qquad
        w \leftarrow w + \eta\, s_i\, \delta_i(\hat y)
        \quad\text{if } \ell_i(\hat y) > 0

    with the sample weight s_i. For labels of rows (`Multiclass`, `Chain`) an epoch is one compiled
    call over the columns that occur, and one for vectors of labels (`LabelVector`); other
    structures are asked example by example. The formulation is not minimised; its objective at the
    model is reported (see :class:`~structopt.methods.online.base.Online`).

    Parameters
    ----------
    structure, formulation, data, **limits
        See :class:`~structopt.Method`.
    learning_rate : float
        eta. Since w starts at 0 it only sets the scale of the weights, not what they predict.
    average, evaluate, random_state
        See :class:`~structopt.methods.online.base.Online`.

    Notes
    -----
    Collins (2002), Figures 1 and 2. If some unit vector separates the data with margin gamma,
    ``v . delta_i(y) >= gamma`` for all y with a loss, and R bounds ``|delta_i(y)|``, there are at
    most R^2 / gamma^2 mistakes (his Theorem 1, after Novikoff). Then an epoch without any comes:
    status "separated". It is said of the last weights (``current``), which the average need not
    share.

    Examples
    --------
    >>> import structopt as so
    >>> from structopt.methods.online.perceptron import Perceptron
    >>> X, y = so.datasets.make_classes(60, separation=12.0, seed=0)
    >>> structure = so.Multiclass().fitted(X, y)
    >>> result = Perceptron(structure, so.M3N(), so.DataSet.of(structure, X, y)).solve()
    >>> result.status, result.history[-1].violation, structure.predict(X, result.weights) == list(y)
    ('separated', 0.0, True)
    """

    name = "perceptron"
    called = "the perceptron"

    def __init__(
        self,
        structure: Structure,
        formulation: Formulation,
        data: DataSet,
        *,
        learning_rate: Positive = 1.0,
        average: bool = True,
        evaluate: bool = True,
        random_state: Seed | None = None,
        **limits: Unpack[LimitOptions],
    ) -> None:
        super().__init__(
            structure, formulation, data, average=average, evaluate=evaluate,
            random_state=random_state, **limits,
        )  # fmt: skip
        self.learning_rate = learning_rate

    # ------------------------------------------------------------------ labels of rows
    def _declare(self) -> RestrictedMaster:
        """Declare the formulation; without compiling it, where labels of rows are learned."""
        self._plain: PlainForm | None = None
        self._found: LabelWeights | None = None
        self._walk = None if len(self.structure.nonnegative_weights()) else LabelWalk.of(self.data)
        if self._walk is not None:
            master = self._declared()
            form = plain_form(master)
            if not isinstance(form, str):
                self._plain = form
                self._check_abilities(type(self.formulation).__name__, form.oracle)
                master.families[0].oracle = form.oracle
                return master
        return super()._declare()

    def _begin(self) -> None:
        self._vectors: VectorWalk | None = None
        if self._walk is not None:
            self._walk.begin(self.average)
            return
        super()._begin()
        if not len(self.structure.nonnegative_weights()):
            self._vectors = VectorWalk.of(self.data)

    def _recognised(self) -> HingeForm | None:
        return super()._recognised() if self._plain is None else None

    @property
    def current(self) -> Floats:
        """The weights w after the last visit."""
        return super().current if self._walk is None else self._walk.vectors()[0]

    def passed(self) -> Passed:
        """Return what a run on other examples can :meth:`go_on` from."""
        if self._walk is None:
            return super().passed()
        return Passed(*self._walk.vectors(), self.visits, self._random)

    def _set(self, current: Floats, late: Floats) -> None:
        if self._walk is None:
            super()._set(current, late)
        else:
            self._walk.go_on(current, late)

    def model(self) -> Floats:
        """Return the weights to predict with as they stand: averaged if that was asked for."""
        if self._walk is None:
            return super().model()
        return self._walk.labels.widened(self._walk.model(self.visits))

    def _epoch(self) -> tuple[int, float]:
        if self._walk is None and self._vectors is None:
            return super()._epoch()
        order = self._random.permutation(self._present)
        rate = self.learning_rate * self.data.sample_weight
        if self._walk is not None:
            mistakes = self._walk.epoch(order, rate, self.visits)
        else:
            assert self._vectors is not None, "one of the two"
            mistakes = self._vectors.epoch(order, rate, self.visits, self._w, self._late)
        self.visits += len(order)
        return mistakes, 0.0

    def _close(self) -> tuple[float, int]:
        if self._walk is None:
            return super()._close()
        labels, model = self._walk.labels, self._walk.model(self.visits)
        self._check_finite(*model)
        value, residual = np.inf, 0.0
        if self._form is not None:
            value, residual = self._evaluate(labels.widened(model))
        elif self._plain is not None and self._evaluates:
            value = labels.value(self._plain, model).value
        self._found, self._primal, self._residual = model, value, residual
        self._least = min(self._least, value)
        return value, model.nonzeros()

    def _widen(self) -> None:
        """Make the weights as users see them, of the last whole epoch."""
        if self._walk is not None and self._found is not None:
            self._weights = self._walk.labels.widened(self._found)

    def iterate(self) -> Iterate:
        """Return where the last epoch led."""
        self._widen()
        return super().iterate()

    def _snapshot(self) -> Callable[[], Floats]:
        if self._walk is None or self._found is None:
            return super()._snapshot()
        return partial(self._walk.labels.widened, self._found)

    @property
    def state(self) -> State:
        """What the run has found so far."""
        self._widen()
        return super().state

    def _result(self, status: Stop) -> Result:
        self._widen()
        return super()._result(status)

    # ------------------------------------------------------------------ any structure
    def _ask(self, single: Shard) -> list[Answers]:
        return [single.argmax(self.current)]

    def _learn(self, single: Shard, answers: list[Answers], sample_weight: float) -> bool:
        if not answers[0].loss[0] > 0:
            return False
        step = np.array([self.learning_rate * sample_weight])
        self._move(Deltas.of(single, answers), step)
        return True
