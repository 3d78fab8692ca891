r"""Any number of labels per example, judged as a set.

    score(y) = sum over the labels k of y of W_k . x,    loss(gold, y) = L(a, b),

where a labels of y are right and b are wrong (`ErrorRate`, which is the Hamming loss of
multi-label classification, `FScore`, ...). A label is in where its score is above 0; give X a
column of ones where that is to be learned.

>>> import numpy as np, structopt as so
>>> X, Y = np.array([[1.0, 0.0], [1.0, 1.0]]), [{"new"}, {"new", "red"}]
>>> structure = so.MultiLabel(loss=so.losses.FScore()).fitted(X, Y)
>>> [sorted(y) for y in structure.predict(X, np.array([1.0, 0.0, -1.0, 3.0]))]
[['new'], ['new', 'red']]
>>> structure.loss({"new"}, {"new", "red"}).__round__(4)
0.3333
>>> structure.joint_features(X[1], {"red"}).toarray()
array([[0., 0., 1., 1.]])
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import as_matrix
from structopt.errors import InvalidInputError
from structopt.structures.base.given import Mask, held_parts
from structopt.structures.base.labels import LabelSet
from structopt.structures.base.row_inputs import one_row, row_matrix
from structopt.structures.base.sketch import Bag
from structopt.structures.base.structure import check_lengths
from structopt.structures.subset.base import SetStructure
from structopt.structures.subset.shard import LabelSetShard


class MultiLabel(SetStructure):
    r"""Sets of labels: X is a matrix (n, d), Y a list of sets of labels or a 0/1 matrix (n, K).

    Parameters
    ----------
    labels : sequence, optional
        Every label that can occur, in the order wanted; by default those of the data, sorted, and
        of a 0/1 matrix the numbers of its columns.
    loss : ErrorRate, FScore, Precision, Recall or your own, optional
        As in `Subset`; by default the share of labels that are wrongly in or out.

    Attributes
    ----------
    labels_ : LabelSet
    n_inputs_ : int
        Columns of X.
    n_features_ : int
        K * n_inputs_ weights, label by label.
    """

    labels_: LabelSet
    n_inputs_: int

    def __init__(self, labels: Sequence[Any] | None = None, loss: Any = None) -> None:
        self.labels = labels
        self.cost = loss

    # ------------------------------------------------------------------ fitting and encoding
    def fitted(self, X: Any, Y: Any) -> Self:
        """Return a copy that knows the labels and the dimension."""
        check_lengths(X, Y)
        self._check_table()
        fitted = copy.copy(self)
        if self.labels is not None:
            fitted.labels_ = LabelSet(self.labels)
        elif getattr(Y, "ndim", 1) == 2:
            fitted.labels_ = LabelSet(range(Y.shape[1]))
        else:
            fitted.labels_ = LabelSet.from_data([_listed(y, i) for i, y in enumerate(Y)])
        fitted.n_inputs_ = int(row_matrix(X, None).shape[1])
        fitted.n_features_ = len(fitted.labels_) * fitted.n_inputs_
        return fitted

    def pack(self, X: Any, Y: Any, start: int = 0) -> LabelSetShard:
        """Return checked rows as a shard."""
        matrix, n_labels = row_matrix(X, self.n_inputs_, start), len(self.labels_)
        offsets = np.arange(matrix.shape[0] + 1) * n_labels
        gold = np.zeros(int(offsets[-1]), dtype=bool)
        if Y is not None:
            gold = np.concatenate([self._mask(y, i) for i, y in enumerate(Y, start)])
        return LabelSetShard(matrix, offsets, gold, self._measure(), None, start)

    def unpack(self, shard: LabelSetShard, outputs: Any) -> list[frozenset[Any]]:
        """Return the labels of every row."""
        ends = pairwise(shard.offsets.tolist())
        each = (np.flatnonzero(outputs[a:b]) for a, b in ends)
        return [frozenset(self.labels_.decode(codes)) for codes in each]

    def held(self, X: Any, given: Any, shard: Any) -> Any:
        """Return which labels are held in (1) or out (0), -1 where nothing is given."""
        each = enumerate(given, shard.start)
        return np.concatenate([held_parts(told, list(self.labels_), i) for i, told in each])

    def one(self, x: Any) -> Any:
        """Return x as a matrix of one row."""
        return one_row(x)

    # ------------------------------------------------------------------ what it means
    def joint_features(self, x: Any, y: Any) -> Any:
        """Return x in the block of each label of y, as one sparse row."""
        row = sp.csr_array(as_matrix(one_row(x), name="x"))
        if row.shape != (1, self.n_inputs_):
            raise InvalidInputError(f"x has {row.shape[1]} columns; expected {self.n_inputs_}.")
        chosen = sp.csr_array(self._mask(y).astype(np.float64)[None, :])
        return sp.csr_array(sp.kron(chosen, row))

    def loss(self, y: Any, other: Any) -> float:
        """Return what a set of labels costs where y is right."""
        if self.own_loss is not None:
            return float(self.own_loss(y, other))
        return self._paid(self._mask(y), self._mask(other))

    def part_count(self, y: Any) -> int:
        """Return the number of labels that can be wrong: all."""
        return len(self.labels_)

    def part_errors(self, y: Any, other: Any) -> int:
        """Return how many labels are wrongly in or out."""
        return int(np.count_nonzero(self._mask(y) != self._mask(other)))

    def sketch(self, x: Any, y: Any, shown: Any = None) -> Bag:
        """Return the labels that are in."""
        return Bag(tuple(self.labels_.decode(np.flatnonzero(self._mask(y)))))

    def feature_names(self, inputs: Sequence[str] | None = None) -> list[tuple[str, str]]:
        """Return ``(input, label)`` for each weight; inputs are x0, x1, ... unless named."""
        names = [f"x{j}" for j in range(self.n_inputs_)] if inputs is None else list(inputs)
        return [(name, str(label)) for label in self.labels_ for name in names]

    # ------------------------------------------------------------------ inside
    def _mask(self, y: Any, example: int | None = None) -> Mask:
        """Return which labels are in; an array of 0 and 1 says it of all."""
        n = len(self.labels_)
        if isinstance(y, np.ndarray) or hasattr(y, "nnz"):
            if isinstance(y, np.ndarray) and y.shape == (n,) and np.all((y == 0) | (y == 1)):
                return np.asarray(y == 1)
            where = "An output" if example is None else f"The output of example {example}"
            raise InvalidInputError(
                f"{where} is the array {y!r}: give {n} numbers 0 or 1, or a set of labels.",
                example=example,
            )
        mask = np.zeros(n, dtype=bool)
        mask[self.labels_.encode(_listed(y, example), example=example or 0)] = True
        return mask


def _listed(y: Any, example: int | None = None) -> list[Any]:
    """Return a set of labels as a list; a text or a number is one label, and no set."""
    if isinstance(y, str | bytes) or not hasattr(y, "__iter__"):
        where = "An output" if example is None else f"The output of example {example}"
        raise InvalidInputError(
            f"{where} is {y!r}: give a set or a list of labels.", example=example
        )
    return list(y)
