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

from structopt.arrays import Floats, Ints, base_matrix, check_weights
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.structures.base.labels import LabelSet
from structopt.structures.base.oracles import Oracle, best_other, loss_augmented, worst
from structopt.structures.base.parts import Directions
from structopt.structures.base.shard import Answers, Shard
from structopt.structures.base.structure import Structure, check_lengths
from structopt.structures.label_vector import kernels


class LabelVector(Structure):
    r"""Vectors of c labels: X is an array (n, c, d) or a list of (c, d) matrices.

    Parameters
    ----------
    legal : sequence of label vectors, optional
        The constraint C; by default every vector is legal.
    labels : sequence, optional
        Every label that can occur; by default those of the data (and of ``legal``), sorted.

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

    labels_: LabelSet
    n_components_: int
    n_inputs_: int

    def __init__(
        self,
        legal: Sequence[Sequence[Any]] | None = None,
        labels: Sequence[Any] | None = None,
    ) -> None:
        self.legal, self.labels = legal, labels

    def unconstrained(self) -> LabelVector:
        """Return the same structure with every vector legal; weights mean the same in both."""
        free = copy.copy(self)
        free.legal = None
        return free

    # ------------------------------------------------------------------ fitting and encoding
    def fitted(self, X: Any, Y: Any) -> Self:
        """Return a copy that knows the labels and the dimensions."""
        check_lengths(X, Y)
        fitted = copy.copy(self)
        seen = [*Y, *(() if self.legal is None else self.legal)]
        fitted.labels_ = LabelSet.from_data(seen) if self.labels is None else LabelSet(self.labels)
        shape = np.shape(X[0])
        if len(shape) != 2 or 0 in shape:
            raise InvalidInputError(
                f"The input of example 0 has shape {shape}: give (components, inputs).", example=0
            )
        fitted.n_components_, fitted.n_inputs_ = int(shape[0]), int(shape[1])
        fitted.n_features_ = fitted.n_components_ * len(fitted.labels_) * fitted.n_inputs_
        return fitted

    def encode(self, X: Any, Y: Any, *, start: int = 0) -> LabelVectorShard:
        """Encode examples with their gold vectors; ``start`` numbers the first in messages."""
        check_lengths(X, Y)
        gold = np.stack([self._codes(y, start + i) for i, y in enumerate(Y)])
        legal = self._legal()
        if len(legal):
            known = {tuple(row) for row in legal.tolist()}
            for i, row in enumerate(gold.tolist(), start):
                if tuple(row) not in known:
                    raise InvalidInputError(
                        f"The gold vector of example {i} is not among the {len(known)} legal ones.",
                        example=i,
                    )
        return LabelVectorShard(self._inputs(X, start), gold, len(self.labels_), legal)

    def local_problems(self, X: Any, Y: Any) -> Iterator[tuple[Floats, Ints, slice]]:
        """Yield each component's inputs, its labels as integers, and where its weights stand."""
        shard, size = self.encode(X, Y), len(self.labels_) * self.n_inputs_
        for t in range(self.n_components_):
            yield shard.inputs[:, t], shard.gold[:, t], slice(t * size, (t + 1) * size)

    # ------------------------------------------------------------------ one example
    def joint_features(self, x: Any, y: Any) -> Any:
        """Return each component's inputs in the block of its label, as one sparse row."""
        (inputs,), codes = self._inputs([x]), self._codes(y)
        where = np.arange(self.n_components_) * len(self.labels_) + codes
        blocks = np.zeros((self.n_components_ * len(self.labels_), self.n_inputs_))
        blocks[where] = inputs
        return sp.csr_array(blocks.reshape(1, -1))

    def loss(self, y: Any, other: Any) -> float:
        """Return the number of components that differ."""
        return float(np.count_nonzero(self._codes(y) != self._codes(other)))

    def argmax(self, x: Any, weights: Floats, *, gold: Any = None) -> tuple[Any, ...]:
        """Return the best legal vector, loss-augmented if gold is given."""
        if gold is None:
            return self.predict([x], weights)[0]
        return self._decode(self.encode([x], [gold]).ask(loss_augmented, weights).outputs[0])

    def argmin(self, x: Any, weights: Floats) -> tuple[Any, ...]:
        """Return the legal vector with the lowest score."""
        return self.predict([x], -np.asarray(weights))[0]

    def second_best(self, x: Any, weights: Floats, gold: Any) -> tuple[Any, ...] | None:
        """Return the best legal vector other than gold; None if there is no other."""
        answers = self.encode([x], [gold]).ask(best_other, weights)
        return None if np.isinf(answers.score[0]) else self._decode(answers.outputs[0])

    def part_errors(self, y: Any, other: Any) -> int:
        """Return the number of components that differ."""
        return int(self.loss(y, other))

    # ------------------------------------------------------------------ many examples
    def predict(self, X: Any, weights: Floats) -> list[tuple[Any, ...]]:
        """Return the best legal vector of every example."""
        if len(X) == 0:
            return []
        none = np.zeros((len(X), self.n_components_), dtype=np.int64)
        shard = LabelVectorShard(self._inputs(X), none, len(self.labels_), self._legal())
        best = shard.best(check_weights(weights, self.n_features_))
        return [self._decode(row) for row in best]

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
    def _codes(self, y: Any, example: int | None = None) -> Ints:
        codes = self.labels_.encode(y, example=example)
        if len(codes) != self.n_components_:
            where = "" if example is None else f" of example {example}"
            raise InvalidInputError(
                f"The output{where} has {len(codes)} labels for {self.n_components_} components.",
                example=example,
            )
        return codes

    def _decode(self, codes: Ints) -> tuple[Any, ...]:
        return tuple(self.labels_.decode(codes))

    def _legal(self) -> Ints:
        if self.legal is None:
            return np.zeros((0, self.n_components_), dtype=np.int64)
        if len(self.legal) == 0:
            raise InvalidInputError("legal is empty: no vector at all could be predicted.")
        return np.stack([self._codes(y) for y in self.legal])

    def _inputs(self, X: Any, start: int = 0) -> Floats:
        wanted = (self.n_components_, self.n_inputs_)
        for i, x in enumerate(X, start):
            if np.shape(x) != wanted:
                raise InvalidInputError(
                    f"The input of example {i} has shape {np.shape(x)}, expected {wanted}.",
                    example=i,
                )
        inputs = np.asarray(X, dtype=np.float64)
        bad = np.flatnonzero(~np.all(np.isfinite(inputs), axis=(1, 2)))
        if len(bad):
            i = start + int(bad[0])
            raise InvalidInputError(
                f"The input of example {i} holds a number that is not finite: replace or drop it.",
                example=i,
            )
        return inputs


