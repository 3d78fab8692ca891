r"""Vectors of labels encoded for a pass: scores of all labels at once, decoded by compiled loops.

>>> import numpy as np
>>> from structopt.structures.base.oracles import loss_augmented
>>> gold, none = np.array([[0, 1]]), np.zeros((0, 2), dtype=np.int64)
>>> shard = LabelVectorShard(np.ones((1, 2, 1)), gold, np.ones(2), none)
>>> shard.ask(loss_augmented, np.array([2.0, 0.0, 0.0, 0.0])).outputs
array([[0, 0]])
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Self

import numpy as np

from structopt.arrays import Floats, Ints, check_weights
from structopt.structures.base.input_rows import InputRows
from structopt.structures.base.label_costs import augmented, paid
from structopt.structures.base.labelled_shard import LabelledShard
from structopt.structures.base.oracles import Oracle, best_other, loss_augmented, worst
from structopt.structures.base.parts import Directions
from structopt.structures.base.parts_kernels import differing_labels
from structopt.structures.base.shard import Answers
from structopt.structures.label_vector import kernels


class LabelVectorShard(LabelledShard):
    """Stacked examples, decoded by compiled loops.

    Parameters
    ----------
    inputs : array of shape (n, c, d)
    gold : array of int, shape (n, c)
    class_weight : array of float, shape (K,)
    legal : array of int, shape (L, c)
        Empty if every vector is legal.
    start : int
        Number of the first example in messages.
    costs : array of shape (n, c) or (n, c, K), optional
        What a wrong label costs, or each label; by default the class weight of gold.
    """

    each = ("inputs", "gold", "cost", "known")

    def __init__(
        self, inputs: Floats, gold: Ints, class_weight: Floats, legal: Ints, start: int = 0,
        costs: Floats | None = None,
    ) -> None:  # fmt: skip
        self.inputs, self.gold, self.legal = inputs, gold, legal
        self.cost = class_weight[gold] if costs is None else costs
        self.n_examples, self.n_labels, self.start = len(inputs), len(class_weight), start
        self.rows = InputRows.of(inputs.reshape(-1, inputs.shape[2]))
        self.first, self.known = 0, None  # the first of the rows of base

    @cached_property
    def base(self) -> Any:
        """The base matrix."""
        return self.rows.base

    def part(self, a: int, b: int) -> Self:
        """Return examples a to b - 1 as a shard over the same base."""
        part = super().part(a, b)
        part.first = self.first + a * self.inputs.shape[1]
        return part

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every example; outputs are rows of integers."""
        scores = self._scores(weights)
        if oracle is loss_augmented:
            raised = augmented(scores, self.gold, self.cost)
            return self._compared(scores, kernels.best(raised, self.legal))
        if oracle is worst:
            return self._compared(scores, kernels.best(-scores, self.legal))
        if oracle is best_other:
            return self._best_other(scores)
        raise self._unknown(oracle)

    def argmax(self, weights: Floats) -> Answers:
        """Return every example's best vector, without the loss."""
        scores = self._scores(weights)
        return self._compared(scores, kernels.best(scores, self.legal))

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        yield from (self.legal, self.cost)

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the examples ``which``: the components in which they differ from gold."""
        return Directions(
            *differing_labels(
                self.gold, outputs, which, self.n_labels, self.inputs.shape[2], self.first
            )
        )

    def _scores(self, weights: Floats) -> Floats:
        """Return the score of every label at every component: (n, c, K)."""
        if not self.few:
            weights = check_weights(weights, int(self.n_labels * np.prod(self.inputs.shape[1:])))
        return np.asarray(kernels.scores(self.inputs, weights, self.n_labels))

    def _within(self, weights: Floats, allowed: Any) -> Ints:
        held = np.where(allowed, self._scores(weights), -np.inf)
        return np.asarray(kernels.best(held, self.legal))

    def _best_other(self, scores: Floats) -> Answers:
        place = self.gold[:, :, None]
        if len(self.legal):
            rest = [self.legal[np.any(self.legal != gold, axis=1)] for gold in self.gold]
            found = [
                kernels.best(scores[i : i + 1], legal)[0] if len(legal) else self.gold[i]
                for i, legal in enumerate(rest)
            ]
            answers = self._compared(scores, np.stack(found))
            answers.score[[len(legal) == 0 for legal in rest]] = np.inf
            return answers
        outputs = np.argmax(scores, axis=2)
        same = np.flatnonzero(np.all(outputs == self.gold, axis=1))
        others = scores[same].copy()  # give way where it costs least
        np.put_along_axis(others, place[same], -np.inf, axis=2)
        kept = np.take_along_axis(scores[same], place[same], axis=2)[:, :, 0]
        where = np.argmin(kept - others.max(axis=2), axis=1)
        outputs[same, where] = np.argmax(others, axis=2)[np.arange(len(same)), where]
        answers = self._compared(scores, outputs)
        if self.n_labels == 1:
            answers.score[:] = np.inf
        return answers

    def _compared(self, scores: Floats, outputs: Ints) -> Answers:
        """Return outputs with their loss and ``w . delta``."""
        score = kernels.compare(scores, self.gold, outputs)
        return Answers(outputs, paid(self.cost, self.gold, outputs).sum(axis=1), score)
