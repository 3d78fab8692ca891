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
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Ints, Stacked, stack_sequences
from structopt.structures.base.labelled import LabelledStructure
from structopt.structures.base.packed import check_decoder
from structopt.structures.base.structure import check_lengths
from structopt.structures.chain.transitions import Bools, allowed_pairs, check_allowed
from structopt.structures.second_order.shard import SecondOrderShard


class SecondOrderChain(LabelledStructure):
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

    allowed_: Bools | None = None

    releases_gil: ClassVar[bool] = True
    offers: ClassVar[frozenset[str]] = frozenset(
        {"argmax", "argmin", "second_best", "k_best", "marginals"}
    )

    def __init__(
        self,
        labels: Sequence[Any] | None = None,
        loss: Any = None,
        boundaries: bool = False,
        decoder: str = "compiled",
        transitions: Any = None,
    ) -> None:
        self.labels = labels
        self.cost = loss
        self.boundaries = boundaries
        self.decoder = decoder
        self.transitions = transitions

    # ------------------------------------------------------------------ fitting and encoding
    def fitted(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Return a copy that knows the labels, their weights and the dimension."""
        check_decoder(self.decoder)
        check_lengths(X, Y)
        fitted = self._with_labels(Y)
        # pack checks the other inputs; a matrix or frame is no list of them, and is told so here
        whole = sp.issparse(X) or hasattr(X, "columns")
        fitted.n_inputs_ = stack_sequences(X if whole else [X[0]]).matrix.shape[1]
        if self.transitions is not None:
            fitted.allowed_ = allowed_pairs(self.transitions, fitted.labels_)
        fitted.n_features_ = fitted._first_triple() + len(fitted.labels_) ** 3
        return fitted

    def pack(self, X: Sequence[Any], Y: Sequence[Any] | None, start: int = 0) -> SecondOrderShard:
        """Return checked sequences as a shard."""
        stacked, gold = self._stack(X, Y, start, partial=True)
        # a model file may hold numbers
        allowed = None if self.allowed_ is None else np.asarray(self.allowed_, dtype=bool)
        costs = np.zeros(len(gold)) if Y is None else self._costs(Y, gold, start)
        sizes = (len(self.labels_), bool(self.boundaries))
        shard = SecondOrderShard(stacked, gold, *sizes, costs, allowed, start, self.decoder)
        shard = self._begun(shard, gold)
        if allowed is not None and Y is not None:
            check_allowed(allowed, stacked.offsets, shard.gold, self.labels_, start, "position")
        return shard

    # ------------------------------------------------------------------ what it means
    def joint_features(self, x: Any, y: Any) -> Any:
        """Return the inputs summed by label, the counts of pairs and triples: a sparse row."""
        (tokens, *_), labels = self._stack([x], [y])
        K, d, last = len(self.labels_), self.n_inputs_, self._first_triple()
        position, column, value = sp.find(tokens)
        counted = [K * d + labels[:-1] * K + labels[1:]]
        if self.boundaries:
            counted.append(K * (d + K) + np.array([labels[0], K + labels[-1]]))
        counted.append(last + (labels[:-2] * K + labels[1:-1]) * K + labels[2:])
        ones = np.concatenate(counted)
        places = np.concatenate([labels[position] * d + column, ones])
        places, where = np.unique(places, return_inverse=True)
        summed = np.bincount(where, np.concatenate([value, np.ones(len(ones))]), len(places))
        return sp.csr_array((summed, places, [0, len(places)]), shape=(1, self.n_features_))

    def feature_names(self, inputs: Sequence[str] | None = None) -> list[tuple[str, str]]:
        """Return ``(feature, label)`` for each weight; inputs are x0, x1, ... unless named.

        A transition from a to b is ``("after a", "b")``, a triple ``("after a b", "c")``, the ends
        are ``("start", label)`` and ``("end", label)``.
        """
        columns = [f"x{j}" for j in range(self.n_inputs_)] if inputs is None else list(inputs)
        labels = [str(label) for label in self.labels_]
        rows = [(c, k) for k in labels for c in columns]
        rows += [(f"after {j}", k) for j in labels for k in labels]
        if self.boundaries:
            rows += [(which, k) for which in ("start", "end") for k in labels]
        return rows + [(f"after {i} {j}", k) for i in labels for j in labels for k in labels]

    # ------------------------------------------------------------------ inside
    def _first_triple(self) -> int:
        """Return where the weights of triples begin."""
        n = len(self.labels_)
        return n * (self.n_inputs_ + n + 2 * bool(self.boundaries))

    def _stack(
        self, X: Any, Y: Sequence[Any] | None, start: int = 0, partial: bool = False
    ) -> tuple[Stacked, Ints]:
        """Return checked tokens and gold labels (zeros without Y)."""
        stacked = stack_sequences(X, self.n_inputs_, start=start)
        return stacked, self._gold(Y, stacked.offsets, start, "positions", partial)
