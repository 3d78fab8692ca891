"""Labellings under constraints, encoded for a pass: asked as a chain is, then mended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np

from structopt.arrays import Floats, Ints, check_weights
from structopt.errors import IncompatibleError
from structopt.structures.base.expectations import Expected
from structopt.structures.base.label_costs import augmented
from structopt.structures.base.oracles import Oracle, best_other, loss_augmented, worst
from structopt.structures.base.parts import Directions
from structopt.structures.base.relaxation import Relaxation
from structopt.structures.base.shard import Answers, Shard
from structopt.structures.chain import kernels as chain_kernels
from structopt.structures.chain.scores import ChainScores
from structopt.structures.chain.shard import ChainShard
from structopt.structures.constrain.search import Checker, LabellingSet
from structopt.structures.program.shard import LIVE


class ConstrainedShard(Shard):
    """Stacked examples, each with the set of its labellings.

    Parameters
    ----------
    chain : ChainShard
        The same examples without constraints.
    sets : sequence of LabellingSet
    chained : bool
        Whether transitions have weights.
    """

    each = ("sets",)

    def __init__(self, chain: ChainShard, sets: Sequence[LabellingSet], chained: bool) -> None:
        self.chain, self.sets, self.chained = chain, sets, chained
        self.base, self.gold, self.offsets = chain.base, chain.gold, chain.offsets
        self.start, self.n_examples = chain.start, chain.n_examples

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every example; outputs are stacked integers."""
        scores = self._scores(weights)
        if oracle is loss_augmented:
            unary = augmented(scores.unary, self.gold, self.chain.cost)
            return self._best(scores, scores._replace(unary=unary))
        if oracle is worst:
            return self._best(scores, scores.negated())
        if oracle is best_other:
            labels = chain_kernels.best_other(*scores, self.offsets, self.gold)
            return self._mended(scores, scores, labels, other=True)
        raise self._unknown(oracle)

    def argmax(self, weights: Floats) -> Answers:
        """Return every example's best labels, without the loss."""
        scores = self._scores(weights)
        return self._best(scores, scores)

    def within(self, weights: Floats, held: Any) -> tuple[Ints, Any]:
        """Return every example's best labels among those allowed, and which examples have none."""
        scores, labels = self._scores(weights), self.gold.copy()
        unary = np.where(held, scores.unary, -np.inf)
        missing = np.zeros(self.n_examples, dtype=bool)
        for i, (a, b) in enumerate(pairwise(self.offsets.tolist())):
            own = self.sets[i].within(held[a:b])
            found = own.best(scores._replace(unary=unary[a:b]))
            missing[i] = not found
            if found:
                labels[a:b] = found[0][0]
        return labels, missing

    def k_best(self, weights: Floats, k: int) -> list[Answers]:
        """Return the k best of every example; ``score`` is infinite where there are fewer."""
        scores = self._scores(weights)
        labels, excess = np.tile(self.gold, (k, 1)), np.zeros((k, self.n_examples))
        missing = np.ones((k, self.n_examples), dtype=bool)
        for i, (a, b) in enumerate(pairwise(self.offsets.tolist())):
            own = scores._replace(unary=scores.unary[a:b])
            for r, (row, over) in enumerate(self.sets[i].best(own, k=k)):
                labels[r, a:b], excess[r, i], missing[r, i] = row, over, False
        every = zip(labels, excess, missing, strict=True)
        return [self._compared(scores, row, over, none) for row, over, none in every]

    def part(self, a: int, b: int) -> Self:
        """Return examples a to b - 1 as a shard over the same base."""
        part = super().part(a, b)
        part.chain = self.chain.part(a, b)
        part.gold, part.offsets = part.chain.gold, part.chain.offsets
        return part

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the examples ``which``; without transitions these parts are left out."""
        full = self.chain.directions(outputs, which)
        if self.chained:
            return full
        keep = full.source != self.base.shape[0] - 1  # the last row stands for transitions
        count = np.concatenate([[0], np.cumsum(keep)])
        return Directions(count[full.ptr], full.source[keep], full.offset[keep], full.coef[keep])

    def relaxation(self) -> Relaxation:
        """Return the chain's polytope where nothing is constrained; else refuse."""
        self._check_free("polytope")
        return self.chain.relaxation()

    def expected(self, weights: Floats, loss_weight: float, cost: Floats) -> Expected:
        """Return the chain's expectations where nothing is constrained; else refuse."""
        self._check_free("expectations")
        return self.chain.expected(weights, loss_weight, cost)

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from self.chain.content()
        for one in self.sets:
            yield from (one.rows.A.data, one.rows.A.indices, one.rows.lower, one.rows.upper)

    @cached_property
    def _checker(self) -> Checker:
        return Checker(self.sets, self.offsets)

    def _check_free(self, what: str) -> None:
        if not self.chained or any(one.rows.A.shape[0] for one in self.sets):
            raise IncompatibleError(
                f"Constrained labellings have no {what}: those of a chain know nothing of its "
                "constraints. Use the method 'cutting-plane', 'frank-wolfe' or 'subgradient'."
            )

    def _scores(self, weights: Floats) -> ChainScores:
        """Return the scores of labels and transitions; without transitions these are 0."""
        if self.chained:
            return self.chain.part_scores(weights)
        K, tokens, free = self.chain.n_labels, self.chain.tokens, np.zeros(self.chain.n_labels)
        checked = weights if tokens.few else check_weights(weights, K * self.base.shape[1])
        return ChainScores(tokens.scores(checked, K), np.zeros((K, K)), free, free)

    def _best(self, scores: ChainScores, aim: ChainScores) -> Answers:
        free = np.zeros(len(self.gold))
        labels = chain_kernels.viterbi(*aim, self.offsets, self.gold, free)
        return self._mended(scores, aim, labels)

    def _mended(
        self, scores: ChainScores, aim: ChainScores, labels: Ints, *, other: bool = False
    ) -> Answers:
        """Replace labels that break constraints by the best that do not; compare with gold."""
        excess = np.zeros(self.n_examples)
        missing = np.zeros(self.n_examples, dtype=bool)
        if other:  # where nothing but gold is possible, the answer is gold
            missing = np.logical_and.reduceat(labels == self.gold, self.offsets[:-1])
        for i in self._checker.broken(labels):
            a, b = self.offsets[i], self.offsets[i + 1]
            own = aim._replace(unary=aim.unary[a:b])
            found = self.sets[i].best(own, known=[self.gold[a:b]] if other else [])
            if found:
                labels[a:b], excess[i] = found[0]
            else:
                missing[i] = True
            if i >= LIVE:
                self.sets[i].release()
        return self._compared(scores, labels, excess, missing)

    def _compared(self, scores: ChainScores, labels: Ints, excess: Floats, missing: Any) -> Answers:
        """Return labels with their loss and ``w . delta``, infinite where they are missing."""
        found = self.chain.compared(scores, labels, missing)
        return Answers(labels, found.loss, found.score, excess=excess)
