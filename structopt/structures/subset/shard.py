r"""Sets encoded for a pass: the scores of all items at once, then one table an example.

w . delta(y) = sum_p s_p (gold_p - y_p),     loss(y) = L[a, b].
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from structopt.arrays import Floats, Ints, check_weights
from structopt.structures.base.given import Mask
from structopt.structures.base.input_rows import InputRows
from structopt.structures.base.oracles import (
    Oracle,
    best_other,
    loss_augmented,
    slack_rescaled,
    worst,
)
from structopt.structures.base.parts import Directions
from structopt.structures.base.shard import Answers, Shard, forget, ranked
from structopt.structures.subset import tables


class SetShard(Shard):
    """Stacked items with gold sets; outputs are stacked masks.

    Parameters
    ----------
    matrix : array or CSR array
        A row for each item; of labels, one for each example.
    offsets : array of int
        Example i has the items ``offsets[i] .. offsets[i + 1] - 1``.
    gold : array of bool
    loss : object with ``table(positives, negatives)``
    size : int or None
        Items of each set, if that is fixed.
    start : int
        Number of the first example in messages.
    """

    inputs_in = "rows"
    along: ClassVar[Mapping[str, tuple[str, ...]]] = {"offsets": ("rows", "gold", "right")}
    told: bool = True
    """Whether gold is known; if not, it holds nothing (prediction)."""

    def __init__(
        self, matrix: Any, offsets: Ints, gold: Mask, loss: Any, size: int | None, start: int = 0
    ) -> None:
        self.rows, self.offsets, self.gold = InputRows.of(matrix), offsets, gold
        self.right = gold  # what losses are measured from; `gold`, what directions are
        self.cost, self.size, self.start = loss, size, start
        self.n_examples = len(offsets) - 1

    @cached_property
    def base(self) -> Any:
        """The base matrix."""
        return self.rows.base

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every example."""
        scores = self._scores(weights)
        missing = np.zeros(self.n_examples, dtype=bool)
        outputs = self.gold.copy()
        for i, o in enumerate(self._examples):
            found: Mask | None
            if oracle is loss_augmented:
                found = tables.augmented(scores[o], self.right[o], self._losses[i], self.size)
            elif oracle is slack_rescaled:
                found = tables.rescaled(scores[o], self.right[o], self._losses[i], self.size)
            elif oracle is worst:
                found = tables.best(-scores[o], self.size)
            elif oracle is best_other:
                two = tables.best_sets(scores[o], self.size, 2)
                others = (y for y in two if not np.array_equal(y, self.gold[o]))
                found = next(others, None)
            else:
                raise self._unknown(oracle)
            missing[i] = found is None
            if found is not None:
                outputs[o] = found
        answers = self._compared(scores, outputs, missing)
        if self.size is None or oracle is best_other or not self.told:
            return answers
        # gold may be of another size, and is an output too
        right = self._compared(scores, self.right)
        values = [oracle.hinge(found.loss, found.score) for found in (answers, right)]
        back = np.repeat(values[1] > values[0], np.diff(self.offsets))
        return self._compared(scores, np.where(back, self.right, outputs))

    def argmax(self, weights: Floats) -> Answers:
        """Return every example's best set, without the loss."""
        scores = self._scores(weights)
        found = [tables.best(scores[o], self.size) for o in self._examples]
        return self._compared(scores, np.concatenate([np.asarray(y) for y in found]))

    def k_best(self, weights: Floats, k: int) -> list[Answers]:
        """Return the k best of every example; ``score`` is infinite where there are fewer."""
        scores = self._scores(weights)
        found = [tables.best_sets(scores[o], self.size, k) for o in self._examples]
        each = ranked(self.gold, self.offsets, found)
        return [self._compared(scores, outputs, missing) for outputs, missing in each]

    def within(self, weights: Floats, held: Any) -> tuple[Mask, Any]:
        """Return every example's best set with items held in or out, and which have none."""
        scores, outputs = self._scores(weights), self.gold.copy()
        missing = np.zeros(self.n_examples, dtype=bool)
        for i, o in enumerate(self._examples):
            found = tables.best(scores[o], self.size, held[o])
            missing[i] = found is None
            outputs[o] = False if found is None else found
        return outputs, missing

    def anchored(self, outputs: Any) -> Self:
        """Return the same examples with delta measured from ``outputs``; losses stay."""
        moved = forget(copy.copy(self))
        moved.gold = np.asarray(outputs, dtype=bool)
        return moved

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the examples ``which``: the items in which they differ from gold."""
        items = np.flatnonzero(outputs != self.gold)
        ptr = np.searchsorted(items, self.offsets).astype(np.int64)
        coef = np.where(self.gold[items], 1.0, -1.0)
        return Directions(ptr, *self._places(items), coef).take(which)

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        yield from (self.offsets, self.right)

    @property
    def _examples(self) -> Iterator[slice]:
        return (slice(a, b) for a, b in pairwise(self.offsets.tolist()))

    @cached_property
    def _losses(self) -> list[Floats]:
        made: dict[tuple[int, int], Floats] = {}
        found = []
        for o in self._examples:
            size = (int(self.right[o].sum()), int((~self.right[o]).sum()))
            if size not in made:
                made[size] = np.asarray(self.cost.table(*size), dtype=np.float64)
            found.append(made[size])
        return found

    def _scores(self, weights: Floats) -> Floats:
        rows = self.rows
        checked = weights if rows.few else check_weights(weights, rows.n_inputs)
        return rows.scores(checked, 1).ravel()

    def _places(self, items: Ints) -> tuple[Ints, Ints]:
        """Return the row of base and the first weight of some items."""
        return items + self.rows.first, np.zeros(len(items), dtype=np.int64)

    def _compared(self, scores: Floats, outputs: Mask, missing: Any = None) -> Answers:
        """Return sets with their loss and ``w . delta``, infinite where they are missing."""
        change = scores * (self.gold.astype(np.float64) - outputs)
        score = np.add.reduceat(change, self.offsets[:-1])
        loss = np.empty(self.n_examples)
        for i, o in enumerate(self._examples):
            right, chosen = self.right[o], outputs[o]
            loss[i] = self._losses[i][int((right & chosen).sum()), int((~right & chosen).sum())]
        if missing is not None:
            score[missing] = np.inf
        return Answers(outputs, loss, score)


class LabelSetShard(SetShard):
    """Sets of labels: each example has one row, and each label weights of its own."""

    along: ClassVar[Mapping[str, tuple[str, ...]]] = {"offsets": ("gold", "right")}
    each = ("rows",)

    def _scores(self, weights: Floats) -> Floats:
        rows, n = self.rows, self.n_labels
        checked = weights if rows.few else check_weights(weights, rows.n_inputs * n)
        return rows.scores(checked, n).ravel()

    def _places(self, items: Ints) -> tuple[Ints, Ints]:
        example, label = np.divmod(items, self.n_labels)
        return example + self.rows.first, label * self.rows.n_inputs

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        return int(self.offsets[1] - self.offsets[0])
