r"""Outputs that are 0/1 vectors of parts, each part a row of the base, found example by example.

With part features F stacked over all examples, a pass is one product ``s = F w``, a question to
each example, and

    loss(z) = c . (z - gold),      w . delta(z) = s . (gold - z),

where c is what each part adds to the loss: its cost if gold lacks it, minus its cost if not.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Floats, Ints, check_weights
from structopt.errors import InvalidInputError
from structopt.structures.base.input_rows import InputRows
from structopt.structures.base.oracles import Oracle, best_other, loss_augmented, worst
from structopt.structures.base.parts import Directions
from structopt.structures.base.shard import Answers, Shard, forget

Mask = NDArray[np.bool_]


class VectorShard(Shard):
    """Stacked 0/1 vectors with gold; a subclass says how one example's best are found.

    Parameters
    ----------
    features : array or CSR array
        A row for each part of each example.
    offsets : array of int
        Example i has the parts ``offsets[i] .. offsets[i + 1] - 1``.
    gold : array of bool
    added : array
        c, what each part adds to the loss.
    start : int
        Number of the first example in messages.
    """

    along: ClassVar[Mapping[str, tuple[str, ...]]] = {"offsets": ("rows", "gold", "added", "known")}
    known: NDArray[np.int8] | None = None
    """Gold as it was given, -1 for parts of which it is unknown whether gold has them."""

    def __init__(
        self, features: Any, offsets: Ints, gold: Mask, added: Floats, start: int = 0
    ) -> None:
        self.rows, self.offsets, self.gold, self.added = (
            InputRows.of(features),
            offsets,
            gold,
            added,
        )
        self.start, self.n_examples, self.known = start, len(offsets) - 1, None
        self.paid: Floats = np.zeros(self.n_examples)  # the loss of what `gold` holds

    @cached_property
    def base(self) -> Any:
        """The base matrix."""
        return self.rows.base

    @abstractmethod
    def search(
        self, i: int, scores: Floats, k: int, known: Mask | None
    ) -> list[tuple[Mask, float]]:
        """Return up to k best outputs of example i, without ``known``, each with its excess."""

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every example; outputs are stacked masks."""
        scores = self._scores(weights)
        if oracle is loss_augmented:
            return self._each(scores, scores + self.added)[0]
        if oracle is worst:
            return self._each(scores, -scores)[0]
        if oracle is best_other:
            return self._each(scores, scores, other=True)[0]
        raise self._unknown(oracle)

    def argmax(self, weights: Floats) -> Answers:
        """Return every example's best output, without the loss."""
        scores = self._scores(weights)
        return self._each(scores, scores)[0]

    def k_best(self, weights: Floats, k: int) -> list[Answers]:
        """Return the k best of every example; ``score`` is infinite where there are fewer."""
        scores = self._scores(weights)
        return self._each(scores, scores, k)

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the examples ``which``: the parts in which they differ from gold."""
        parts = np.flatnonzero(outputs != self.gold)
        ptr = np.searchsorted(parts, self.offsets).astype(np.int64)
        none, coef = np.zeros(len(parts), np.int64), np.where(self.gold[parts], 1.0, -1.0)
        return Directions(ptr, parts + self.rows.first, none, coef).take(which)

    @property
    def unknown(self) -> Any:
        """Which examples have parts that are unknown."""
        if self.known is None:
            return super().unknown
        return self._summed((self.known < 0).astype(np.float64)) > 0

    def anchored(self, outputs: Any) -> Self:
        """Return the same examples with delta measured from ``outputs``; losses stay."""
        moved = forget(copy.copy(self))
        moved.gold = np.asarray(outputs, dtype=bool)
        change = moved.gold.astype(np.float64) - self.gold
        moved.paid = self.paid + self._summed(self.added * change)
        return moved

    def completed(self, weights: Floats) -> Self:
        """Return the examples with what is unknown of gold chosen as these weights like best."""
        if self.known is None:
            return self
        found, missing = self.within(weights, self.known)
        if missing.any():
            example = self.start + int(np.argmax(missing))
            raise InvalidInputError(
                f"What is known of the output of example {example} cannot be completed: no output "
                "agrees with all of it.",
                example=example,
            )
        return self.anchored(found)

    def within(self, weights: Floats, held: Any) -> tuple[Mask, Any]:
        """Return every example's best output with the parts held, and which examples have none."""
        scores, found = self._scores(weights), np.zeros(len(self.gold), dtype=bool)
        missing = np.zeros(self.n_examples, dtype=bool)
        for i, (a, b) in enumerate(pairwise(self.offsets.tolist())):
            best = self.search_within(i, scores[a:b], held[a:b])
            wrong = best is None or np.any((held[a:b] >= 0) & (best != (held[a:b] == 1)))
            missing[i] = wrong
            found[a:b] = False if best is None else best
        return found, missing

    def search_within(self, i: int, scores: Floats, held: Any) -> Mask | None:
        """Return example i's best output with parts in (1) or out (0), -1 if free; None if none."""
        # more than all that the other parts could gain
        most = 2.0 * (1.0 + float(np.abs(scores).sum()))
        found = self.search(i, np.where(held < 0, scores, most * (2.0 * held - 1.0)), 1, None)
        return found[0][0] if found else None

    def begun(self, known: Any) -> Self:
        """Return the shard with what is known of gold, -1 for what is not and costs nothing."""
        if not np.any(known < 0):
            return self
        self.known = known
        self.added = np.where(known < 0, 0.0, self.added)
        return self.completed(np.zeros(self.base.shape[1]))

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        yield from (self.offsets, self.added, self.paid)

    @cached_property
    def owner(self) -> Ints:
        """The example each part belongs to."""
        return np.repeat(np.arange(self.n_examples), np.diff(self.offsets))

    def _scores(self, weights: Floats) -> Floats:
        if not self.rows.few:
            weights = check_weights(weights, self.base.shape[1])
        return self.rows.scores(weights, 1).ravel()

    def _each(
        self, scores: Floats, aim: Floats, k: int = 1, *, other: bool = False
    ) -> list[Answers]:
        """Ask every example, and compare its up to k answers with gold."""
        outputs = np.tile(self.gold, (k, 1))
        excess = np.zeros((k, self.n_examples))
        missing = np.ones((k, self.n_examples), dtype=bool)
        for i, (a, b) in enumerate(pairwise(self.offsets.tolist())):
            found = self.search(i, aim[a:b], k, self.gold[a:b] if other else None)
            for r, (mask, over) in enumerate(found):
                outputs[r, a:b], excess[r, i], missing[r, i] = mask, over, False
        answers = []
        for output, open_, none in zip(outputs, excess, missing, strict=True):
            change = self.gold.astype(np.float64) - output
            score = self._summed(scores * change)
            score[none] = np.inf  # nothing but gold is possible
            loss = self.paid + self._summed(-self.added * change)
            answers.append(Answers(output, loss, score, excess=open_))
        return answers

    def _summed(self, values: Floats) -> Floats:
        return np.bincount(self.owner, values, minlength=self.n_examples).astype(np.float64)
