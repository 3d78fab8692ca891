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

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from structopt.arrays import Floats
from structopt.structures.base.structure import ABILITIES
from structopt.structures.chain.one import decode_one
from structopt.structures.chain.sequences import LabelSequences
from structopt.structures.chain.shard import NO_LEVELS, ChainShard


class Chain(LabelSequences):
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
        Which label may follow which: a tag scheme, each label with those that may follow (see
        :func:`structopt.bio`), or truth values [previous, next].

    Attributes
    ----------
    labels_ : LabelSet
    n_inputs_ : int
        Columns d of the inputs.
    n_features_ : int
        K d + K^2 weights, and 2 K more with boundaries.
    allowed_ : array of shape (K + 1, K + 1) or None
        Which label may follow which; the last row is the start, the last column the end.

    Raises
    ------
    InvalidInputError
        A gold output uses a transition that is forbidden.
    """

    offers: ClassVar[frozenset[str]] = frozenset(ABILITIES)

    def pack(self, X: Sequence[Any], Y: Sequence[Any] | None, start: int = 0) -> ChainShard:
        """Return checked sequences as a shard."""
        stacked, gold = self._stack(X, Y, start, partial=True)
        shard = ChainShard(
            stacked, gold, self.class_weight_, bool(self.boundaries), start, self.decoder,
            self._allowed(), None if Y is None else self._costs(Y, gold, start),
        )  # fmt: skip
        return self._begun_allowed(shard, stacked, gold, Y is not None)

    def abilities(self) -> frozenset[str]:
        """Return the questions it can answer: not `slack_rescaled` where costs differ by label."""
        mine = super().abilities()
        return mine - {"slack_rescaled"} if self._by_label else mine

    def why_not(self, ability: str) -> str:
        """Return why an ability is missing."""
        lacking = self._by_label and ability == "slack_rescaled"
        return NO_LEVELS if lacking else super().why_not(ability)

    @property
    def _by_label(self) -> bool:
        inherited = "slack_rescaled" not in self.overridden()
        return inherited and any(hasattr(self.cost, form) for form in ("confusion", "by_label"))

    def predict(self, X: Any, weights: Floats, *, given: Any = None) -> list[Any]:
        """Return the best labels of every sequence; of a single one without packing it."""
        alone = given is None and isinstance(X, list | tuple) and len(X) == 1
        if alone and (found := self._alone(X[0], weights)):
            return [found]
        return super().predict(X, weights, given=given)

    def argmax(self, x: Any, weights: Floats, *, gold: Any = None) -> Any:
        """Return the best labels, loss-augmented if gold is given."""
        found = self._alone(x, weights) if gold is None else None
        return found or super().argmax(x, weights, gold=gold)

    # ------------------------------------------------------------------ what it means
    def joint_features(self, x: Any, y: Any) -> Any:
        """Return the inputs summed by label, the counts of transitions, the ends: a sparse row."""
        (tokens, *_), labels = self._stack([x], [y])
        return self._summed(tokens, labels)

    # ------------------------------------------------------------------ inside
    def _alone(self, x: Any, weights: Any) -> list[Any] | None:
        """Return the best labels of one sequence, or None if it must be packed to be decoded."""
        plain = isinstance(weights, np.ndarray) and weights.shape == (self.n_features_,)
        changed = {"argmax", "joint_features"} & self.overridden()
        if not plain or self.decoder != "compiled" or changed:
            return None
        given = (bool(self.boundaries), self._allowed())
        labels = decode_one(x, weights, len(self.labels_), *given)
        return None if labels is None else self.labels_.decode(labels)
