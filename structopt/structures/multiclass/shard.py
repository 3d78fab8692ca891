"""Rows with gold labels, encoded for a pass: every oracle is one product and some operations a row.

>>> import numpy as np
>>> from structopt.structures.base.oracles import loss_augmented
>>> shard = MulticlassShard(np.eye(2), np.array([0, 1]), np.ones(2))
>>> shard.ask(loss_augmented, np.array([2.0, 0.0, 0.0, 0.0])).outputs
array([0, 0])
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import softmax

from structopt.arrays import Floats, Ints, check_weights
from structopt.structures.base.expectations import Expected
from structopt.structures.base.input_rows import InputRows
from structopt.structures.base.label_costs import gold_is_free, paid, table
from structopt.structures.base.label_problem import LabelProblem
from structopt.structures.base.labelled_shard import LabelledShard
from structopt.structures.base.oracles import (
    Oracle,
    best_other,
    loss_augmented,
    other_augmented,
    slack_rescaled,
    worst,
)
from structopt.structures.base.parts import Directions
from structopt.structures.base.parts_kernels import differing_labels
from structopt.structures.base.shard import Answers
from structopt.structures.multiclass import kernels
from structopt.structures.multiclass.relaxation import MulticlassRelaxation


class MulticlassShard(LabelledShard):
    """Rows with gold labels; outputs are integers.

    Parameters
    ----------
    matrix : array or CSR array of shape (n, d)
    gold : array of int, shape (n,)
    class_weight : array of float, shape (K,)
    start : int
        Number of the first example in messages.
    costs : array of shape (n,) or (n, K), optional
        What a wrong label costs, or each label; by default the class weight of gold.
    """

    inputs_in = "rows"
    each = ("rows", "gold", "cost", "known")

    def __init__(
        self, matrix: Any, gold: Ints, class_weight: Floats, start: int = 0,
        costs: Floats | None = None,
    ) -> None:  # fmt: skip
        self.rows, self.gold = InputRows.of(matrix), gold
        self.cost = class_weight[gold] if costs is None else costs
        self.n_labels, self.n_examples, self.known = len(class_weight), len(gold), None
        self.start = start

    @cached_property
    def base(self) -> Any:
        """The base matrix."""
        return self.rows.base

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every row."""
        return self.answered(oracle, self._scores(weights))

    def answered(self, oracle: Oracle, unary: Floats, steps: Floats | None = None) -> Answers:
        """Answer ``oracle`` from the scores of all labels."""
        if oracle is loss_augmented:
            cost = self.cost.reshape(self.n_examples, -1)
            return Answers(*kernels.loss_augmented(unary, self.gold, cost))
        scores, every = unary, np.arange(self.n_examples)
        if oracle is best_other:
            value = scores.copy()
            value[every, self.gold] = -np.inf
        elif oracle is other_augmented:
            value = scores + self._table()
            value[every, self.gold] = -np.inf
        elif oracle is slack_rescaled:
            gold_score = scores[every, self.gold]
            value = self._table() * (1.0 - (gold_score[:, None] - scores))
        elif oracle is worst:
            value = -scores
        else:
            raise self._unknown(oracle)
        return self._compared(scores, np.argmax(value, axis=1))

    def argmax(self, weights: Floats) -> Answers:
        """Return every row's best label, without the loss."""
        scores = self._scores(weights)
        return self._compared(scores, np.argmax(scores, axis=1))

    def k_best(self, weights: Floats, k: int) -> list[Answers]:
        """Return the k best labels of every row, best first; no more than there are."""
        scores = self._scores(weights)
        order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        return [self._compared(scores, outputs) for outputs in order.T]

    def marginals(self, weights: Floats) -> list[Floats]:
        """Return the probability of each label, for every row."""
        return list(softmax(self._scores(weights), axis=1))

    def expected(self, weights: Floats, loss_weight: float, cost: Floats) -> Expected:
        """Return expectations over all labels."""
        every = np.arange(self.n_examples)
        scores = self._scores(weights)
        loss = self._table()
        value = scores - scores[every, self.gold][:, None] + loss_weight * loss
        top = value.max(axis=1, keepdims=True)
        weight = np.exp(value - top)
        total = weight.sum(axis=1, keepdims=True)
        z = cost[:, None] * (weight / total)
        expected_loss = float((loss * z).sum())
        z[every, self.gold] -= cost
        log_partition = float(cost @ (top + np.log(total))[:, 0])
        return Expected(self.rows.summed(z), expected_loss, log_partition)

    def relaxation(self) -> MulticlassRelaxation:
        """Return all labels as one product of simplices."""
        return MulticlassRelaxation(self.rows.matrix, self.gold, self._table())

    def label_problem(self, oracle: Oracle) -> LabelProblem | None:
        """Return the rows with their labels, for margins of the loss or of 1."""
        if oracle is best_other:
            cost = np.ones(self.n_examples)
        elif oracle is loss_augmented and gold_is_free(self.cost, self.gold):
            cost = self.cost
        else:
            return None
        return LabelProblem(self.rows.csr, None, self.gold, cost, self.n_labels)

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the rows ``which``: plus gold's block, minus the output's."""
        given = (which, self.n_labels, self.rows.n_inputs, self.rows.first)
        return Directions(*differing_labels(self.gold[:, None], outputs[:, None], *given))

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        yield from (self.cost,)

    def _within(self, weights: Floats, allowed: Any) -> Ints:
        held = np.where(allowed, self._scores(weights), -np.inf)
        return np.asarray(np.argmax(held, axis=1))

    def _table(self) -> Floats:
        return table(self.cost, self.gold, self.n_labels)

    def _scores(self, weights: Floats) -> Floats:
        rows = self.rows
        checked = weights if rows.few else check_weights(weights, self.n_labels * rows.n_inputs)
        return rows.scores(checked, self.n_labels)

    def _compared(self, scores: Floats, outputs: Ints) -> Answers:
        """Return outputs with their loss and ``w . delta``."""
        every = np.arange(self.n_examples)
        loss = paid(self.cost, self.gold, outputs)
        return Answers(outputs, loss, scores[every, self.gold] - scores[every, outputs])
