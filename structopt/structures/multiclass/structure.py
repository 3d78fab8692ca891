r"""One label per example, chosen among K.

    phi(x, y) = x in block y of K blocks,    loss(gold, y) = class_weight[gold] * [y != gold].

Equally good labels: the one that stands first in ``labels_`` wins.

>>> import numpy as np, structopt as so
>>> X, Y = np.array([[1.0, 0.0], [0.0, 1.0]]), ["cat", "dog"]
>>> structure = so.Multiclass().fitted(X, Y)
>>> structure.predict(X, np.array([1.0, 0.0, 0.0, 1.0]))
['cat', 'dog']
>>> structure.joint_features(X[1], "dog").toarray()
array([[0., 0., 0., 1.]])
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import softmax

from structopt.arrays import (
    Floats,
    Ints,
    as_matrix,
    base_matrix,
    check_columns,
    check_weights,
    first_not_finite,
)
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.structures.base.expectations import Expected
from structopt.structures.base.labels import LabelSet
from structopt.structures.base.oracles import (
    Oracle,
    best_other,
    loss_augmented,
    slack_rescaled,
    worst,
)
from structopt.structures.base.parts import Directions
from structopt.structures.base.shard import Answers, Shard
from structopt.structures.base.structure import Structure, check_lengths
from structopt.structures.multiclass.relaxation import MulticlassRelaxation


class Multiclass(Structure):
    r"""One of K labels.

    Parameters
    ----------
    labels : sequence, optional
        Every label that can occur, in the order wanted; by default those of the data, sorted.
    class_weight : mapping, "balanced" or None
        Factor of the loss where a label is gold.

    Attributes
    ----------
    labels_ : LabelSet
    n_inputs_ : int
        Columns of X.
    n_features_ : int
        K * n_inputs_ weights, label-major.
    """

    releases_gil: ClassVar[bool] = True

    labels_: LabelSet
    n_inputs_: int
    class_weight_: Floats

    def __init__(
        self,
        labels: Sequence[Any] | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
    ) -> None:
        self.labels = labels
        self.class_weight = class_weight

    def fitted(self, X: Any, Y: Any) -> Self:
        """Return a copy that knows the labels, their weights and the dimension."""
        check_lengths(X, Y)
        matrix = self._matrix(X, None)
        fitted = copy.copy(self)
        found = LabelSet.from_data([y] for y in Y) if self.labels is None else LabelSet(self.labels)
        if len(found) < 2:
            raise InvalidInputError(
                f"The only label is {found[0]!r}: Multiclass needs at least two; declare those "
                "that do not occur in the data with labels=[...]."
            )
        fitted.labels_ = found
        fitted.class_weight_ = found.weights(self.class_weight, found.encode(Y))
        fitted.n_inputs_ = matrix.shape[1]
        fitted.n_features_ = len(found) * fitted.n_inputs_
        return fitted

    def encode(self, X: Any, Y: Any, *, start: int = 0) -> MulticlassShard:
        """Encode examples with their gold labels; ``start`` numbers the first in messages."""
        check_lengths(X, Y)
        gold = self.labels_.encode(Y, start=start)
        return MulticlassShard(self._matrix(X, self.n_inputs_, start), gold, self.class_weight_)

    def joint_features(self, x: Any, y: Any) -> Any:
        """Return x in the block of label y, as one sparse row."""
        row = sp.csr_array(self._row(x))
        shift = self.labels_.encode([y])[0] * self.n_inputs_
        moved = (row.data, row.indices + shift, row.indptr)
        return sp.csr_array(moved, shape=(1, self.n_features_))

    def loss(self, y: Any, other: Any) -> float:
        """Return the weight of y's class if ``other`` is another label, else 0."""
        gold, predicted = self.labels_.encode([y, other])
        return float(self.class_weight_[gold]) if gold != predicted else 0.0

    def argmax(self, x: Any, weights: Floats, *, gold: Any = None) -> Any:
        """Return the best label, loss-augmented if gold is given."""
        if gold is not None:
            return self._answer(loss_augmented, x, weights, gold)
        return self.predict(self._row(x), weights)[0]

    def argmin(self, x: Any, weights: Floats) -> Any:
        """Return the label with the lowest score."""
        return self.predict(self._row(x), -np.asarray(weights))[0]

    def second_best(self, x: Any, weights: Floats, gold: Any) -> Any:
        """Return the best label other than gold."""
        return self._answer(best_other, x, weights, gold)

    def k_best(self, x: Any, weights: Floats, k: int) -> list[Any]:
        """Return the k best labels, best first."""
        order = np.argsort(-self._scores(self._row(x), weights)[0], kind="stable")
        return self.labels_.decode(order[:k])

    def slack_rescaled(self, x: Any, weights: Floats, gold: Any) -> Any:
        """Return the label that maximises ``loss * (1 - w . delta)``."""
        return self._answer(slack_rescaled, x, weights, gold)

    def predict(self, X: Any, weights: Floats) -> list[Any]:
        """Return the best label of every row."""
        if isinstance(X, list) and not X:
            return []
        scores = self._scores(self._matrix(X, self.n_inputs_), weights)
        return self.labels_.decode(np.argmax(scores, axis=1))

    def marginals(self, X: Any, weights: Floats) -> list[Floats]:
        """Return the probability of each label, for every row."""
        return list(softmax(self._scores(self._matrix(X, self.n_inputs_), weights), axis=1))

    def part_count(self, y: Any) -> int:
        """Return 1: a label is right or wrong."""
        return 1

    def feature_names(self, inputs: Sequence[str] | None = None) -> list[tuple[str, str]]:
        """Return ``(input, label)`` for each weight; inputs are x0, x1, ... unless named."""
        names = [f"x{j}" for j in range(self.n_inputs_)] if inputs is None else list(inputs)
        return [(name, str(label)) for label in self.labels_ for name in names]

    def _answer(self, oracle: Oracle, x: Any, weights: Floats, gold: Any) -> Any:
        answers = self.encode(self._row(x), [gold]).ask(oracle, weights)
        return self.labels_.decode(answers.outputs)[0]

    def _scores(self, matrix: Any, weights: Any) -> Floats:
        vector = check_weights(weights, self.n_features_)
        return np.asarray(matrix @ vector.reshape(len(self.labels_), -1).T)

    def _row(self, x: Any) -> Any:
        return x.reshape(1, -1) if sp.issparse(x) else np.reshape(x, (1, -1))

    def _matrix(self, X: Any, n_inputs: int | None, start: int = 0) -> Any:
        rows = isinstance(X, Sequence) and len(X) > 0 and any(sp.issparse(x) for x in X)
        matrix = as_matrix(sp.vstack([self._row(x) for x in X]) if rows else X)
        check_columns(matrix, matrix.shape[1] if n_inputs is None else n_inputs, name="X")
        bad = first_not_finite(matrix)
        if bad is not None:
            raise InvalidInputError(
                f"Input of example {start + bad[0]} holds {bad[2]} in column {bad[1]}: replace or "
                "drop what is not finite.",
                example=start + bad[0],
            )
        return matrix


