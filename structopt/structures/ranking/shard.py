r"""Lists of items encoded for a pass: all items in one matrix, sorted list by list.

With scores s = X w a pass sorts each list (with the loss: as its loss says), and

    w . delta(y) = sum_i (b_i(gold) - b_i(y)) s_i,

with b as in :mod:`structopt.structures.base.orders`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import linear_sum_assignment

from structopt.arrays import Floats, Ints, Stacked, check_weights
from structopt.structures.base.input_rows import InputRows
from structopt.structures.base.oracles import Oracle, best_other, loss_augmented, worst
from structopt.structures.base.orders import Order, balance
from structopt.structures.base.parts import Directions
from structopt.structures.base.shard import Answers, Shard, ranked
from structopt.structures.ranking import search


class RankingShard(Shard):
    """Stacked lists of items; outputs are stacked orders, each numbered from 0.

    Parameters
    ----------
    stacked : Stacked
        The items of all lists.
    relevance : array or None
        Of all items; None where nothing is known (prediction), and then every pair counts.
    loss : object with ``of(relevance, order)`` and ``order(scores, relevance)``
    start : int
        Number of the first example in messages.
    """

    inputs_in = "items"
    along: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "offsets": ("items", "relevance", "gold", "balanced")
    }

    def __init__(
        self, stacked: Stacked, relevance: Floats | None, loss: Any, start: int = 0
    ) -> None:
        self.offsets, self.relevance, self.cost, self.start = (
            stacked.offsets,
            relevance,
            loss,
            start,
        )
        self.items = InputRows.of(stacked.matrix)
        self.n_examples = len(self.offsets) - 1
        lists = (slice(a, b) for a, b in pairwise(self.offsets.tolist()))
        orders = [np.arange(o.stop - o.start) if relevance is None else Order.best(relevance[o])
                  for o in lists]  # fmt: skip
        self.gold: Ints = np.concatenate(orders).astype(np.int64)
        self.balanced = self._balance(self.gold)

    @cached_property
    def base(self) -> Any:
        """The base matrix."""
        return self.items.base

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every list."""
        scores = self._scores(weights)
        if oracle is loss_augmented and self.relevance is not None:
            relevance = self.relevance
            found = [self.cost.order(scores[o], relevance[o]) for o in self._lists]
        elif oracle is worst:
            found = [np.argsort(scores[o], kind="stable") for o in self._lists]
        elif oracle is best_other and self.relevance is not None:
            found = [self._other(scores[o], self.relevance[o]) for o in self._lists]
        else:
            raise self._unknown(oracle)
        return self._compared(scores, found)

    def argmax(self, weights: Floats) -> Answers:
        """Return every list sorted by score, equals by number."""
        scores = self._scores(weights)
        found = [np.argsort(-scores[o], kind="stable") for o in self._lists]
        return self._compared(scores, found)

    def k_best(self, weights: Floats, k: int) -> list[Answers]:
        """Return the k best orders of every list; ``score`` is infinite where there are fewer."""
        scores, known = self._scores(weights), self.relevance
        listed = [search.k_best(scores[o], None if known is None else known[o], k)
                  for o in self._lists]  # fmt: skip
        ranks = []
        for outputs, missing in ranked(self.gold, self.offsets, listed):
            answers = self._compared(scores, [outputs[o] for o in self._lists])
            answers.score[missing] = np.inf
            ranks.append(answers)
        return ranks

    def within(self, weights: Floats, held: Any) -> tuple[Ints, Any]:
        """Return every list's best order of the items allowed at each rank, and who has none.

        Where every pair counts, the score is a sum over ranks: an assignment.
        """
        scores, found = self._scores(weights), []
        missing = np.zeros(self.n_examples, dtype=bool)
        for i, o in enumerate(self._lists):
            n = o.stop - o.start
            value = np.outer(n - 1 - 2.0 * np.arange(n), scores[o])  # [rank, item]
            try:
                found.append(linear_sum_assignment(np.where(held[i], -value, np.inf))[1])
            except ValueError:  # SciPy's word for an infeasible matrix
                found.append(np.arange(n))
                missing[i] = True
        return np.concatenate(found).astype(np.int64), missing

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the lists ``which``: the items whose balance is not that of gold."""
        coef = self.balanced - self._balance(outputs)
        items = np.flatnonzero(coef)
        ptr = np.searchsorted(items, self.offsets).astype(np.int64)
        none = np.zeros(len(items), dtype=np.int64)
        return Directions(ptr, items + self.items.first, none, coef[items]).take(which)

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        yield self.offsets
        if self.relevance is not None:
            yield self.relevance

    @property
    def _lists(self) -> Iterator[slice]:
        return (slice(a, b) for a, b in pairwise(self.offsets.tolist()))

    def _scores(self, weights: Floats) -> Floats:
        items = self.items
        checked = weights if items.few else check_weights(weights, items.n_inputs)
        return items.scores(checked, 1).ravel()

    def _balance(self, orders: Ints) -> Floats:
        known = self.relevance
        each = [balance(orders[o], None if known is None else known[o]) for o in self._lists]
        return np.concatenate(each)

    def _other(self, scores: Floats, relevance: Floats) -> Ints:
        """Return the best order of one list that is not right."""
        found = np.argsort(-scores, kind="stable")
        by_rank = relevance[found]
        if np.any(by_rank[1:] > by_rank[:-1]):
            return found
        # every other order swaps a pair, and none is nearer than where one grade meets the next
        ends = np.flatnonzero(by_rank[1:] < by_rank[:-1])
        at = int(ends[np.argmin(scores[found[ends]] - scores[found[ends + 1]])])
        found[[at, at + 1]] = found[[at + 1, at]]
        return found

    def _compared(self, scores: Floats, found: list[Ints]) -> Answers:
        """Return orders with their loss and ``w . delta``."""
        outputs = np.concatenate(found).astype(np.int64)
        delta = (self.balanced - self._balance(outputs)) * scores
        loss = np.zeros(self.n_examples)
        if self.relevance is not None:
            pairs = zip(found, self._lists, strict=True)
            loss = np.array([self.cost.of(self.relevance[o], order) for order, o in pairs])
        return Answers(outputs, loss, np.add.reduceat(delta, self.offsets[:-1]))
