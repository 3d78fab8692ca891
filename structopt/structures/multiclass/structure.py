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

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import (
    Floats,
    Ints,
    as_matrix,
    check_weights,
    count,
)
from structopt.errors import InvalidInputError
from structopt.structures.base.costed import any_costed, plain
from structopt.structures.base.given import permitted
from structopt.structures.base.input_rows import InputRows
from structopt.structures.base.labelled import LabelledStructure
from structopt.structures.base.row_inputs import one_row, row_matrix
from structopt.structures.base.sketch import Row
from structopt.structures.base.structure import ABILITIES, check_lengths
from structopt.structures.multiclass.shard import MulticlassShard


class Multiclass(LabelledStructure):
    r"""One of K labels.

    Parameters
    ----------
    labels : sequence, optional
        Every label that can occur, in the order wanted; by default those of the data, sorted.
    loss : Hamming, Confusion, TreeDistance, SpanCosts or your own, optional
        What a wrong label costs (:mod:`structopt.losses`); by default 1.

    Attributes
    ----------
    labels_ : LabelSet
    n_inputs_ : int
        Columns of X.
    n_features_ : int
        K * n_inputs_ weights, label-major.
    """

    n_inputs_: int
    releases_gil: ClassVar[bool] = True
    offers: ClassVar[frozenset[str]] = frozenset(ABILITIES)

    def __init__(self, labels: Sequence[Any] | None = None, loss: Any = None) -> None:
        self.labels = labels
        self.cost = loss

    def fitted(self, X: Any, Y: Any) -> Self:
        """Return a copy that knows the labels, their weights and the dimension."""
        check_lengths(X, Y)
        matrix = row_matrix(X, None)
        fitted = self._with_labels(Y)
        if len(fitted.labels_) < 2:
            raise InvalidInputError(
                f"The only label is {fitted.labels_[0]!r}, one class: Multiclass needs at least "
                "two; declare those that do not occur in the data with labels=[...]."
            )
        fitted.n_inputs_ = matrix.shape[1]
        fitted.n_features_ = len(fitted.labels_) * fitted.n_inputs_
        return fitted

    def pack(self, X: Any, Y: Any, start: int = 0) -> MulticlassShard:
        """Return checked rows as a shard."""
        matrix = row_matrix(X, self.n_inputs_, start)
        none = np.zeros(matrix.shape[0], dtype=np.int64)
        if Y is None:
            return MulticlassShard(matrix, none, self.class_weight_, start)
        labels = [plain(y) for y in Y] if any_costed(Y) else Y
        gold = self.labels_.encode(labels, start=start, partial=True)
        costs = self._costs(Y, gold, start)
        shard = MulticlassShard(matrix, gold, self.class_weight_, start, costs)
        return self._begun(shard, gold)

    def held(self, X: Any, given: Any, shard: Any) -> Any:
        """Return which labels each row may have."""
        told = enumerate(given, shard.start)
        return np.array([permitted(entry, self.labels_, "the label", i) for i, entry in told])

    def unpack(self, shard: Any, outputs: Any) -> list[Any]:
        """Return integers as labels."""
        return self.labels_.decode(outputs)

    def argmax(self, x: Any, weights: Floats, *, gold: Any = None) -> Any:
        """Return the best label, loss-augmented if gold is given."""
        plain = gold is None and type(x) is np.ndarray and type(weights) is np.ndarray
        if plain and (x.shape, weights.shape) == ((self.n_inputs_,), (self.n_features_,)):
            scores = weights.reshape(-1, self.n_inputs_) @ x
            if scores.dtype == np.float64 and np.isfinite(scores.sum()) and not self.overridden():
                return self.labels_[int(scores.argmax())]
        return super().argmax(x, weights, gold=gold)

    def predict(self, X: Any, weights: Floats, *, given: Any = None) -> list[Any]:
        """Return the best label of every row."""
        changed = {"argmax", "joint_features"} & self.overridden()
        if changed or given is not None or not count(X):
            return super().predict(X, weights, given=given)
        return self.labels_.decode(self.predict_codes(X, weights))

    def predict_codes(self, X: Any, weights: Floats) -> Ints:
        """Return the best label of every row as an integer, its place in ``labels_``."""
        if {"argmax", "joint_features"} & self.overridden():
            return self.labels_.encode(self.predict(X, weights))
        matrix = row_matrix(X, self.n_inputs_)
        weights, n_labels = check_weights(weights, self.n_features_), len(self.labels_)
        if sp.issparse(matrix):
            scores = InputRows.of(matrix).scores(weights, n_labels)
        else:  # the copy costs nothing, and with two threads of BLAS gains a few percent
            scores = matrix @ np.array(weights.reshape(n_labels, -1).T, order="C")
        best: Ints = np.argmax(scores, axis=1)
        return best

    def one(self, x: Any) -> Any:
        """Return x as a matrix of one row."""
        return one_row(x)

    def joint_features(self, x: Any, y: Any) -> Any:
        """Return x in the block of label y, as one sparse row."""
        row = sp.csr_array(as_matrix(self.one(x), name="x"))
        if row.shape != (1, self.n_inputs_):
            raise InvalidInputError(f"x has {row.shape[1]} columns; expected {self.n_inputs_}.")
        shift = self.labels_.encode([plain(y)])[0] * self.n_inputs_
        moved = (row.data, row.indices + shift, row.indptr)
        return sp.csr_array(moved, shape=(1, self.n_features_))

    def feature_names(self, inputs: Sequence[str] | None = None) -> list[tuple[str, str]]:
        """Return ``(input, label)`` for each weight; inputs are x0, x1, ... unless named."""
        names = [f"x{j}" for j in range(self.n_inputs_)] if inputs is None else list(inputs)
        return [(name, str(label)) for label in self.labels_ for name in names]

    def sketch(self, x: Any, y: Any, shown: Any = None) -> Row:
        """Return one label below the word or the image that it is given to."""
        known = isinstance(shown, str) or (isinstance(shown, np.ndarray) and shown.ndim > 1)
        return Row((plain(y),), [shown] if known else None)

    def _sequences(self, Y: Any) -> list[Any]:
        if isinstance(Y, np.ndarray) and Y.ndim == 1 and Y.dtype.kind in "biuU":
            return [np.unique(Y).tolist()]
        return super()._sequences(Y)

    def _listed(self, y: Any, example: int | None = None) -> list[Any]:
        return [plain(y)]

    def _codes(self, y: Any, example: int | None = None, partial: bool = False) -> Ints:
        return self.labels_.encode([plain(y)], start=example or 0, partial=partial)