class MulticlassShard(Shard):
    """Rows with gold labels; every oracle is one product and a few array operations."""

    def __init__(self, matrix: Any, gold: Ints, class_weight: Floats) -> None:
        self.matrix, self.gold, self.cost = matrix, gold, class_weight[gold]
        self.n_labels, self.n_examples = len(class_weight), len(gold)
        self.base = base_matrix(matrix)

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every row; outputs are integers."""
        scores = self._scores(weights)
        every = np.arange(self.n_examples)
        gold_score = scores[every, self.gold]
        if oracle is loss_augmented:
            value = scores + self.cost[:, None]
            value[every, self.gold] = gold_score
        elif oracle is best_other:
            value = scores.copy()
            value[every, self.gold] = -np.inf
        elif oracle is slack_rescaled:
            value = self.cost[:, None] * (1.0 - (gold_score[:, None] - scores))
            value[every, self.gold] = 0.0
        elif oracle is worst:
            value = -scores
        else:
            raise IncompatibleError(f"Multiclass does not know the oracle {oracle.name!r}.")
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

    def single(self, i: int) -> SingleRow:
        """Return row i as a shard of its own: a view."""
        return SingleRow(self, i)

    def expected(self, weights: Floats, loss_weight: float, cost: Floats) -> Expected:
        """Return expectations over all labels."""
        every = np.arange(self.n_examples)
        scores = self._scores(weights)
        value = scores - scores[every, self.gold][:, None] + (loss_weight * self.cost)[:, None]
        value[every, self.gold] = 0.0
        top = value.max(axis=1, keepdims=True)
        weight = np.exp(value - top)
        total = weight.sum(axis=1, keepdims=True)
        z = cost[:, None] * (weight / total)
        z[every, self.gold] -= cost
        log_partition = float(cost @ (top + np.log(total))[:, 0])
        loss = float(-self.cost @ z[every, self.gold])
        return Expected(np.asarray((self.matrix.T @ z).T).ravel(), loss, log_partition)

    def relaxation(self) -> MulticlassRelaxation:
        """Return all labels as one product of simplices."""
        return MulticlassRelaxation(self)

    def _scores(self, weights: Floats) -> Floats:
        n_inputs = self.matrix.shape[1]
        vector = check_weights(weights, self.n_labels * n_inputs)
        return np.asarray(self.matrix @ vector.reshape(self.n_labels, n_inputs).T)

    def _compared(self, scores: Floats, outputs: Ints) -> Answers:
        """Return outputs with their loss and ``w . delta``."""
        every = np.arange(self.n_examples)
        loss = np.where(outputs != self.gold, self.cost, 0.0)
        return Answers(outputs, loss, scores[every, self.gold] - scores[every, outputs])

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        yield from (self.cost,)

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the rows ``which``: plus gold's block, minus the output's."""
        wrong = np.asarray(outputs)[which] != self.gold[which]
        pairs = np.stack([self.gold[which], np.asarray(outputs)[which]], axis=1)[wrong]
        return Directions(
            np.concatenate([[0], np.cumsum(2 * wrong)]).astype(np.int64),
            np.repeat(which[wrong], 2).astype(np.int64),
            pairs.ravel().astype(np.int64) * self.matrix.shape[1],
            np.tile([1.0, -1.0], int(wrong.sum())),
        )


