r"""Decisions encoded for a pass: one product for all costs, one question to the set.

With inputs x_i, predicted costs c_hat_i = W x_i (or F_i w, where parts have features of their own)
and what each part adds to the loss, a_i (costs c_i, or 1 - 2 gold_i for the Hamming distance),

    w . delta_i(y) = scale c_hat_i . (y - gold_i),      loss_i(y) = a_i . (y - gold_i),

so the loss-augmented question is  min over y in S of  (scale c_hat_i - a_i) . y.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from structopt.arrays import Floats, Ints, check_weights
from structopt.structures.base.input_rows import InputRows
from structopt.structures.base.oracles import Oracle, best_other, loss_augmented, worst
from structopt.structures.base.parts import Directions
from structopt.structures.base.shard import Answers, Shard
from structopt.structures.decision.base import Decided, DecisionSet


class DecisionShard(Shard):
    """Examples that share a set of decisions.

    Parameters
    ----------
    decisions : DecisionSet
    rows : InputRows
        A row an example, or one for each part of each example.
    gold, added : array (n, m)
        Gold decisions, and what each part adds to the loss.
    scale : float
        Factor of the predicted costs in a score.
    start : int
        Number of the first example in messages.
    """

    def __init__(
        self, decisions: DecisionSet, rows: InputRows, gold: Floats, added: Floats, scale: float,
        start: int = 0,
    ) -> None:  # fmt: skip
        self.decisions, self.rows, self.gold, self.added = decisions, rows, gold, added
        self.scale, self.start, self.n_examples = scale, start, len(gold)
        self.by_part = len(rows) != len(gold)
        """Whether parts have features of their own, and share the weights."""
        self.paid: Floats = np.zeros(len(gold))  # the loss of what `gold` holds

    @property
    def base(self) -> Any:
        """The base matrix."""
        return self.rows.base

    def costs(self, weights: Floats) -> Floats:
        """Return the predicted costs of every part, (n, m)."""
        m = self.decisions.n_parts
        if not self.rows.few:
            weights = check_weights(weights, self.rows.n_inputs * (1 if self.by_part else m))
        if self.by_part:
            return self.rows.scores(weights, 1).reshape(-1, m)
        return self.rows.scores(weights, m)

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every example."""
        costs = self.scale * self.costs(weights)
        if oracle is loss_augmented:
            return self._compared(costs, self._cheapest(costs - self.added))
        if oracle is worst:
            return self._compared(costs, self._cheapest(-costs))
        if oracle is best_other:
            found = self.decisions.others(costs, self.gold, self.start)
            return self._compared(costs, found)
        raise self._unknown(oracle)

    def argmax(self, weights: Floats) -> Answers:
        """Return every example's cheapest decision, without the loss."""
        costs = self.scale * self.costs(weights)
        return self._compared(costs, self._cheapest(costs))

    def within(self, weights: Floats, held: Any) -> tuple[Floats, Any]:
        """Return every example's cheapest decision with the parts held, and who has none."""
        found = self.decisions.within(self.costs(weights), held, self.start)
        return found.points, found.excess < 0

    def part(self, a: int, b: int) -> Self:
        """Return examples a to b - 1 as a shard over the same base."""
        part = copy.copy(self)
        part.n_examples, part.start, part.few = b - a, self.start + a, True
        each = self.decisions.n_parts if self.by_part else 1
        part.rows = self.rows[a * each : b * each]
        part.gold, part.added, part.paid = (v[a:b] for v in (self.gold, self.added, self.paid))
        return part

    def single(self, i: int) -> Self:
        """Return example i as a shard of its own."""
        return self.part(i, i + 1)

    def anchored(self, outputs: Any) -> Self:
        """Return the same examples with delta measured from ``outputs``; losses stay."""
        moved = copy.copy(self)
        moved.gold = np.asarray(outputs, dtype=np.float64)
        moved.paid = self.paid + (self.added * (moved.gold - self.gold)).sum(axis=1)
        return moved

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the examples ``which``: the parts in which they differ from gold."""
        apart = self.scale * (outputs[which] - self.gold[which])
        row, part = np.nonzero(apart)
        ptr = np.searchsorted(row, np.arange(len(which) + 1)).astype(np.int64)
        source, offset = which[row], part * self.rows.n_inputs
        if self.by_part:
            source, offset = source * self.decisions.n_parts + part, np.zeros_like(part)
        return Directions(ptr, source + self.rows.first, offset, apart[row, part])

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        yield from (self.added, self.paid, np.array([self.scale]))

    def _cheapest(self, costs: Floats) -> Decided:
        return self.decisions.minimize(costs, self.start)

    def _compared(self, costs: Floats, found: Decided) -> Answers:
        """Return decisions with their loss and ``w . delta``, infinite where there are none."""
        apart = found.points - self.gold
        score = (costs * apart).sum(axis=1)
        score[found.excess < 0] = np.inf
        loss = self.paid + (self.added * apart).sum(axis=1)
        excess = np.maximum(found.excess, 0.0)
        return Answers(found.points, loss, score, excess=excess if excess.any() else None)
