r"""Sequences encoded for a pass: all tokens in one matrix, decoded in one compiled call.

With tokens X (N, d), labels K and weights w = (W, T[, start, end]) a pass is

    unary = X W',    labels = viterbi(unary, T, start, end),    loss and w . delta per example.

>>> import numpy as np
>>> shard = ChainShard(np.eye(2), np.array([0, 2]), np.array([0, 1]), np.ones(2), False)
>>> from structopt.structures.base.oracles import loss_augmented
>>> answers = shard.ask(loss_augmented, np.zeros(8))
>>> answers.outputs, answers.loss, answers.score
(array([1, 0]), array([2.]), array([0.]))
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import gcd, lcm
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints, base_matrix, check_weights
from structopt.errors import IncompatibleError
from structopt.structures.base.expectations import Expected
from structopt.structures.base.oracles import (
    Oracle,
    best_other,
    loss_augmented,
    slack_rescaled,
    worst,
)
from structopt.structures.base.parts import Directions
from structopt.structures.base.parts_kernels import part_scores
from structopt.structures.base.shard import Answers, Shard
from structopt.structures.chain import kernels as chain_kernels
from structopt.structures.chain import levels_kernels as chain_levels_kernels
from structopt.structures.chain.marginals import expected

if TYPE_CHECKING:
    from structopt.structures.chain.relaxation import ChainRelaxation

MAX_LEVELS = 4096
"""Distinct losses of one sequence up to which slack-rescaled decoding is offered: its time and
memory grow with them, and at this many a sequence costs as much as 4096 plain ones."""


MAX_DENSITY = 1 / 3
"""Share of nonzeros below which the compiled sparse product beats BLAS (measured at d = 128,
K = 26: 0.8 ms against 1.2 ms at 22%, break-even at 36%)."""


class ChainScores(NamedTuple):
    """What decoders read: score of each label at each token, of each transition, of the ends."""

    unary: Floats
    transition: Floats
    start: Floats
    end: Floats

    @classmethod
    def of(cls, tokens: Any, weights: Any, n_labels: int, boundaries: bool) -> ChainScores:
        """Score stacked tokens."""
        n_inputs = tokens.shape[1]
        pairs, ends = n_labels * n_inputs, n_labels * (n_inputs + n_labels)
        w = check_weights(weights, ends + 2 * n_labels * boundaries)
        # copies: weights that are read-only would be another type to numba, and compiled anew
        around = np.array(w[ends:]).reshape(2, -1) if boundaries else np.zeros((2, n_labels))
        transition = np.array(w[pairs:ends]).reshape(n_labels, n_labels)
        columns = w[:pairs].reshape(n_labels, n_inputs).T
        if sp.issparse(tokens):
            rows = (tokens.indptr, tokens.indices, tokens.data)
            unary = chain_kernels.sparse_scores(*rows, np.array(columns, order="C"))
        else:
            unary = np.ascontiguousarray(tokens @ columns)
        return cls(unary, transition, around[0], around[1])

    @classmethod
    def of_few(cls, tokens: Any, weights: Floats, n_labels: int, boundaries: bool) -> ChainScores:
        """Score a few tokens (a matrix or CSR arrays) by weights that need no check.

        Reads only the weights it needs, which matters where inputs are words by the 10^5.
        """
        pairs = len(weights) - n_labels * (n_labels + 2 * boundaries)
        ends = pairs + n_labels * n_labels
        around = weights[ends:] if boundaries else np.zeros(2 * n_labels)
        if isinstance(tokens, tuple):
            unary = part_scores(*tokens, weights[:pairs], n_labels)
        else:
            unary = np.ascontiguousarray(tokens @ weights[:pairs].reshape(n_labels, -1).T)
        transition = weights[pairs:ends].reshape(n_labels, n_labels)
        return cls(unary, transition, around[:n_labels], around[n_labels:])


class ChainShard(Shard):
    """Stacked sequences with gold labels.

    Parameters
    ----------
    tokens : array or CSR array of shape (N, d)
    offsets : array of int
        Sequence i is rows ``offsets[i] .. offsets[i + 1] - 1``.
    gold : array of int, shape (N,)
    class_weight : array of float, shape (K,)
    boundaries : bool
        Whether start and end have weights.
    start : int
        Number of the first example in messages.
    """

    def __init__(
        self, tokens: Any, offsets: Ints, gold: Ints, class_weight: Floats, boundaries: bool,
        start: int = 0,
    ) -> None:  # fmt: skip
        self.offsets, self.gold, self.boundaries = offsets, gold, boundaries
        self.class_weight, self.cost, self.start = class_weight, class_weight[gold], start
        self.n_examples, self.n_labels = len(offsets) - 1, len(class_weight)
        one = sp.csr_array(([1.0], ([0], [0])), shape=(1, tokens.shape[1]))
        self.base = base_matrix(sp.vstack([sp.csr_array(tokens), one], format="csr"))
        self.tokens = tokens
        nonzeros = int(self.base.indptr[-2])
        if sp.issparse(tokens) or nonzeros < MAX_DENSITY * tokens.size:
            rows = (self.base.data[:nonzeros], self.base.indices[:nonzeros], self.base.indptr[:-1])
            self.tokens = sp.csr_array(rows, shape=tokens.shape)  # a view of base, no copy
        self._levels: tuple[Ints, Ints] | None = None

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every sequence; outputs are stacked integers."""
        scores = self._scores(weights)
        if oracle is loss_augmented:
            labels = chain_kernels.viterbi(*scores, self.offsets, self.gold, self.cost)
        elif oracle is best_other:
            labels = chain_kernels.best_other(*scores, self.offsets, self.gold)
        elif oracle is slack_rescaled:
            if self._levels is None:  # depends on gold alone
                self._levels = loss_levels(self.offsets, self.gold, self.class_weight, self.start)
            labels = chain_levels_kernels.slack_rescaled(
                *scores, self.offsets, self.gold, self.cost, *self._levels
            )
        elif oracle is worst:
            negated = (-part for part in scores)
            labels = chain_kernels.viterbi(*negated, self.offsets, self.gold, 0.0 * self.cost)
        else:
            raise IncompatibleError(f"Chain does not know the oracle {oracle.name!r}.")
        answers = self._compared(scores, labels)
        if oracle is best_other and self.n_labels == 1:
            answers.score[:] = np.inf  # nothing but gold is possible
        return answers

    def argmax(self, weights: Floats) -> Answers:
        """Return every sequence's best labels, without the loss."""
        scores = self._scores(weights)
        free = np.zeros(len(self.gold))
        labels = chain_kernels.viterbi(*scores, self.offsets, self.gold, free)
        return self._compared(scores, labels)

    def k_best(self, weights: Floats, k: int) -> list[Answers]:
        """Return the k best of every sequence; ``score`` is infinite where there are fewer."""
        scores = self._scores(weights)
        labels = np.tile(self.gold, (k, 1))
        missing = np.zeros((k, self.n_examples), dtype=bool)
        for i, (a, b) in enumerate(pairwise(self.offsets.tolist())):
            own = min(k, self.n_labels ** (b - a))
            labels[:own, a:b] = chain_kernels.k_best(scores.unary[a:b], *scores[1:], own)
            missing[own:, i] = True
        found = [self._compared(scores, row) for row in labels]
        for answers, none in zip(found, missing, strict=True):
            answers.score[none] = np.inf
        return found

    def part_scores(self, weights: Floats) -> ChainScores:
        """Return the score of each label at each token, of each transition, of the ends."""
        return self._scores(weights)

    def expected(self, weights: Floats, loss_weight: float, cost: Floats) -> Expected:
        """Return expectations over all label sequences, by sum-product."""
        return expected(self, weights, loss_weight, cost)

    def relaxation(self) -> ChainRelaxation:
        """Return the marginal polytope of every sequence."""
        from structopt.structures.chain.relaxation import ChainRelaxation

        return ChainRelaxation(self)

    def single(self, i: int) -> SingleChain:
        """Return sequence i as a shard of its own: a view."""
        return SingleChain(self, i)

    def _scores(self, weights: Floats) -> ChainScores:
        return ChainScores.of(self.tokens, weights, self.n_labels, self.boundaries)

    def _compared(self, scores: ChainScores, labels: Ints) -> Answers:
        """Return outputs with their loss and ``w . delta``."""
        loss, score = chain_kernels.compare(*scores, self.offsets, self.gold, self.cost, labels)
        return Answers(labels, loss, score)

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        yield from (self.offsets, self.cost)

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the sequences ``which``: the parts in which they differ from gold."""
        parts = chain_kernels.differing_parts(
            self.offsets, self.gold, outputs, which, self.n_labels, self.tokens.shape[1],
            self.boundaries,
        )  # fmt: skip
        return Directions(*parts)


class SingleChain(ChainShard):
    """One sequence of a shard, over the same base and without copies.

    Made for many small questions: weights must be a float64 vector of the right length, and are
    not checked.
    """

    def __init__(self, whole: ChainShard, i: int) -> None:
        first, stop = int(whole.offsets[i]), int(whole.offsets[i + 1])
        self.offsets, self.boundaries = np.array([0, stop - first]), whole.boundaries
        self.gold, self.cost = whole.gold[first:stop], whole.cost[first:stop]
        self.class_weight, self.start, self.n_examples = whole.class_weight, whole.start + i, 1
        self.n_labels, self.base, self._levels = whole.n_labels, whole.base, None
        self._rows = np.append(np.arange(first, stop), len(whole.gold))
        sparse, base = sp.issparse(whole.tokens), whole.base
        self.tokens = (
            (base.indptr[first : stop + 1], base.indices, base.data)
            if sparse
            else whole.tokens[first:stop]
        )

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the sequence (``which`` is [0]) over the base of the whole shard."""
        n_inputs = self.base.shape[1]
        ptr, source, offset, coef = chain_kernels.differing_parts(
            self.offsets, self.gold, outputs, which, self.n_labels, n_inputs, self.boundaries
        )
        return Directions(ptr, self._rows[source], offset, coef)

    def single(self, i: int) -> SingleChain:
        """Return itself."""
        return self

    def _scores(self, weights: Floats) -> ChainScores:
        return ChainScores.of_few(self.tokens, weights, self.n_labels, self.boundaries)


def loss_levels(
    offsets: Ints, gold: Ints, class_weight: Floats, start: int = 0
) -> tuple[Ints, Ints]:
    """Return the level that a wrong position adds, and how many levels each sequence has."""
    exact = [Fraction(weight) for weight in class_weight.tolist()]
    common = lcm(*(f.denominator for f in exact))
    whole = [int(f * common) for f in exact]
    multiple = [w // gcd(*whole) for w in whole]
    # 2**40 leaves room to add them up in 64 bits, and is far beyond any grid worth walking
    grid = np.array(multiple if max(multiple) < 2**40 else [0] * len(multiple), dtype=np.int64)
    kinds, kind = np.unique(class_weight, return_inverse=True)
    step, n_levels = chain_levels_kernels.loss_levels(
        offsets, grid[gold], kind[gold], len(kinds), MAX_LEVELS
    )
    if np.any(n_levels > MAX_LEVELS):
        i = int(np.argmax(n_levels > MAX_LEVELS))
        raise IncompatibleError(
            f"With these class weights example {start + i} has more than {MAX_LEVELS} distinct "
            "losses, too many for slack rescaling: use margin rescaling, or class weights that are "
            "small integers."
        )
    return step, n_levels
