r"""Pairs of sequences encoded for a pass: scores of operations, and all alignments in one call.

Weights are laid out as those of matches (symbol by symbol, or d features), of symbols left out of
the first sequence, of those left out of the second, and of opening a gap in either. Outputs are
:class:`~structopt.structures.lattice.inputs.Paths` of matches ``i * m + j``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from structopt.arrays import Floats, Ints, check_weights
from structopt.structures.alignment_path import kernels
from structopt.structures.alignment_path.inputs import Pairs
from structopt.structures.base.input_rows import InputRows
from structopt.structures.base.oracles import (
    Oracle,
    best_other,
    loss_augmented,
    other_augmented,
    worst,
)
from structopt.structures.base.parts import Directions
from structopt.structures.base.shard import Answers, decoders
from structopt.structures.lattice.inputs import Paths
from structopt.structures.lattice.paths_shard import PathsShard
from structopt.structures.losses.part_costs import PartCosts


class Scores(NamedTuple):
    """What the decoders add up: matches, symbols left out of either, and opening a gap."""

    pair: Floats
    deleted: Floats
    inserted: Floats
    opens: Floats


class AlignmentPathShard(PathsShard):
    """Stacked pairs of sequences with gold alignments.

    Parameters
    ----------
    pairs : Pairs
    n_features : int
    gold : Paths
        The matches of gold alignments.
    costs : PartCosts
        Of matches.
    local : bool
        Whether the ends of both sequences may stay outside at no cost.
    start : int
        Number of the first example in messages.
    decoder : {"compiled", "networkx"}
    """

    along: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "pair_ends": ("rows", "pair_offset"),
        "a_ends": ("deleted",),
        "b_ends": ("inserted",),
        "gold_ptr": ("gold",),
        "right_ptr": ("right",),
    }

    def __init__(
        self, pairs: Pairs, n_features: int, gold: Paths, costs: PartCosts, local: bool,
        start: int = 0, decoder: str = "compiled",
    ) -> None:  # fmt: skip
        self.base, self.a_ends, self.b_ends, self.pair_ends = (
            pairs.base, pairs.a_ends, pairs.b_ends, pairs.pair_ends,
        )  # fmt: skip
        self.pair_offset, self.deleted, self.inserted = (
            pairs.pair_offset, pairs.deleted, pairs.inserted,
        )  # fmt: skip
        self.rows: InputRows | None = None
        if pairs.pair_offset is None:
            self.rows = InputRows.over(self.base)[0 : int(self.pair_ends[-1])]
        self.n_features, self.n_examples = n_features, len(self.a_ends) - 1
        self.gold_ptr, self.gold = gold
        self.right_ptr, self.right = gold  # what losses are measured from; gold, what directions
        self.costs, self.local, self.start, self.decoder = costs, local, start, decoder

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every pair."""
        scores = self._scores(weights)
        if oracle is loss_augmented:
            return self._compared(scores, self._found(scores, 1, *self._costs)[0])
        if oracle is worst:
            return self._compared(scores, self._found(Scores(*(-s for s in scores)), 1)[0])
        if oracle in (best_other, other_augmented):
            costs = () if oracle is best_other else self._costs
            two, _ = self._found(scores, 2, *costs)  # there are always two: a match, and none
            return self._compared(scores, self._other(two))
        raise self._unknown(oracle)

    def argmax(self, weights: Floats) -> Answers:
        """Return every pair's best alignment, without the loss."""
        scores = self._scores(weights)
        return self._compared(scores, self._found(scores, 1)[0])

    def k_best(self, weights: Floats, k: int) -> list[Answers]:
        """Return the k best of every pair; ``score`` is infinite where there are fewer."""
        scores = self._scores(weights)
        found, count = self._found(scores, k)
        ranks = []
        for r in range(min(k, int(count.max()))):
            listed = [found.of(e * k + r) for e in range(self.n_examples)]
            ranks.append(self._compared(scores, Paths.stacked(listed), count <= r))
        return ranks

    def within(self, weights: Floats, held: Any) -> tuple[Paths, Any]:
        """Return every pair's best alignment with matches held in (1) or out (0), and who has none.

        A symbol of a match that is held in may be neither left out nor matched with another. Local
        alignments could still end before it: there such matches score more than all else can cost.
        """
        pair, deleted, inserted, opens = (np.array(s) for s in self._scores(weights))
        missing = np.zeros(self.n_examples, dtype=bool)
        for e in range(self.n_examples):
            rows, columns = (
                gaps[ends[e] : ends[e + 1]]
                for gaps, ends in ((deleted, self.a_ends), (inserted, self.b_ends))
            )
            own = slice(self.pair_ends[e], self.pair_ends[e + 1])
            told = held[own].reshape(len(rows), len(columns))
            i, j = np.nonzero(told == 1)
            if np.any(np.diff(i) <= 0) or np.any(np.diff(j) <= 0):
                missing[e] = True  # they cross; all others go together
                continue
            score = pair[own].reshape(told.shape)
            gained = score[i, j]
            if self.local:
                most = min(told.shape) * (np.abs(score).max() + np.abs(opens).sum())
                gained = gained + 1 + 2 * (most + np.abs(rows).sum() + np.abs(columns).sum())
            score[told == 0] = score[i] = score[:, j] = rows[i] = columns[j] = -np.inf
            score[i, j] = gained
        return self._found(Scores(pair, deleted, inserted, opens), 1)[0], missing

    @property
    def n_scores(self) -> int:
        """How many matches are possible."""
        return int(self.pair_ends[-1])

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the pairs ``which``: the operations in which they differ from gold."""
        return self.differing(self.anchor, outputs, np.asarray(which, dtype=np.int64))

    def differing(self, good: Paths, other: Paths, which: Ints) -> Directions:
        """Return the operations of ``good`` less those of ``other``."""
        by_row = self.rows is not None
        offsets = self.gold if self.pair_offset is None else self.pair_offset
        return Directions(
            *kernels.differences(
                which, self.a_ends, self.b_ends, self.pair_ends, offsets, by_row,
                self.rows.first if self.rows is not None else 0, self.deleted, self.inserted,
                self.n_features - 2, self.base.shape[0] - 1, self.local, *good, *other,
            )
        )  # fmt: skip

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        yield from (self.a_ends, self.b_ends, self.deleted, self.inserted, self.gold_ptr)
        yield from (self.right_ptr, self.right, np.array([*self._costs, self.local]))
        if self.pair_offset is not None:
            yield self.pair_offset

    @property
    def _costs(self) -> tuple[float, float]:
        return float(self.costs.extra), float(self.costs.missed)

    def _scores(self, weights: Floats) -> Scores:
        if not self.few:
            weights = check_weights(weights, self.n_features)
        if self.rows is not None:
            pair = self.rows.scores(np.array(weights[:-4]), 1).ravel()
        else:
            pair = weights[self.pair_offset]
        return Scores(pair, weights[self.deleted], weights[self.inserted], weights[-2:].copy())

    def _found(
        self, scores: Scores, k: int, extra: float = 0.0, missed: float = 0.0
    ) -> tuple[Paths, Ints]:
        """Return the k best of every pair, one after the other, and how many each has."""
        given = (self.a_ends, self.b_ends, self.pair_ends, *scores, self.local)
        right = (self.right_ptr, self.right, extra, missed)
        ptr, matches, count = decoders(kernels, self.decoder).k_best(k, *given, *right)
        return Paths(ptr, matches), count

    def _compared(self, scores: Scores, found: Paths, missing: Any = ()) -> Answers:
        """Return alignments with their loss and ``w . delta``, infinite where they are missing."""
        loss = kernels.losses(self.right_ptr, self.right, *found, *self._costs)
        delta = kernels.total(self.a_ends, self.b_ends, self.pair_ends, *scores, self.local,
                              *self.anchor)  # fmt: skip
        delta -= kernels.total(self.a_ends, self.b_ends, self.pair_ends, *scores, self.local,
                               *found)  # fmt: skip
        if len(missing):
            delta[missing] = np.inf
        return Answers(found, loss, delta)
