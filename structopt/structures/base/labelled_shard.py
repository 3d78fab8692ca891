"""What shards of labels have in common: gold can be moved, and completed where it is unknown."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.errors import IncompatibleError
from structopt.structures.base.label_costs import by_label, table
from structopt.structures.base.shard import Shard, forget


class LabelledShard(Shard):
    r"""Base of the shards whose outputs are labels, in an array of gold's shape.

    Attributes
    ----------
    gold : array of int
        What directions are measured from: delta(y) = phi(gold) - phi(y).
    cost : array
        What labels cost (:mod:`structopt.structures.base.label_costs`).
    known : array of int or None
        Gold as it was given, -1 where it is unknown; None if all of it is known.
    rates : array of shape (K,) or (K, K), or None
        What a wrong label costs where a label is gold, and each label; None if costs are those of
        each example.
    """

    gold: Ints
    cost: Floats
    known: Ints | None = None
    rates: Floats | None = None
    n_labels: int
    offsets: Ints
    """Where each example begins, if gold is stacked."""

    @property
    def n_scores(self) -> int:
        """How many scores of labels a pass looks at."""
        return int(np.size(self.gold) * self.n_labels)

    def joined(self, outputs: Sequence[Any], edges: Ints) -> Any:
        """Return the labels of runs below each other."""
        return np.concatenate(outputs)

    @abstractmethod
    def _within(self, weights: Floats, allowed: Any) -> Ints:
        """Return every example's best labels among those allowed, [..., label] -> bool."""

    def within(self, weights: Floats, held: Any) -> tuple[Ints, Any]:
        """Return every example's best labels among those allowed, and which examples have none."""
        labels = self._within(weights, held)
        kept = np.take_along_axis(held, labels[..., None], -1)[..., 0]
        return labels, ~self._whole(kept) | self._impossible(labels)

    def _impossible(self, labels: Ints) -> Any:
        """Return which examples have labels that are no output: all that is left are none."""
        return np.zeros(self.n_examples, dtype=bool)

    def _whole(self, right: Any) -> Any:
        """Return which examples have all of their parts right."""
        if len(right) == self.n_examples:
            return right.all(axis=1) if right.ndim > 1 else right
        return np.logical_and.reduceat(right, self.offsets[:-1])

    @property
    def unknown(self) -> Any:
        """Which examples have labels that are unknown."""
        if self.known is None:
            return super().unknown
        return ~self._whole(self.known >= 0)

    def anchored(self, outputs: Any) -> Self:
        """Return the same examples with delta measured from ``outputs``; losses stay."""
        moved = forget(copy.copy(self))
        moved.gold = np.asarray(outputs, dtype=np.int64)
        if not by_label(self.cost, self.gold) and np.any(
            (moved.gold != self.gold) & (self.cost > 0)
        ):
            moved.cost = table(self.cost, self.gold, self.n_labels)
        return moved

    def completed(self, weights: Floats) -> Self:
        """Return the examples with what is unknown of gold chosen as these weights like best."""
        return self if self.known is None else self.anchored(self._best_completion(weights))

    def relabelled(self, weights: Floats) -> Self:
        """Return the examples completed, what was unknown now gold: it is charged as any label."""
        if self.known is None:
            return self
        if self.rates is None:
            raise IncompatibleError(
                "Labels that are imputed are charged by class weights or a confusion matrix, and "
                "this loss has neither: use losses.Hamming or losses.Confusion."
            )
        labels = self._best_completion(weights)
        cost, unknown = self.rates[labels], self.known < 0
        given = self.cost
        if given.ndim > cost.ndim:
            cost = table(cost, labels, self.n_labels)
        elif cost.ndim > given.ndim:
            given = table(given, self.gold, self.n_labels)
        moved = forget(copy.copy(self))
        moved.gold = labels
        moved.cost = np.where(
            unknown[..., None] if cost.ndim > labels.ndim else unknown, cost, given
        )
        return moved

    def _best_completion(self, weights: Floats) -> Ints:
        assert self.known is not None, "something is unknown"
        every = np.arange(self.n_labels)
        place = self.known[..., None]
        return self._within(weights, (place < 0) | (place == every))