class SingleRow(MulticlassShard):
    """One row of a shard, over the same base and without copies.

    Made for many small questions: weights must be a float64 vector of the right length, and are
    not checked.
    """

    def __init__(self, whole: MulticlassShard, i: int) -> None:
        self.matrix = None if sp.issparse(whole.matrix) else whole.matrix[i : i + 1]
        self.gold, self.cost = whole.gold[i : i + 1], whole.cost[i : i + 1]
        self.n_labels, self.n_examples, self.base = whole.n_labels, 1, whole.base
        self._row = i

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the row (``which`` is [0]) over the base of the whole shard."""
        y, gold, n_inputs = int(outputs[0]), int(self.gold[0]), self.base.shape[1]
        if y == gold:
            none = np.zeros(0, dtype=np.int64)
            return Directions(np.zeros(2, dtype=np.int64), none, none, np.zeros(0))
        return Directions(
            np.array([0, 2]),
            np.array([self._row, self._row]),
            np.array([gold * n_inputs, y * n_inputs]),
            np.array([1.0, -1.0]),
        )

    def single(self, i: int) -> SingleRow:
        """Return itself."""
        return self

    def _scores(self, weights: Floats) -> Floats:
        if self.matrix is not None:
            return np.asarray(self.matrix @ weights.reshape(self.n_labels, -1).T)
        from structopt.structures.base.parts_kernels import part_scores

        ends = self.base.indptr[self._row : self._row + 2]
        base = self.base
        return np.asarray(part_scores(ends, base.indices, base.data, weights, self.n_labels))