class LabelVectorShard(Shard):
    """Stacked examples, decoded by compiled loops.

    Parameters
    ----------
    inputs : array of shape (n, c, d)
    gold : array of int, shape (n, c)
    n_labels : int
    legal : array of int, shape (L, c)
        Empty if every vector is legal.
    """

    def __init__(self, inputs: Floats, gold: Ints, n_labels: int, legal: Ints) -> None:
        self.inputs, self.gold, self.n_labels, self.legal = inputs, gold, n_labels, legal
        self.n_examples = len(inputs)
        self.base = base_matrix(inputs.reshape(-1, inputs.shape[2]))
        self._first = 0

    def best(self, weights: Floats) -> Ints:
        """Return the best legal vector of every example."""
        return np.asarray(kernels.best(self._scores(weights), self.legal))

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every example; outputs are rows of integers."""
        scores = self._scores(check_weights(weights, self._n_features()))
        if oracle is loss_augmented:
            augmented = scores + 1.0
            place = self.gold[:, :, None]
            np.put_along_axis(augmented, place, np.take_along_axis(scores, place, 2), 2)
            return self._compared(scores, kernels.best(augmented, self.legal))
        if oracle is worst:
            return self._compared(scores, kernels.best(-scores, self.legal))
        if oracle is best_other:
            return self._best_other(scores)
        raise IncompatibleError(f"LabelVector does not know the oracle {oracle.name!r}.")

    def argmax(self, weights: Floats) -> Answers:
        """Return every example's best vector, without the loss."""
        scores = self._scores(weights)
        return self._compared(scores, kernels.best(scores, self.legal))

    def single(self, i: int) -> LabelVectorShard:
        """Return example i as a shard of its own: a view."""
        one = copy.copy(self)
        one.inputs, one.gold, one.n_examples = self.inputs[i : i + 1], self.gold[i : i + 1], 1
        one._first = self._first + i
        return one

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        yield self.legal

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the examples ``which``: the components in which they differ from gold."""
        return Directions(
            *kernels.differing_parts(
                self.gold, outputs, which, self.n_labels, self.inputs.shape[2], self._first
            )
        )

    def _n_features(self) -> int:
        return int(self.n_labels * np.prod(self.inputs.shape[1:]))

    def _scores(self, weights: Floats) -> Floats:
        """Return the score of every label at every component: (n, c, K)."""
        return np.asarray(kernels.scores(self.inputs, weights, self.n_labels))

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
        return Answers(outputs, *kernels.compare(scores, self.gold, outputs))
