r"""A label for every position of a sequence, with transitions between neighbours.

    score(y) = sum_t W[y_t] . x_t + sum_t T[y_{t-1}, y_t] (+ start[y_0] + end[y_{T-1}]),
    loss(gold, y) = sum_t class_weight[gold_t] * [y_t != gold_t]                (weighted Hamming).

Weights are laid out as W (K, d) label by label, T (K, K) as [previous, next], then start and end.
Of two equally good outputs the one wins that has the smaller label (in the order of ``labels_``)
at the last position where they differ; slack rescaling prefers the smaller loss before that.

>>> import numpy as np, structopt as so
>>> X, Y = [np.eye(2), np.eye(2)[:1]], ["ab", "a"]
>>> structure = so.Chain().fitted(X, Y)
>>> weights = np.array([1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
>>> structure.predict(X, weights)
[['a', 'b'], ['a']]
>>> structure.k_best(X[0], weights, 2)
[['a', 'b'], ['a', 'a']]
>>> structure.joint_features(X[0], "ab").toarray()
array([[1., 0., 0., 1., 0., 1., 0., 0.]])
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints, stack_sequences
from structopt.errors import InvalidInputError
from structopt.structures.base.labels import LabelSet
from structopt.structures.base.shard import ExampleShard, Shard
from structopt.structures.base.structure import Structure, check_lengths
from structopt.structures.chain import kernels as chain_kernels
from structopt.structures.chain import levels_kernels as chain_levels_kernels
from structopt.structures.chain.marginals_kernels import marginals
from structopt.structures.chain.shard import ChainScores, ChainShard, loss_levels

DECODERS = ("compiled", "networkx")


class Chain(Structure):
    r"""Sequences of labels: X is a list of (T_i, d) matrices, Y a list of label sequences.

    Parameters
    ----------
    labels : sequence, optional
        Every label that can occur, in the order wanted; by default those of the data, sorted.
    class_weight : mapping, "balanced" or None
        Factor of the loss where a label is gold.
    boundaries : bool
        Whether the first and the last label have weights of their own.
    decoder : {"compiled", "networkx"}
        Who decodes. "networkx" is the slow reference that the compiled kernels must agree with.

    Attributes
    ----------
    labels_ : LabelSet
    n_inputs_ : int
        Columns d of the inputs.
    n_features_ : int
        K d + K^2 weights, and 2 K more with boundaries.
    """

    releases_gil: ClassVar[bool] = True

    labels_: LabelSet
    n_inputs_: int
    class_weight_: Floats

    def __init__(
        self,
        labels: Sequence[Any] | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        boundaries: bool = False,
        decoder: str = "compiled",
    ) -> None:
        self.labels = labels
        self.class_weight = class_weight
        self.boundaries = boundaries
        self.decoder = decoder

    # ------------------------------------------------------------------ fitting and encoding
    def fitted(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Return a copy that knows the labels, their weights and the dimension."""
        if self.decoder not in DECODERS:
            raise InvalidInputError(f"decoder is {self.decoder!r}; it must be one of {DECODERS}.")
        check_lengths(X, Y)
        sequences = [_sequence(y, i) for i, y in enumerate(Y)]
        found = LabelSet.from_data(sequences) if self.labels is None else LabelSet(self.labels)
        gold = np.concatenate([found.encode(y, example=i) for i, y in enumerate(sequences)])
        fitted = copy.copy(self)
        fitted.labels_ = found
        fitted.class_weight_ = found.weights(self.class_weight, gold)
        # encode checks the other inputs; a matrix is no list of them, and is told so here
        fitted.n_inputs_ = stack_sequences(X if sp.issparse(X) else [X[0]])[0].shape[1]
        n_labels = len(found)
        fitted.n_features_ = n_labels * (fitted.n_inputs_ + n_labels + 2 * bool(self.boundaries))
        return fitted

    def encode(self, X: Sequence[Any], Y: Sequence[Any], *, start: int = 0) -> Shard:
        """Encode examples with their gold labels; ``start`` numbers the first in messages."""
        check_lengths(X, Y)
        tokens, offsets, gold = self._stack(X, Y, start)
        if self.decoder == "networkx":
            return ExampleShard(self, X, Y, start)
        return ChainShard(tokens, offsets, gold, self.class_weight_, bool(self.boundaries), start)

    # ------------------------------------------------------------------ one example
    def joint_features(self, x: Any, y: Any) -> Any:
        """Return the inputs summed by label, the counts of transitions, the ends: a sparse row."""
        tokens, _, labels = self._stack([x], [y])
        n_labels, n_inputs = len(self.labels_), self.n_inputs_
        position, column, value = sp.find(tokens)
        pairs = n_labels * n_inputs + labels[:-1] * n_labels + labels[1:]
        ends = n_labels * (n_inputs + n_labels) + np.array([labels[0], n_labels + labels[-1]])
        ones = np.concatenate([pairs, ends]) if self.boundaries else pairs
        places = np.concatenate([labels[position] * n_inputs + column, ones])
        places, where = np.unique(places, return_inverse=True)
        summed = np.bincount(where, np.concatenate([value, np.ones(len(ones))]), len(places))
        return sp.csr_array((summed, places, [0, len(places)]), shape=(1, self.n_features_))

    def loss(self, y: Any, other: Any) -> float:
        """Return the summed class weights of the positions of y that ``other`` gets wrong."""
        gold, predicted = self.labels_.encode(_sequence(y)), self.labels_.encode(_sequence(other))
        if len(gold) != len(predicted):
            raise InvalidInputError(
                f"Outputs of {len(gold)} and {len(predicted)} labels cannot be compared."
            )
        return float(self.class_weight_[gold] @ (gold != predicted))

    def argmax(self, x: Any, weights: Floats, *, gold: Any = None) -> list[Any]:
        """Return the best labels, loss-augmented if gold is given."""
        tokens, offsets, labels = self._stack([x], [gold])
        cost = np.zeros(len(labels)) if gold is None else self.class_weight_[labels]
        codes = self._ask("viterbi", tokens, weights, offsets, labels, cost)
        return self.labels_.decode(codes)

    def argmin(self, x: Any, weights: Floats) -> list[Any]:
        """Return the labels with the lowest score."""
        return self.argmax(x, -np.asarray(weights))

    def second_best(self, x: Any, weights: Floats, gold: Any) -> list[Any] | None:
        """Return the best labels other than gold; None if there is but one label."""
        tokens, offsets, labels = self._stack([x], [gold])
        if len(self.labels_) == 1:
            return None
        return self.labels_.decode(self._ask("best_other", tokens, weights, offsets, labels))

    def k_best(self, x: Any, weights: Floats, k: int) -> list[list[Any]]:
        """Return the k best label sequences, best first (fewer if there are fewer)."""
        if k < 1:
            raise InvalidInputError(f"k is {k}; ask for at least one output.")
        tokens, offsets, _ = self._stack([x], [None])
        k = min(k, len(self.labels_) ** int(offsets[-1]))
        return [self.labels_.decode(row) for row in self._ask("k_best", tokens, weights, k)]

    def slack_rescaled(self, x: Any, weights: Floats, gold: Any) -> list[Any]:
        """Return the labels that maximise ``loss * (1 - w . delta)``."""
        tokens, offsets, labels = self._stack([x], [gold])
        levels = loss_levels(offsets, labels, self.class_weight_)
        given = (offsets, labels, self.class_weight_[labels], *levels)
        return self.labels_.decode(self._ask("slack_rescaled", tokens, weights, *given))

    def part_count(self, y: Any) -> int:
        """Return the number of positions."""
        return len(y)

    def part_errors(self, y: Any, other: Any) -> int:
        """Return the number of positions at which ``other`` differs."""
        gold, predicted = (self.labels_.encode(_sequence(labels)) for labels in (y, other))
        return int(np.count_nonzero(gold != predicted))

    # ------------------------------------------------------------------ many examples
    def predict(self, X: Sequence[Any], weights: Floats) -> list[list[Any]]:
        """Return the best labels of every sequence, in one pass."""
        if len(X) == 0:
            return []
        tokens, offsets, free = self._stack(X, [None] * len(X))
        codes = self._ask("viterbi", tokens, weights, offsets, free, np.zeros(len(free)))
        labels = self.labels_.decode(codes)
        return [labels[a:b] for a, b in pairwise(offsets.tolist())]

    def marginals(self, X: Sequence[Any], weights: Floats) -> list[Floats]:
        """Return the probability of each label at each position, by sum-product."""
        if len(X) == 0:
            return []
        tokens, offsets, _ = self._stack(X, [None] * len(X))
        scores = ChainScores.of(tokens, weights, len(self.labels_), bool(self.boundaries))
        found = marginals(*scores, offsets, np.zeros(len(X)))[0]
        return [found[a:b] for a, b in pairwise(offsets.tolist())]

    def feature_names(self, inputs: Sequence[str] | None = None) -> list[tuple[str, str]]:
        """Return ``(feature, label)`` for each weight; inputs are x0, x1, ... unless named.

        A transition from a to b is ``("after a", "b")``, the ends are ``("start", label)`` and
        ``("end", label)``.
        """
        columns = [f"x{j}" for j in range(self.n_inputs_)] if inputs is None else list(inputs)
        labels = [str(label) for label in self.labels_]
        rows = [(c, k) for k in labels for c in columns]
        rows += [(f"after {j}", k) for j in labels for k in labels]
        if self.boundaries:
            rows += [(which, k) for which in ("start", "end") for k in labels]
        return rows

    # ------------------------------------------------------------------ inside
    def _stack(self, X: Any, Y: Sequence[Any], start: int = 0) -> tuple[Any, Ints, Ints]:
        """Return checked tokens, offsets and gold labels (zeros where y is None)."""
        tokens, offsets, _ = stack_sequences(X, self.n_inputs_, start=start)
        gold = np.zeros(offsets[-1], dtype=np.int64)
        for i, (a, b, y) in enumerate(zip(offsets[:-1], offsets[1:], Y, strict=True), start):
            if y is None:
                continue
            labels = _sequence(y, i)
            if len(labels) != b - a:
                raise InvalidInputError(
                    f"Example {i} has {b - a} positions but {len(labels)} labels.", example=i
                )
            gold[a:b] = self.labels_.encode(labels, example=i)
        return tokens, offsets, gold

    def _ask(self, decoder: str, tokens: Any, weights: Any, *given: Any) -> Ints:
        """Return what the decoder's ``decoder`` finds for tokens scored by weights."""
        scores = ChainScores.of(tokens, weights, len(self.labels_), bool(self.boundaries))
        decoders: Any = chain_kernels
        if self.decoder == "networkx":
            from structopt.structures.chain import reference as decoders
        elif decoder == "slack_rescaled":
            decoders = chain_levels_kernels
        return np.asarray(getattr(decoders, decoder)(*scores, *given))


def _sequence(y: Any, example: int | None = None) -> list[Any]:
    """Return a label sequence as a list of labels."""
    try:
        return y.tolist() if isinstance(y, np.ndarray) and y.ndim else list(y)
    except TypeError:
        where = "" if example is None else f" of example {example}"
        raise InvalidInputError(
            f"The output{where} is {y!r}: give a sequence with one label per position.",
            example=example,
        ) from None
