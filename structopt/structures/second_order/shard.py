r"""Sequences encoded for a pass of a second-order chain.

Weights are those of a chain, W, T and perhaps start and end, and then U (K, K, K); a pass decodes
over pairs of labels, and what differs from gold is what differs in a chain, and triples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from structopt.arrays import Floats, Ints, Stacked
from structopt.structures.base.expectations import Expected
from structopt.structures.base.input_rows import InputRows
from structopt.structures.base.label_costs import augmented, paid, table
from structopt.structures.base.labelled_shard import LabelledShard
from structopt.structures.base.oracles import (
    Oracle,
    best_other,
    loss_augmented,
    other_augmented,
    worst,
)
from structopt.structures.base.parts import Directions
from structopt.structures.base.shard import Answers, decoders, no_output, ranked
from structopt.structures.chain import kernels as chain_kernels
from structopt.structures.chain.marginals import gold_parts, sum_features
from structopt.structures.chain.transitions import Bools, impossible
from structopt.structures.second_order import kernels
from structopt.structures.second_order.marginals_kernels import marginals
from structopt.structures.second_order.relaxation import SecondOrderRelaxation
from structopt.structures.second_order.scores import SecondOrderScores, third


class SecondOrderShard(LabelledShard):
    """Stacked sequences with gold labels.

    Parameters
    ----------
    stacked : Stacked
    gold : array of int, shape (N,)
    n_labels : int
    boundaries : bool
    costs : array of shape (N,) or (N, K)
    allowed : array of bool, shape (K + 1, K + 1), or None
    start : int
    decoder : {"compiled", "networkx"}
    """

    inputs_in = "tokens"
    along: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "offsets": ("tokens", "gold", "cost", "known")
    }

    def __init__(
        self, stacked: Stacked, gold: Ints, n_labels: int, boundaries: bool, costs: Floats,
        allowed: Bools | None, start: int = 0, decoder: str = "compiled",
    ) -> None:  # fmt: skip
        self.offsets, self.gold, self.boundaries = stacked.offsets, gold, boundaries
        self.cost, self.start, self.n_labels = costs, start, n_labels
        self.n_examples = len(self.offsets) - 1
        self.tokens = InputRows.of(stacked.matrix, stacked.base)
        self.decoder, self.allowed, self.known = decoder, allowed, None

    @cached_property
    def base(self) -> Any:
        """The base matrix."""
        return self.tokens.base

    # ------------------------------------------------------------------ questions
    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every sequence; outputs are stacked integers."""
        scores = self.part_scores(weights)
        if oracle is loss_augmented:
            raised = augmented(scores.unary, self.gold, self.cost)
            return self._compared(scores, self._best(scores._replace(unary=raised)))
        if oracle is worst:
            return self._compared(scores, self._best(scores.negated()))
        if oracle in (best_other, other_augmented):
            ways, aim = decoders(kernels, self.decoder), scores
            if oracle is other_augmented:
                aim = scores._replace(unary=augmented(scores.unary, self.gold, self.cost))
            labels = np.asarray(ways.best_other(*aim, self.offsets, self.gold))
            # where nothing but gold is possible, the answer is gold
            none = np.logical_and.reduceat(labels == self.gold, self.offsets[:-1])
            return self._compared(scores, labels, none)
        raise self._unknown(oracle)

    def argmax(self, weights: Floats) -> Answers:
        """Return every sequence's best labels, without the loss."""
        scores = self.part_scores(weights)
        return self._compared(scores, self._best(scores))

    def k_best(self, weights: Floats, k: int) -> list[Answers]:
        """Return the k best of every sequence; ``score`` is infinite where there are fewer."""
        scores, ways = self.part_scores(weights), decoders(kernels, self.decoder)
        found = [
            ways.k_best(*scores, a, b - a, min(k, self.n_labels ** (b - a)))
            for a, b in pairwise(self.offsets.tolist())
        ]
        every = ranked(self.gold, self.offsets, found)
        return [self._compared(scores, labels, missing) for labels, missing in every]

    def marginals(self, weights: Floats) -> list[Floats]:
        """Return the probability of each label at each position, by sum-product."""
        free = np.zeros(self.n_examples)
        found, _, _, log_z = marginals(*self.part_scores(weights), self.offsets, free)
        if not np.isfinite(log_z).all():
            raise no_output(self.start + int(np.argmin(np.isfinite(log_z))))
        return [found[a:b] for a, b in pairwise(self.offsets.tolist())]

    def expected(self, weights: Floats, loss_weight: float, cost: Floats) -> Expected:
        """Return expectations over all label sequences, by sum-product."""
        scores = self.part_scores(weights)
        raised = augmented(scores.unary, self.gold, loss_weight * self.cost)
        node, pairs, triples, log_z = marginals(*scores._replace(unary=raised), self.offsets, cost)
        rate, last = np.repeat(cost, np.diff(self.offsets)), third(self.offsets)
        gold, gold_pairs = gold_parts(self, rate)
        gold_triples = np.zeros_like(triples)
        place = (self.gold[last - 2], self.gold[last - 1], self.gold[last])
        np.add.at(gold_triples, place, rate[last])

        def features(node: Floats, pairs: Floats, triples: Floats) -> Floats:
            return np.append(sum_features(self, rate[:, None] * node, pairs), triples)

        at_gold = features(gold, gold_pairs, gold_triples)
        wrong = np.sum(rate[:, None] * node * table(self.cost, self.gold, self.n_labels))
        relative = float(cost @ log_z - weights @ at_gold)
        return Expected(features(node, pairs, triples) - at_gold, float(wrong), relative)

    def relaxation(self) -> SecondOrderRelaxation:
        """Return the label sequences as flows over pairs of labels."""
        return SecondOrderRelaxation(self)

    # ------------------------------------------------------------------ answers
    def part_scores(self, weights: Floats) -> SecondOrderScores:
        """Return the scores of labels at tokens, of transitions, of the ends and of triples."""
        given = (self.n_labels, self.boundaries, self.allowed)
        return SecondOrderScores.of(self.tokens, weights, *given)

    def _best(self, scores: SecondOrderScores) -> Ints:
        return np.asarray(decoders(kernels, self.decoder).viterbi(*scores, self.offsets))

    def _within(self, weights: Floats, allowed: Any) -> Ints:
        scores = self.part_scores(weights)
        return self._best(scores._replace(unary=np.where(allowed, scores.unary, -np.inf)))

    def _impossible(self, labels: Ints) -> Any:
        return impossible(self.allowed, self.offsets, labels, self.n_labels)

    def _compared(self, scores: SecondOrderScores, labels: Ints, missing: Any = None) -> Answers:
        """Return outputs with their loss and ``w . delta``, infinite where they are missing."""
        none = self._impossible(labels)
        free = np.zeros(len(labels))
        # gold may be forbidden where nothing is known of it (prediction)
        chain = scores.chain if self.allowed is None else scores.chain.finite()
        _, score = chain_kernels.compare(*chain, self.offsets, self.gold, free, labels)
        score += scores.of_triples(self.gold, self.offsets)
        score -= scores.of_triples(labels, self.offsets)
        score[none if missing is None else none | missing] = np.inf
        loss = np.add.reduceat(paid(self.cost, self.gold, labels), self.offsets[:-1])
        return Answers(labels, loss, score)

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the sequences ``which``: the parts in which they differ from gold."""
        one, n_inputs = self.base.shape[0] - 1, self.tokens.n_inputs
        chain = chain_kernels.differing_parts(
            self.offsets, self.gold, outputs, which, self.n_labels, n_inputs, self.boundaries,
            self.tokens.first, one,
        )  # fmt: skip
        place = self.n_labels * (n_inputs + self.n_labels + 2 * self.boundaries)
        given = (self.offsets, self.gold, outputs, which, self.n_labels, place, one)
        return Directions(*kernels.with_triples(*chain, *given))

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        yield from (self.offsets, self.cost)
