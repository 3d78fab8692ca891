"""What `Chain`, `Hierarchy`, `Multiclass` and others have in common: outputs that are labels."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Self, TypeVar

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.errors import InvalidInputError
from structopt.structures.base.costed import Costed, any_costed, costs_of, plain
from structopt.structures.base.given import listed, permitted
from structopt.structures.base.label_costs import paid, table
from structopt.structures.base.labelled_shard import LabelledShard
from structopt.structures.base.labels import LabelSet, as_labels
from structopt.structures.base.packed import PackedStructure

_L = TypeVar("_L", bound=LabelledShard)


class LabelledStructure(PackedStructure):
    r"""Base of the structures whose output is a sequence of labels, with a loss for each of them.

    .. math:: \ell(y, y') = \sum_t c_t(y'_t),\quad c_t(y_t) = 0

    by default the weighted Hamming loss, c_t(y') = weight(y_t) [y' != y_t]. Labels of gold that are
    unknown (None) cost nothing.

    Attributes
    ----------
    labels, cost
        Parameters: the labels that can occur, or None; the loss (`Hamming`), or None.
    labels_ : LabelSet
    class_weight_ : array of shape (K,)
        c, the loss where a label is gold.
    confusion_ : array of shape (K, K) or None
        The cost of each label (columns) where a label is gold, if they differ.
    """

    labels: Sequence[Any] | None
    cost: Any
    labels_: LabelSet
    class_weight_: Floats
    confusion_: Floats | None = None

    def _with_labels(self, Y: Sequence[Any], also: Iterable[Any] = ()) -> Self:
        """Return a copy that knows the labels and what they cost; ``also`` holds more labels."""
        sequences = self._sequences(Y)
        weight = self._class_weight()
        fitted = copy.copy(self)
        if self.labels is None:
            fitted.labels_ = LabelSet.from_data([*sequences, *also])
        else:
            fitted.labels_ = LabelSet(self.labels)
        codes = None
        if self.labels is not None or weight is not None:  # else nothing depends on them yet
            codes = np.concatenate([fitted._codes(y, i, partial=True) for i, y in enumerate(Y)])
            codes = codes[codes >= 0]
        fitted.class_weight_ = fitted.labels_.weights(weight, codes)
        if hasattr(self.cost, "confusion"):
            fitted.confusion_ = _confusion(self.cost, fitted.labels_)
        return fitted

    def _sequences(self, Y: Any) -> list[Any]:
        """Return outputs as lists of labels, which says that they are that."""
        return [self._listed(y, i) for i, y in enumerate(Y)]

    def _class_weight(self) -> Any:
        if hasattr(self.cost, "class_weight"):
            return self.cost.class_weight
        forms = ("confusion", "by_label", "argmax")
        if self.cost is None or any(callable(getattr(self.cost, form, None)) for form in forms):
            return None
        raise InvalidInputError(
            f"loss is {self.cost!r}, which is no sum over labels and brings no oracle, so that no "
            "loss-augmented decoding is exact: give so.losses.Hamming or another of so.losses, or "
            "an object with confusion(labels), by_label(y, labels), or argmax(structure, x, "
            "weights, gold)."
        )

    # ------------------------------------------------------------------ labels and their costs
    def _listed(self, y: Any, example: int | None = None) -> list[Any]:
        """Return an output as a list of labels, None where one is unknown."""
        return as_labels(plain(y), example)

    def _codes(self, y: Any, example: int | None = None, partial: bool = False) -> Ints:
        """Return an output as integers; if it may be partial, -1 where a label is unknown."""
        return self.labels_.encode(self._listed(y, example), example=example, partial=partial)

    def _gold(self, Y: Any, offsets: Ints, start: int, parts: str, partial: bool = False) -> Ints:
        """Return the stacked integers of outputs, zeros if there are none; check their lengths."""
        gold = np.zeros(offsets[-1], dtype=np.int64)
        ends = pairwise(offsets.tolist())
        for i, (y, (a, b)) in enumerate(zip(() if Y is None else Y, ends, strict=False), start):
            codes = self._codes(y, i, partial)
            if len(codes) != b - a:
                raise InvalidInputError(
                    f"Example {i} has {b - a} {parts} but {len(codes)} labels.", example=i
                )
            gold[a:b] = codes
        return gold

    def _costs(self, Y: Any, gold: Ints, start: int = 0) -> Floats:
        """Return what labels cost, from Y and its stacked integers; nothing where gold is unknown.

        A number for each part (of each label but gold), or one for each label of each part.
        """
        unknown = gold < 0
        cost = self._rates()[gold]
        own = hasattr(self.cost, "by_label")
        if own or any_costed(Y):
            given = [i for i, y in enumerate(Y) if own or isinstance(y, Costed)]
            cost = self._given_costs(Y, gold, cost, given, start)
        if np.any(unknown):
            cost = np.where(unknown[:, None] if cost.ndim > 1 else unknown, 0.0, cost)
        return cost

    def _given_costs(
        self, Y: Any, gold: Ints, cost: Floats, given: list[int], start: int
    ) -> Floats:
        """Return costs with those of examples that bring their own."""
        ends = np.cumsum([0, *(len(self._listed(y)) for y in Y)]).tolist()
        own, found = hasattr(self.cost, "by_label"), cost.copy()
        for i in given:
            part, brought = slice(ends[i], ends[i + 1]), costs_of(Y[i])
            size = part.stop - part.start
            weights = brought is not None and brought.shape in ((), (size,))
            if found.ndim == 1 and (own or not weights):
                found = table(found, np.maximum(gold, 0), len(self.labels_))
            if own:
                costs = self.cost.by_label(self._listed(Y[i]), self.labels_)
                found[part] = self._checked_costs(costs, gold[part], start + i)
            if weights:
                factor = np.broadcast_to(np.asarray(brought), (size,))
                found[part] *= factor[:, None] if found.ndim > 1 else factor
            elif brought is not None:
                found[part] = self._checked_costs(brought, gold[part], start + i)
        return found

    def _checked_costs(self, costs: Any, gold: Ints, example: int) -> Floats:
        """Return the costs of one example's labels; refuse what are none."""
        wanted = (len(gold), len(self.labels_))
        found = np.asarray(costs, dtype=np.float64)
        if len(gold) == 1 and found.shape == wanted[1:]:
            found = found[None, :]
        known = gold >= 0
        problem = ""
        if found.shape != wanted:
            problem = f"have shape {found.shape}, not {wanted[:1]} or {wanted}"
        elif not np.all(np.isfinite(found) & (found >= 0)):
            problem = "must be finite and at least 0"
        elif np.any(found[known, gold[known]] != 0):
            problem = "must be 0 where the label is gold"
        if problem:
            raise InvalidInputError(f"The costs of example {example} {problem}.", example=example)
        return found

    def _rates(self) -> Floats:
        """Return what a wrong label costs where a label is gold, or each label there."""
        confusion = self.confusion_
        return self.class_weight_ if confusion is None else np.asarray(confusion)

    def _begun(self, shard: _L, gold: Ints) -> _L:
        """Return a shard that knows what was unknown of gold, and has a first completion of it."""
        shard.rates = None if hasattr(self.cost, "by_label") else self._rates()
        if not np.any(gold < 0):
            return shard
        shard.known = gold
        return shard.completed(np.zeros(self.n_features_))

    def held(self, X: Any, given: Any, shard: Any) -> Any:
        """Return which label each part may have, [..., label] -> bool, as gold is stacked."""
        sizes = np.diff(shard.offsets).tolist()
        rows = [
            permitted(entry, self.labels_, f"part {name!r}", i)
            for i, (x, told, n) in enumerate(zip(X, given, sizes, strict=True), shard.start)
            for names in [self._part_names(x, n)]
            for name, entry in zip(names, listed(told, names, i), strict=True)
        ]
        return np.array(rows)

    def _part_names(self, x: Any, n: int) -> Sequence[Any]:
        """Return what the parts of an example are called where something is given of them."""
        return range(n)

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
        """Return what the labels of ``other`` cost where y is right, as far as it is known."""
        if self.own_loss is not None:
            return float(self.own_loss(y, other))
        right, predicted = self._aligned(y, other)
        gold = self.labels_.encode(right, partial=True)
        return float(paid(self._costs([y], gold), gold, self.labels_.encode(predicted)).sum())

    def part_count(self, y: Any) -> int:
        """Return the number of labels that are known."""
        return sum(self._is_known(label) for label in self._listed(y))

    def part_errors(self, y: Any, other: Any) -> int:
        """Return the number of known labels in which ``other`` differs."""
        # not by their numbers: a label that training never saw is an error, and no more
        pairs = zip(*self._aligned(y, other), strict=True)
        return sum(self._is_known(a) and not _same(a, b) for a, b in pairs)

    def _is_known(self, label: Any) -> bool:
        return label is not None or None in self.labels_


def _confusion(loss: Any, labels: LabelSet) -> Floats:
    """Return the matrix of a loss; refuse what is none."""
    found = np.asarray(loss.confusion(labels), dtype=np.float64)
    size, problem = len(labels), ""
    if found.shape != (size, size):
        problem = f"has shape {found.shape}; it must be ({size}, {size}), as {list(labels)!r} is"
    elif not np.all(np.isfinite(found) & (found >= 0)):
        problem = "holds a cost that is not finite or below 0"
    elif np.any(np.diag(found)):
        k = int(np.argmax(np.diag(found) != 0))
        problem = f"charges {found[k, k]:g} for {labels[k]!r} where it is right; that must be 0"
    elif not found.any():
        problem = "charges nothing for any mistake"
    if problem:
        raise InvalidInputError(f"The matrix of loss={loss!r} {problem}.")
    return found


def _same(label: Any, other: Any) -> bool:
    try:
        return bool(label == other)
    except ValueError:  # an array is no label
        return False
