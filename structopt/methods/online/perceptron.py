r"""The structured perceptron: predict, and where the prediction is wrong, move towards gold.

    y = argmax_y w . phi(x_i, y);    if y != y_i:    w <- w + eta delta_i(y).

See :class:`Perceptron`.
"""

from __future__ import annotations

from typing import Unpack

import numpy as np

from structopt.engines.dataset import DataSet
from structopt.formulations.base import Formulation
from structopt.methods.online.base import Deltas, Online
from structopt.parameters import Positive, Seed
from structopt.run.limits import LimitOptions
from structopt.structures.base.shard import Answers, Shard
from structopt.structures.base.structure import Structure


class Perceptron(Online):
    r"""Structured perceptron, averaged or not.

    .. math::
        \hat y = \arg\max_y w\cdot\phi(x_i, y), \qquad
        w \leftarrow w + \eta\, s_i\, \delta_i(\hat y)
        \quad\text{if } \ell_i(\hat y) > 0

    with the sample weight s_i. The formulation is not minimised; its objective at the model is
    reported (see :class:`~structopt.methods.online.base.Online`).

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

    def _ask(self, single: Shard) -> list[Answers]:
        return [single.argmax(self.current)]

    def _learn(self, single: Shard, answers: list[Answers], sample_weight: float) -> bool:
        if not answers[0].loss[0] > 0:
            return False
        step = np.array([self.learning_rate * sample_weight])
        self._move(Deltas.of(single, answers), step)
        return True
