r"""A label for every position of a sequence, with scores of three labels in a row.

    score(y) = sum_t W[y_t] . x_t + sum_t T[y_{t-1}, y_t] + sum_t U[y_{t-2}, y_{t-1}, y_t]
               (+ start[y_0] + end[y_{T-1}]),
    loss(gold, y) = sum_t class_weight[gold_t] * [y_t != gold_t]                (weighted Hamming).

Weights are laid out as W (K, d), T (K, K), start and end, then U (K, K, K). Decoding runs over
pairs of labels, T K^3 steps. Ties are broken as by `Chain`.

>>> import numpy as np, structopt as so
>>> X, Y = [np.zeros((5, 1))], ["aabaa"]
>>> structure = so.SecondOrderChain().fitted(X, Y)
>>> weights = np.zeros(structure.n_features_)
>>> names = structure.feature_names()
>>> for feature in (("after a a", "b"), ("after a b", "a"), ("after b a", "a")):
...     weights[names.index(feature)] = 1.0                     # every third label is b
>>> "".join(structure.predict(X, weights)[0])
'aabaa'
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from structopt.structures.chain.sequences import LabelSequences
from structopt.structures.second_order.shard import SecondOrderShard


class SecondOrderChain(LabelSequences):
    r"""Sequences of labels: X is a list of (T_i, d) matrices, Y a list of label sequences.

    Parameters
    ----------
    labels : sequence, optional
        Every label that can occur, in the order wanted; by default those of the data, sorted.
    loss : Hamming, Confusion, TreeDistance, SpanCosts or your own, optional
        What a wrong label costs (:mod:`structopt.losses`); by default 1.
    boundaries : bool
        Whether the first and the last label have weights of their own.
    decoder : {"compiled", "networkx"}
        Who decodes. "networkx" is the slow reference that the compiled kernels must agree with.
    transitions : {"bio", "bioes"}, mapping or matrix, optional
        Which label may follow which, as for a `Chain`.

    Attributes
    ----------
    labels_ : LabelSet
    n_inputs_ : int
        Columns d of the inputs.
    n_features_ : int
        K d + K^2 + K^3 weights, and 2 K more with boundaries.
    allowed_ : array of shape (K + 1, K + 1) or None
        Which label may follow which; the last row is the start, the last column the end.
    """

    offers: ClassVar[frozenset[str]] = frozenset(
        {"argmax", "argmin", "second_best", "second_augmented", "k_best", "marginals"}
    )

    def pack(self, X: Sequence[Any], Y: Sequence[Any] | None, start: int = 0) -> SecondOrderShard:
        """Return checked sequences as a shard."""
        stacked, gold = self._stack(X, Y, start, partial=True)
        costs = np.zeros(len(gold)) if Y is None else self._costs(Y, gold, start)
        given = (len(self.labels_), bool(self.boundaries), costs, self._allowed())
        shard = SecondOrderShard(stacked, gold, *given, start, self.decoder)
        return self._begun_allowed(shard, stacked, gold, Y is not None)

    # ------------------------------------------------------------------ what it means
    def joint_features(self, x: Any, y: Any) -> Any:
        """Return the inputs summed by label, the counts of pairs and triples: a sparse row."""
        (tokens, *_), labels = self._stack([x], [y])
        n, first = len(self.labels_), super()._n_weights()
        return self._summed(
            tokens, labels, first + (labels[:-2] * n + labels[1:-1]) * n + labels[2:]
        )

    def feature_names(self, inputs: Sequence[str] | None = None) -> list[tuple[str, str]]:
        """Return ``(feature, label)`` for each weight; inputs are x0, x1, ... unless named.

        They are those of a `Chain`, and a triple is ``("after a b", "c")``.
        """
        labels = [str(label) for label in self.labels_]
        triples = [(f"after {i} {j}", k) for i in labels for j in labels for k in labels]
        return super().feature_names(inputs) + triples

    def _n_weights(self) -> int:
        return super()._n_weights() + len(self.labels_) ** 3
