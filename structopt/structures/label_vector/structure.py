r"""A fixed number of labels per example, tied together only by which vectors of labels are legal.

    score(y) = sum_t W_t[y_t] . x_t,    y legal,    loss(gold, y) = |{t : y_t != gold_t}|.

This is learning over constrained output: each component has a classifier of its own, and all that
the components know of one another is which vectors are legal. Of equally good vectors the legal one
that stands first wins; without constraints, the smaller label at each component.

>>> import numpy as np, structopt as so
>>> X, Y = [np.eye(2), np.eye(2)], [(0, 1), (1, 1)]
>>> free = so.LabelVector().fitted(X, Y)
>>> tied = so.LabelVector(legal=[(0, 0), (1, 1)], labels=(0, 1)).fitted(X, [(0, 0), (1, 1)])
>>> weights = np.array([0, 0, 2, 0, 0, 1, 0, 0.0])  # component 0 wants 1, component 1 wants 0
>>> free.predict(X[:1], weights), tied.predict(X[:1], weights)
([(1, 0)], [(1, 1)])
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints, as_floats
from structopt.errors import InvalidInputError
from structopt.structures.base.given import listed, permitted
from structopt.structures.base.labelled import LabelledStructure
from structopt.structures.base.structure import check_lengths
from structopt.structures.label_vector.shard import LabelVectorShard


class LabelVector(LabelledStructure):
    r"""Vectors of c labels: X is an array (n, c, d) or a list of (c, d) matrices.

    Parameters
    ----------
    legal : sequence of label vectors, optional
        The constraint C; by default every vector is legal.
    labels : sequence, optional
        Every label that can occur; by default those of the data (and of ``legal``), sorted.
    loss : Hamming, Confusion, TreeDistance, SpanCosts or your own, optional
        What a wrong label costs (:mod:`structopt.losses`); by default 1.

    Attributes
    ----------
    labels_ : LabelSet
    n_components_, n_inputs_ : int
        c and d.
    n_features_ : int
        c K d weights: component by component, label by label.

    Notes
    -----
    Punyakanok, Roth, Yih and Zimak (2005), section 5.1.
    """

    releases_gil: ClassVar[bool] = True

    offers: ClassVar[frozenset[str]] = frozenset({"argmax", "argmin", "second_best"})

    n_components_: int
    n_inputs_: int

    def __init__(
        self,
        legal: Sequence[Sequence[Any]] | None = None,
        labels: Sequence[Any] | None = None,
        loss: Any = None,
    ) -> None:
        self.legal, self.labels, self.cost = legal, labels, loss

    def unconstrained(self) -> LabelVector:
        """Return the same structure with every vector legal; weights mean the same in both."""
        free = copy.copy(self)
        free.legal = None
        return free

    # ------------------------------------------------------------------ fitting and encoding
    def fitted(self, X: Any, Y: Any) -> Self:
        """Return a copy that knows the labels, their weights and the dimensions."""
        check_lengths(X, Y)
        if hasattr(X, "columns"):
            raise InvalidInputError("X is a table: give a matrix (components, inputs) an example.")
        shape = as_floats(X[0], "The input of example 0").shape
        if len(shape) != 2 or 0 in shape:
            raise InvalidInputError(
                f"The input of example 0 has shape {shape}: give (components, inputs).", example=0
            )
        fitted = copy.copy(self)
        fitted.n_components_, fitted.n_inputs_ = int(shape[0]), int(shape[1])
        fitted = fitted._with_labels(Y, () if self.legal is None else self.legal)
        fitted.n_features_ = fitted.n_components_ * len(fitted.labels_) * fitted.n_inputs_
        return fitted

    def pack(self, X: Any, Y: Any, start: int = 0) -> LabelVectorShard:
        """Return checked examples as a shard."""
        inputs, legal = self._inputs(X, start), self._legal()
        if Y is None:
            none = np.zeros(inputs.shape[:2], dtype=np.int64)
            return LabelVectorShard(inputs, none, self.class_weight_, legal, start)
        gold = np.stack([self._codes(y, start + i, partial=True) for i, y in enumerate(Y)])
        for i, row in enumerate(gold, start):
            if len(legal) and not np.any(np.all((row < 0) | (legal == row), axis=1)):
                raise InvalidInputError(
                    f"The gold vector of example {i} is not among the {len(legal)} legal ones.",
                    example=i,
                )
        costs = self._costs(Y, gold.ravel(), start)
        costs = costs.reshape(*gold.shape, *costs.shape[1:])
        shard = LabelVectorShard(inputs, gold, self.class_weight_, legal, start, costs)
        return self._begun(shard, gold)

    def held(self, X: Any, given: Any, shard: Any) -> Any:
        """Return which label each component may have: (n, c, K)."""
        names = range(self.n_components_)
        return np.array([
            [permitted(entry, self.labels_, f"component {t}", i)
             for t, entry in enumerate(listed(told, names, i))]
            for i, told in enumerate(given, shard.start)
        ])  # fmt: skip

    def unpack(self, shard: Any, outputs: Any) -> list[Any]:
        """Return rows of integers as tuples of labels."""
        return [tuple(self.labels_.decode(row)) for row in outputs]

    def local_problems(self, X: Any, Y: Any) -> Iterator[tuple[Floats, Ints, slice]]:
        """Yield each component's inputs, its labels as integers, and where its weights stand."""
        shard, size = self.pack(X, Y), len(self.labels_) * self.n_inputs_
        for t in range(self.n_components_):
            yield shard.inputs[:, t], shard.gold[:, t], slice(t * size, (t + 1) * size)

    # ------------------------------------------------------------------ what it means
    def joint_features(self, x: Any, y: Any) -> Any:
        """Return each component's inputs in the block of its label, as one sparse row."""
        (inputs,), codes = self._inputs([x]), self._codes(y)
        where = np.arange(self.n_components_) * len(self.labels_) + codes
        blocks = np.zeros((self.n_components_ * len(self.labels_), self.n_inputs_))
        blocks[where] = inputs
        return sp.csr_array(blocks.reshape(1, -1))

    def feature_names(self, inputs: Sequence[str] | None = None) -> list[tuple[str, str]]:
        """Return ``(input at component, label)`` for each weight."""
        columns = [f"x{j}" for j in range(self.n_inputs_)] if inputs is None else list(inputs)
        return [
            (f"{name} at {t}", str(label))
            for t in range(self.n_components_)
            for label in self.labels_
            for name in columns
        ]

    # ------------------------------------------------------------------ inside
    def _codes(self, y: Any, example: int | None = None, partial: bool = False) -> Ints:
        codes = super()._codes(y, example, partial)
        if len(codes) != self.n_components_:
            where = "" if example is None else f" of example {example}"
            raise InvalidInputError(
                f"The output{where} has {len(codes)} labels for {self.n_components_} components.",
                example=example,
            )
        return codes

    def _legal(self) -> Ints:
        if self.legal is None:
            return np.zeros((0, self.n_components_), dtype=np.int64)
        if len(self.legal) == 0:
            raise InvalidInputError("legal is empty: no vector at all could be predicted.")
        return np.stack([self._codes(y) for y in self.legal])

    def _inputs(self, X: Any, start: int = 0) -> Floats:
        wanted = (self.n_components_, self.n_inputs_)
        read = [as_floats(x, f"The input of example {i}") for i, x in enumerate(X, start)]
        for i, x in enumerate(read, start):
            if x.shape != wanted:
                raise InvalidInputError(
                    f"The input of example {i} has shape {x.shape}, expected {wanted}.", example=i
                )
        inputs = np.array(read).reshape(-1, *wanted)
        bad = np.flatnonzero(~np.all(np.isfinite(inputs), axis=(1, 2)))
        if len(bad):
            i = start + int(bad[0])
            raise InvalidInputError(
                f"The input of example {i} holds a number that is not finite: replace or drop it.",
                example=i,
            )
        return inputs
