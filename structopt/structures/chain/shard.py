r"""Sequences encoded for a pass: all tokens in one matrix, decoded in one compiled call.

With tokens X (N, d), labels K and weights w = (W, T[, start, end]) a pass is

    unary = X W',    labels = viterbi(unary, T, start, end),    loss and w . delta per example.

>>> import numpy as np
>>> from structopt.arrays import stack_sequences
>>> from structopt.structures.base.oracles import loss_augmented
>>> shard = ChainShard(stack_sequences([np.eye(2)]), np.array([0, 1]), np.ones(2), False)
>>> answers = shard.ask(loss_augmented, np.zeros(8))
>>> answers.outputs, answers.loss, answers.score
(array([1, 0]), array([2.]), array([0.]))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import gcd, lcm
from typing import Any, ClassVar

import numpy as np

from structopt.arrays import Floats, Ints, Stacked
from structopt.errors import IncompatibleError
from structopt.structures.base.expectations import Expected
from structopt.structures.base.input_rows import InputRows
from structopt.structures.base.label_costs import augmented, by_label, gold_is_free, paid
from structopt.structures.base.label_problem import LabelProblem
from structopt.structures.base.labelled_shard import LabelledShard
from structopt.structures.base.oracles import (
    Oracle,
    best_other,
    loss_augmented,
    other_augmented,
    slack_rescaled,
    worst,
)
from structopt.structures.base.parts import Directions
from structopt.structures.base.shard import Answers, decoders, no_output, ranked
from structopt.structures.chain import kernels as chain_kernels
from structopt.structures.chain import levels_kernels as chain_levels_kernels
from structopt.structures.chain.marginals import expected
from structopt.structures.chain.marginals_kernels import marginals
from structopt.structures.chain.relaxation import ChainRelaxation
from structopt.structures.chain.scores import ChainScores
from structopt.structures.chain.transitions import Bools, impossible

MAX_LEVELS = 4096
"""Distinct losses of one sequence up to which slack-rescaled decoding is offered: its time and
memory grow with them, and at this many a sequence costs as much as 4096 plain ones."""


NO_LEVELS = (
    "Slack rescaling of sequences walks over the losses that an output can have, and these costs "
    "differ from label to label: use margin rescaling, or losses.Hamming."
)


class ChainShard(LabelledShard):
    """Stacked sequences with gold labels.

    Parameters
    ----------
    stacked : Stacked
        The tokens of all sequences.
    gold : array of int, shape (N,)
    class_weight : array of float, shape (K,)
    boundaries : bool
        Whether start and end have weights.
    start : int
        Number of the first example in messages.
    decoder : {"compiled", "networkx"}
    allowed : array of bool, shape (K + 1, K + 1), optional
        Which label may follow which, the start and the end last.
    costs : array of shape (N,) or (N, K), optional
        What a wrong label costs at each position, or each label; by default the class weight of
        gold.
    """

    inputs_in = "tokens"
    along: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "offsets": ("tokens", "gold", "cost", "known")
    }

    def __init__(
        self, stacked: Stacked, gold: Ints, class_weight: Floats, boundaries: bool,
        start: int = 0, decoder: str = "compiled", allowed: Bools | None = None,
        costs: Floats | None = None,
    ) -> None:  # fmt: skip
        self.offsets, self.gold, self.boundaries = stacked.offsets, gold, boundaries
        self.cost, self.start = class_weight[gold] if costs is None else costs, start
        self.n_examples, self.n_labels = len(self.offsets) - 1, len(class_weight)
        # the last row of base is a single 1: transitions and ends are counted
        self.tokens = InputRows.of(stacked.matrix, stacked.base)
        self.decoder, self.allowed, self.known = decoder, allowed, None

    @cached_property
    def base(self) -> Any:
        """The base matrix."""
        return self.tokens.base

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every sequence; outputs are stacked integers."""
        return self._answered(oracle, self.part_scores(weights))

    def answered(self, oracle: Oracle, unary: Floats, steps: Floats) -> Answers:
        """Answer ``oracle`` from the score of each label at each token, and of transitions."""
        K, around = self.n_labels, np.zeros(2 * self.n_labels)
        if self.boundaries:
            around = steps[K * K :]
        scores = ChainScores(unary, steps[: K * K].reshape(K, K), around[:K], around[K:])
        return self._answered(oracle, scores.masked(self.allowed))

    def label_problem(self, oracle: Oracle) -> LabelProblem | None:
        """Return the tokens with their labels, for margins of the loss."""
        plain = oracle is loss_augmented and gold_is_free(self.cost, self.gold)
        if not plain or self.decoder != "compiled":
            return None
        return LabelProblem(
            self.tokens.csr, self.offsets, self.gold, self.cost, self.n_labels, self.boundaries,
            self.allowed,
        )  # fmt: skip

    def _answered(self, oracle: Oracle, scores: ChainScores) -> Answers:
        ways, missing = decoders(chain_kernels, self.decoder), None
        if oracle is loss_augmented:
            labels = ways.viterbi(*self._augmented(scores), self.offsets, self.gold, self._flat)
        elif oracle in (best_other, other_augmented):
            aim = scores
            if oracle is other_augmented:
                aim = scores._replace(unary=augmented(scores.unary, self.gold, self.cost))
            labels = ways.best_other(*aim, self.offsets, self.gold)
            if self.n_labels == 1 or self.allowed is not None:
                # where nothing but gold is possible, the answer is gold
                missing = np.logical_and.reduceat(labels == self.gold, self.offsets[:-1])
        elif oracle is slack_rescaled:
            if by_label(self.cost, self.gold):
                raise IncompatibleError(NO_LEVELS)
            given = (self.offsets, self.gold, self.cost, *self._levels)
            ways = chain_levels_kernels if self.decoder == "compiled" else ways
            labels = ways.slack_rescaled(*scores, *given)
        elif oracle is worst:
            labels = self._best(scores.negated())
        else:
            raise self._unknown(oracle)
        return self.compared(scores, labels, missing)

    def argmax(self, weights: Floats) -> Answers:
        """Return every sequence's best labels, without the loss."""
        scores = self.part_scores(weights)
        return self.compared(scores, self._best(scores))

    def k_best(self, weights: Floats, k: int) -> list[Answers]:
        """Return the k best of every sequence; ``score`` is infinite where there are fewer."""
        scores, k_best = self.part_scores(weights), decoders(chain_kernels, self.decoder).k_best
        found = [
            k_best(scores.unary[a:b], *scores[1:], min(k, self.n_labels ** (b - a)))
            for a, b in pairwise(self.offsets.tolist())
        ]
        every = ranked(self.gold, self.offsets, found)
        return [self.compared(scores, labels, missing) for labels, missing in every]

    def marginals(self, weights: Floats) -> list[Floats]:
        """Return the probability of each label at each position, by sum-product."""
        scores = self.part_scores(weights)
        found, _, log_z = marginals(*scores, self.offsets, np.zeros(self.n_examples))
        if self.allowed is not None and not np.isfinite(log_z).all():
            raise no_output(self.start + int(np.argmin(np.isfinite(log_z))))
        return [found[a:b] for a, b in pairwise(self.offsets.tolist())]

    def part_scores(self, weights: Floats) -> ChainScores:
        """Return the score of each label at each token, of each transition, of the ends."""
        scores = ChainScores.of(self.tokens, weights, self.n_labels, self.boundaries)
        return scores.masked(self.allowed)

    def expected(self, weights: Floats, loss_weight: float, cost: Floats) -> Expected:
        """Return expectations over all label sequences, by sum-product."""
        return expected(self, weights, loss_weight, cost)

    def relaxation(self) -> ChainRelaxation:
        """Return the marginal polytope of every sequence."""
        return ChainRelaxation(self)

    def _within(self, weights: Floats, allowed: Any) -> Ints:
        scores = self.part_scores(weights)
        return self._best(scores._replace(unary=np.where(allowed, scores.unary, -np.inf)))

    def _impossible(self, labels: Ints) -> Any:
        """Return which sequences were decoded nonetheless: they have no output."""
        return impossible(self.allowed, self.offsets, labels, self.n_labels)

    def _best(self, scores: ChainScores) -> Ints:
        free = np.zeros(len(self.gold))
        return np.asarray(
            decoders(chain_kernels, self.decoder).viterbi(*scores, self.offsets, self.gold, free)
        )

    def _augmented(self, scores: ChainScores) -> ChainScores:
        """Return scores with the costs that differ from label to label."""
        if not by_label(self.cost, self.gold):
            return scores
        return scores._replace(unary=scores.unary + self.cost)

    @property
    def _flat(self) -> Floats:
        """The cost of every label but gold, where there is one."""
        return np.zeros(len(self.gold)) if by_label(self.cost, self.gold) else self.cost

    @cached_property
    def _levels(self) -> tuple[Ints, Ints]:
        kinds, kind = np.unique(self.cost, return_inverse=True)
        return loss_levels(self.offsets, kind, kinds, self.start)

    def compared(self, scores: ChainScores, labels: Ints, missing: Any = None) -> Answers:
        """Return outputs with their loss and ``w . delta``, infinite where they are missing."""
        if self.allowed is not None:
            none = self._impossible(labels)
            missing = none if missing is None else missing | none
            # gold may be forbidden where nothing is known of it (prediction)
            scores = scores.finite()
        loss, score = chain_kernels.compare(*scores, self.offsets, self.gold, self._flat, labels)
        if by_label(self.cost, self.gold):
            loss = np.add.reduceat(paid(self.cost, self.gold, labels), self.offsets[:-1])
        if missing is not None:
            score[missing] = np.inf
        return Answers(labels, loss, score)

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        yield from (self.offsets, self.cost)

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the sequences ``which``: the parts in which they differ from gold."""
        parts = chain_kernels.differing_parts(
            self.offsets, self.gold, outputs, which, self.n_labels, self.tokens.n_inputs,
            self.boundaries, self.tokens.first, self.base.shape[0] - 1,
        )  # fmt: skip
        return Directions(*parts)


def loss_levels(offsets: Ints, kind: Ints, kinds: Floats, start: int = 0) -> tuple[Ints, Ints]:
    """Return the level that a wrong position adds, and how many levels each sequence has.

    ``kinds`` are the distinct costs, ``kind`` says which one each position has.
    """
    exact = [Fraction(cost) for cost in kinds.tolist()]
    common = lcm(*(f.denominator for f in exact))
    whole = [int(f * common) for f in exact]
    multiple = [w // max(1, gcd(*whole)) for w in whole]
    # 2**40 leaves room to add them up in 64 bits, and is far beyond any grid worth walking
    grid = np.array(multiple if max(multiple) < 2**40 else [0] * len(multiple), dtype=np.int64)
    step, n_levels = chain_levels_kernels.loss_levels(
        offsets, grid[kind], kind, len(kinds), MAX_LEVELS
    )
    if np.any(n_levels > MAX_LEVELS):
        i = int(np.argmax(n_levels > MAX_LEVELS))
        raise IncompatibleError(
            f"With these class weights example {start + i} has more than {MAX_LEVELS} distinct "
            "losses, too many for slack rescaling: use margin rescaling, or class weights that are "
            "small integers."
        )
    return step, n_levels
