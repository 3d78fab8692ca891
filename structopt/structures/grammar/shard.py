r"""Sentences encoded for a pass: scores of tags, spans and rules, and all trees in one call.

Weights are laid out as the inputs of tokens by tag (n_tags, d), those of first and of last tokens
by label (n_labels, d) each where ends count, those of spans by label (n_labels, e), and one weight
a rule. Outputs are :class:`~structopt.structures.lattice.inputs.Paths` of nodes, as
:mod:`~structopt.structures.grammar.kernels` numbers them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from structopt.arrays import Floats, Ints, check_weights
from structopt.errors import InvalidInputError
from structopt.structures.base.expectations import Expected
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
from structopt.structures.grammar import kernels, marginals
from structopt.structures.grammar.given import HeldSpans, Staged
from structopt.structures.grammar.inputs import Sentences
from structopt.structures.grammar.rules import Productions
from structopt.structures.lattice.inputs import Paths
from structopt.structures.lattice.kernels import differing_edges
from structopt.structures.lattice.paths_shard import PathsShard
from structopt.structures.losses.part_costs import PartCosts


class Scores(NamedTuple):
    """What the decoders add up: by token or span and symbol, and by production."""

    tag: Floats
    first: Floats
    last: Floats
    span: Floats
    rule: Floats


class Layout(NamedTuple):
    """Where weights stand, and which symbols have them.

    Attributes
    ----------
    tags, labels : array of int
        The symbols that are tags, and those that rules rewrite.
    n_inputs, n_spans, n_rules : int
        Columns of tokens and of spans; rules.
    ends : bool
        Whether the first and the last token of a label's span have weights.
    """

    tags: Ints
    labels: Ints
    n_inputs: int
    n_spans: int
    n_rules: int
    ends: bool

    @property
    def blocks(self) -> int:
        """How many blocks of weights tokens have."""
        return len(self.tags) + 2 * len(self.labels) * self.ends

    @property
    def starts(self) -> tuple[int, int]:
        """Where the weights of spans and of rules begin."""
        spans = self.blocks * self.n_inputs
        return spans, spans + len(self.labels) * self.n_spans

    @property
    def n_features(self) -> int:
        """How many weights there are."""
        return self.starts[1] + self.n_rules

    def place(self, symbols: Ints, made: Productions) -> Ints:
        """Return where each symbol stands among some of them, -1 if it does not."""
        place = np.full(len(made.symbols), -1)
        place[symbols] = np.arange(len(symbols))
        return place


class GrammarShard(PathsShard):
    """Stacked sentences with gold trees.

    Parameters
    ----------
    sentences : Sentences
    made : Productions
    layout : Layout
    gold : Paths
        The nodes of gold trees.
    costs : PartCosts
        Of brackets.
    allowed : array of bool, optional
        [word, tag]: which tags a word may have.
    start : int
        Number of the first example in messages.
    decoder : {"compiled", "networkx"}
    """

    along: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "offsets": ("tokens", "words"),
        "span_ends": ("spans",),
        "gold_ptr": ("gold",),
        "right_ptr": ("right",),
    }

    def __init__(
        self, sentences: Sentences, made: Productions, layout: Layout, gold: Paths,
        costs: PartCosts, allowed: Any = None, start: int = 0, decoder: str = "compiled",
    ) -> None:  # fmt: skip
        self.base, self.offsets, self.words = sentences.base, sentences.offsets, sentences.words
        self.span_ends, self.n_examples = sentences.span_ends, len(sentences.offsets) - 1
        rows, n = InputRows.over(self.base), int(self.offsets[-1])
        self.tokens, self.spans = rows[0:n], rows[n : n + int(self.span_ends[-1])]
        self.made, self.layout, self.costs, self.allowed = made, layout, costs, allowed
        self.gold_ptr, self.gold = gold
        self.right_ptr, self.right = gold  # what losses are measured from; gold, what directions
        self.start, self.decoder = start, decoder

    # ------------------------------------------------------------------ questions
    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every sentence."""
        scores = self._scores(weights)
        costs = float(self.costs.extra), float(self.costs.missed)
        if oracle is loss_augmented:
            return self._compared(scores, self._trees(scores, 1, costs))
        if oracle is worst:
            return self._compared(scores, self._trees(_negated(scores), 1))
        if oracle in (best_other, other_augmented):
            two = self._trees(scores, 2, *(() if oracle is best_other else (costs,)))
            return self._compared(scores, self._other(two))
        raise self._unknown(oracle)

    def argmax(self, weights: Floats) -> Answers:
        """Return every sentence's best tree, without the loss."""
        scores = self._scores(weights)
        return self._compared(scores, self._trees(scores, 1))

    def k_best(self, weights: Floats, k: int) -> list[Answers]:
        """Return the k best of every sentence; ``score`` is infinite where there are fewer."""
        scores = self._scores(weights)
        found = self._trees(scores, k)
        every = range(0, self.n_examples * k, k)
        ranks = [Paths.stacked([found.of(i + r) for i in every]) for r in range(k)]
        return [self._compared(scores, trees) for trees in ranks if trees.ptr[-1]]

    def expected(self, weights: Floats, loss_weight: float, cost: Floats) -> Expected:
        """Return expectations over all trees."""
        return marginals.expected(self, self._scores(weights), weights, loss_weight, cost)

    def within(self, weights: Floats, held: Any) -> tuple[Paths, Any]:
        """Return every sentence's best tree with the spans given, and who has none."""
        weights = check_weights(weights, self.layout.n_features)
        staged = Staged.of(self.made)
        found = [
            self.part(i, i + 1)._agreeing(weights, staged, told) for i, told in enumerate(held)
        ]
        return Paths.stacked(found), np.array([len(nodes) == 0 for nodes in found])

    @property
    def n_scores(self) -> int:
        """How many symbols of spans a chart holds, over all sentences."""
        lengths = np.diff(self.offsets)
        return int(lengths @ (lengths + 1)) // 2 * len(self.made.symbols)

    # ------------------------------------------------------------------ directions
    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the sentences ``which``: the nodes in which they differ from gold."""
        which = np.asarray(which, dtype=np.int64)
        ptr, nodes, coef = differing_edges(self.gold_ptr, self.gold, *outputs, which)
        return self.parts(ptr, nodes, coef, which)

    def parts(self, ptr: Ints, nodes: Ints, coef: Floats, which: Ints) -> Directions:
        """Return sums of nodes, ``nodes[ptr[r] ..]`` those of sentence ``which[r]``."""
        made, layout = self.made, self.layout
        return Directions(
            *kernels.parts(
                ptr, nodes, coef, which, self.offsets, self.span_ends, made.lhs, made.rule,
                layout.place(layout.tags, made), layout.place(layout.labels, made),
                layout.n_inputs, layout.n_spans, layout.blocks, layout.starts[1],
                self.tokens.first, self.spans.first, self.base.shape[0] - 1,
            )
        )  # fmt: skip

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        yield from (self.offsets, self.gold_ptr, self.right_ptr, self.right)
        yield from (np.array(self.made.symbols), self.made.below, self.layout.tags)
        yield np.array([self.costs.extra, self.costs.missed, self.made.start, self.layout.ends])
        if self.allowed is not None:
            yield self.allowed

    # ------------------------------------------------------------------ inside
    def _scores(self, weights: Floats) -> Scores:
        layout, made = self.layout, self.made
        if not self.few:
            weights = check_weights(weights, layout.n_features)
        spans_at, rules_at = layout.starts
        by_block = self.tokens.scores(np.ascontiguousarray(weights[:spans_at]), layout.blocks)
        n_tags, n_labels = len(layout.tags), len(layout.labels)
        shape = (len(by_block), len(made.symbols))
        tag = np.full(shape, -np.inf)
        tag[:, layout.tags] = by_block[:, :n_tags]
        if self.allowed is not None:
            tag[:, layout.tags] = np.where(self.allowed[self.words], by_block[:, :n_tags], -np.inf)
        first = last = span = np.zeros((0, shape[1]))
        if layout.ends:
            first, last = np.zeros(shape), np.zeros(shape)
            first[:, layout.labels] = by_block[:, n_tags : n_tags + n_labels]
            last[:, layout.labels] = by_block[:, n_tags + n_labels :]
        if layout.n_spans:
            span = np.zeros((len(self.spans), shape[1]))
            given = np.ascontiguousarray(weights[spans_at:rules_at])
            span[:, layout.labels] = self.spans.scores(given, n_labels)
        rule = np.append(weights[rules_at:], 0.0)[made.rule]
        return Scores(tag, first, last, span, rule)

    def _agreeing(self, weights: Floats, staged: Staged, told: HeldSpans | None) -> Ints:
        """Return the best tree of a single sentence that agrees, no nodes if there is none."""
        scores = self._scores(weights)
        if told is None:
            return self._trees(scores, 1).of(0)
        given = (self.offsets, *staged.scores(scores, told), *staged.made.arrays)
        ways = decoders(kernels, self.decoder)
        _, nodes = ways.k_best(1, *given, self.right_ptr, self.right, 0.0, 0.0)
        return staged.plain(nodes, self.made)

    def _trees(self, scores: Scores, k: int, costs: tuple[float, float] = (0.0, 0.0)) -> Paths:
        """Return the k best trees of every sentence, one after the other."""
        ways = decoders(kernels, self.decoder)
        given = (self.offsets, *scores, *self.made.arrays, self.right_ptr, self.right)
        found = Paths(*ways.k_best(k, *given, *costs))
        without = np.flatnonzero(np.diff(found.ptr)[::k] == 0)
        if len(without):
            i = int(without[0])
            raise InvalidInputError(
                f"The grammar derives no tree for example {self.start + i}, of "
                f"{self.offsets[i + 1] - self.offsets[i]} tokens, from "
                f"{self.made.symbols[self.made.start]!r}: give it more rules, or leave out "
                f"such sentences ({len(without)} here).",
                example=self.start + i,
            )
        return found

    def _compared(self, scores: Scores, found: Paths) -> Answers:
        """Return trees with their loss and ``w . delta``, infinite where there is none."""
        made = self.made
        loss, delta = kernels.compare(
            self.offsets, *scores, made.lhs, made.below, len(made.symbols), self.gold_ptr,
            self.gold, self.right_ptr, self.right, *found, float(self.costs.extra),
            float(self.costs.missed),
        )  # fmt: skip
        return Answers(found, loss, delta)


def _negated(scores: Scores) -> Scores:
    """Return scores by which the worst tree is the best one; what is impossible stays so."""
    tag = np.where(np.isfinite(scores.tag), -scores.tag, -np.inf)
    return Scores(tag, -scores.first, -scores.last, -scores.span, -scores.rule)
