"""What `Chain`, `Hierarchy`, `Multiclass` and others have in common: outputs that are labels."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.errors import InvalidInputError
from structopt.structures.base.labels import LabelSet, as_labels
from structopt.structures.base.packed import PackedStructure


class LabelledStructure(PackedStructure):
    r"""Base of the structures whose output is a sequence of labels, with a weighted Hamming loss.

    .. math:: \ell(y, y') = \sum_t c_{y_t} [y_t \ne y'_t]

    Attributes
    ----------
    labels, cost
        Parameters: the labels that can occur, or None; the loss (`Hamming`), or None.
    labels_ : LabelSet
    class_weight_ : array of shape (K,)
        c, the loss where a label is gold.
    """

    labels: Sequence[Any] | None
    cost: Any
    labels_: LabelSet
    class_weight_: Floats
    n_inputs_: int

    def _with_labels(self, Y: Sequence[Any], also: Iterable[Any] = ()) -> Self:
        """Return a copy that knows the labels and their weights; ``also`` holds more labels."""
        sequences = [self._listed(y, i) for i, y in enumerate(Y)]
        weight = self._class_weight()
        fitted = copy.copy(self)
        if self.labels is None:
            fitted.labels_ = LabelSet.from_data([*sequences, *also])
        else:
            fitted.labels_ = LabelSet(self.labels)
        codes = None
        if self.labels is not None or weight is not None:  # else nothing depends on them yet
            codes = np.concatenate([fitted._codes(y, i) for i, y in enumerate(Y)])
        fitted.class_weight_ = fitted.labels_.weights(weight, codes)
        return fitted

    def _class_weight(self) -> Any:
        if self.cost is None or hasattr(self.cost, "class_weight"):
            return None if self.cost is None else self.cost.class_weight
        raise InvalidInputError(
            f"loss is {self.cost!r}: give so.losses.Hamming(class_weight=...) or None."
        )

    def _listed(self, y: Any, example: int | None = None) -> list[Any]:
        """Return an output as a list of labels."""
        return as_labels(y, example)

    def _codes(self, y: Any, example: int | None = None) -> Ints:
        """Return an output as integers."""
        return self.labels_.encode(self._listed(y, example), example=example)

    def _gold(self, Y: Any, offsets: Ints, start: int, parts: str) -> Ints:
        """Return the stacked integers of outputs, zeros if there are none; check their lengths."""
        gold = np.zeros(offsets[-1], dtype=np.int64)
        ends = pairwise(offsets.tolist())
        for i, (y, (a, b)) in enumerate(zip(() if Y is None else Y, ends, strict=False), start):
            codes = self._codes(y, i)
            if len(codes) != b - a:
                raise InvalidInputError(
                    f"Example {i} has {b - a} {parts} but {len(codes)} labels.", example=i
                )
            gold[a:b] = codes
        return gold

    def _aligned(self, y: Any, other: Any) -> tuple[list[Any], list[Any]]:
        """Return two outputs as lists of labels, part by part."""
        gold, predicted = self._listed(y), self._listed(other)
        if len(gold) != len(predicted):
            raise InvalidInputError(
                f"Outputs of {len(gold)} and {len(predicted)} labels cannot be compared."
            )
        return gold, predicted

    def unpack(self, shard: Any, outputs: Any) -> list[Any]:
        """Return labels that are stacked along ``shard.offsets``, example by example."""
        labels = self.labels_.decode(outputs)
        return [labels[a:b] for a, b in pairwise(shard.offsets.tolist())]

    def loss(self, y: Any, other: Any) -> float:
        """Return the summed class weights of the labels of y that ``other`` gets wrong."""
        gold, predicted = (self.labels_.encode(z) for z in self._aligned(y, other))
        return float(self.class_weight_[gold] @ (gold != predicted))

    def part_count(self, y: Any) -> int:
        """Return the number of labels."""
        return len(y)

    def part_errors(self, y: Any, other: Any) -> int:
        """Return the number of labels in which ``other`` differs."""
        # not by their numbers: a label that training never saw is an error, and no more
        return sum(not _same(a, b) for a, b in zip(*self._aligned(y, other), strict=True))


def _same(label: Any, other: Any) -> bool:
    try:
        return bool(label == other)
    except ValueError:  # an array is no label
        return False
