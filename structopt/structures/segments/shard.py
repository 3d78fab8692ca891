r"""Sequences encoded for a pass: tokens and spans in one matrix, cut into segments in one call.

A pass scores tokens and spans, decodes all sequences, and compares what it found with gold.
Outputs are stacked tags (:class:`~structopt.structures.segments.tags.Tags`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.structures.base.expectations import Expected
from structopt.structures.base.input_rows import InputRows
from structopt.structures.base.label_costs import paid, table
from structopt.structures.base.labelled_shard import LabelledShard
from structopt.structures.base.oracles import Oracle, best_other, loss_augmented, worst
from structopt.structures.base.parts import Directions
from structopt.structures.base.shard import Answers, decoders, no_output, ranked
from structopt.structures.chain.transitions import Bools
from structopt.structures.segments import kernels, marginals_kernels
from structopt.structures.segments.inputs import Sequences
from structopt.structures.segments.layout import Layout
from structopt.structures.segments.marginals import expected, tag_marginals
from structopt.structures.segments.relaxation import SegmentsRelaxation
from structopt.structures.segments.scores import SegmentScores
from structopt.structures.segments.tags import Cut, Tags


class SegmentsShard(LabelledShard):
    """Stacked sequences with gold tags.

    Parameters
    ----------
    sequences : Sequences
    layout : Layout
    tags : Tags
    gold : array of int, shape (N,)
    costs : array of shape (N,) or (N, tags)
        What a wrong tag costs at each position, or each tag.
    span_costs : (float, float) or None
        What a segment that gold does not have costs, and one of gold that is missed.
    allowed : array of bool, shape (K + 1, K + 1), or None
        Which label may follow which, the start and the end last.
    start : int
        Number of the first example in messages.
    decoder : {"compiled", "networkx"}
    """

    along: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "offsets": ("tokens", "gold", "cost", "known", "truth"),
        "span_ends": ("spans",),
    }

    def __init__(
        self, sequences: Sequences, layout: Layout, tags: Tags, gold: Ints, costs: Floats,
        span_costs: tuple[float, float] | None, allowed: Bools | None, start: int = 0,
        decoder: str = "compiled",
    ) -> None:  # fmt: skip
        stacked = sequences.stacked
        self.offsets, self.gold, self.cost, self.start = stacked.offsets, gold, costs, start
        self.layout, self.tags, self.span_costs = layout, tags, span_costs
        self.truth = gold  # what the losses of spans are measured from; `gold`, what directions are
        self.n_examples, self.n_labels = len(self.offsets) - 1, len(tags.label)
        self.tokens = InputRows.of(stacked.matrix, sequences.base)
        self.span_ends = self.offsets * layout.most
        self.spans = None
        if sequences.spans is not None:
            n = len(gold)
            self.spans = InputRows.over(self.tokens.base)[n : n + n * layout.most]
        self.allowed, self.decoder, self.known = allowed, decoder, None
        self._one = len(gold) * (1 + layout.most * (self.spans is not None))

    @cached_property
    def base(self) -> Any:
        """The base matrix."""
        return self.tokens.base

    # ------------------------------------------------------------------ questions
    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every sequence; outputs are stacked tags."""
        scores = self.part_scores(weights)
        if oracle is loss_augmented:
            return self._best(scores, *self.augmented(scores))
        if oracle is worst:
            return self._best(scores, scores.negated())
        if oracle is best_other:
            ways = decoders(kernels, self.decoder)
            return self._compared(scores, *ways.best_other(*scores, self.offsets, *self.cut))
        raise self._unknown(oracle)

    def argmax(self, weights: Floats) -> Answers:
        """Return every sequence's best tags, without the loss."""
        scores = self.part_scores(weights)
        return self._best(scores, scores)

    def k_best(self, weights: Floats, k: int) -> list[Answers]:
        """Return the k best of every sequence; ``score`` is infinite where there are fewer."""
        scores, ways = self.part_scores(weights), decoders(kernels, self.decoder)
        found = []
        for a, b in pairwise(self.offsets.tolist()):
            most = min(k, self.n_labels ** (b - a))
            cuts = zip(*ways.k_best(*scores, a, b - a, most), strict=True)
            found.append([self.tags.codes(Cut(*cut)) for cut in cuts])
        answers = []
        for outputs, missing in ranked(self.gold, self.offsets, found):
            cut = self.tags.segments(outputs, self.offsets)
            answers.append(self._compared(scores, *cut, ~missing))
        return answers

    def marginals(self, weights: Floats) -> list[Floats]:
        """Return the probability of each tag at each position, by sum-product."""
        right = (self.right.label, self.right_length, 0.0)
        segment, _, log_z = marginals_kernels.marginals(
            *self.part_scores(weights), self.offsets, *right, np.zeros(self.n_examples)
        )
        if not np.isfinite(log_z).all():
            raise no_output(self.start + int(np.argmin(np.isfinite(log_z))))
        found = tag_marginals(self, segment)
        return [found[a:b] for a, b in pairwise(self.offsets.tolist())]

    def expected(self, weights: Floats, loss_weight: float, cost: Floats) -> Expected:
        """Return expectations over all segmentations, by sum-product."""
        return expected(self, weights, loss_weight, cost)

    def relaxation(self) -> SegmentsRelaxation:
        """Return the segmentations of every sequence as flows."""
        return SegmentsRelaxation(self)

    # ------------------------------------------------------------------ scores and losses
    def part_scores(self, weights: Floats) -> SegmentScores:
        """Return the scores of the parts of segments."""
        scores = SegmentScores.of(self.tokens, self.spans, weights, self.layout)
        return scores.masked(self.allowed)

    def augmented(self, scores: SegmentScores, rate: float = 1.0) -> tuple[SegmentScores, float]:
        """Return scores with the loss, and what is added for each segment of gold."""
        costs = rate * table(self.cost, self.gold, self.n_labels)
        first = costs[:, self.tags.first]
        inside = np.where(self.tags.inside >= 0, costs[:, self.tags.inside], 0.0)
        bonus = 0.0
        if self.span_costs is not None:
            extra, missed = self.span_costs
            first[:, : self.tags.n_types] += rate * extra
            bonus = -rate * (extra + missed)
        raised = scores._replace(begin=scores.begin + first, inside=scores.inside + inside)
        return raised, bonus

    @cached_property
    def cut(self) -> Cut:
        """Gold as segments."""
        return self.tags.segments(self.gold, self.offsets)

    @cached_property
    def right(self) -> Cut:
        """What the losses of spans are measured from."""
        return self.tags.segments(self.truth, self.offsets)

    @cached_property
    def right_length(self) -> Ints:
        """The length of each segment of a type, at its last position; 0 elsewhere."""
        starts, lengths = self.right.starts(), self.right.lengths(self.offsets)
        found = np.zeros(len(self.gold), dtype=np.int64)
        own = self.right.label[starts] < self.tags.n_types
        found[(starts + lengths - 1)[own]] = lengths[own]
        return found

    @cached_property
    def loss_constant(self) -> Floats:
        """What missing all segments of gold costs, in each sequence."""
        missed = 0.0 if self.span_costs is None else self.span_costs[1]
        return missed * np.add.reduceat((self.right_length > 0) * 1.0, self.offsets[:-1])

    def _span_loss(self, cut: Cut) -> Floats:
        """Return what segments cost as wholes."""
        if self.span_costs is None:
            return np.zeros(self.n_examples)
        extra, missed = self.span_costs
        starts, lengths = cut.starts(), cut.lengths(self.offsets)
        ends, label = starts + lengths - 1, cut.label[starts]
        own = label < self.tags.n_types
        hit = own & (self.right_length[ends] == lengths) & (self.right.label[ends] == label)
        paid_at = np.zeros(len(self.gold))
        paid_at[ends] = np.where(hit, -missed, np.where(own, extra, 0.0))
        return self.loss_constant + np.add.reduceat(paid_at, self.offsets[:-1])

    # ------------------------------------------------------------------ answers
    def within(self, weights: Floats, held: Any) -> tuple[Ints, Any]:
        """Return every sequence's best tags among those allowed, and which have none."""
        scores, tags = self.part_scores(weights), self.tags
        inside = (tags.inside >= 0) & held[:, tags.inside]
        aim = scores._replace(
            begin=np.where(held[:, tags.first], scores.begin, -np.inf),
            inside=np.where(inside, scores.inside, -np.inf),
        )
        answers = self._best(scores, aim)
        return np.asarray(answers.outputs), ~np.isfinite(answers.score)

    def _within(self, weights: Floats, allowed: Any) -> Ints:
        labels, none = self.within(weights, allowed)
        if none.any():
            raise no_output(self.start + int(np.argmax(none)))
        return labels

    def _best(self, scores: SegmentScores, aim: SegmentScores, bonus: float = 0.0) -> Answers:
        viterbi = decoders(kernels, self.decoder).viterbi
        given = (self.offsets, self.right.label, self.right_length, bonus)
        return self._compared(scores, *viterbi(*aim, *given))

    def _compared(self, scores: SegmentScores, label: Ints, begin: Bools, possible: Any) -> Answers:
        """Return segments with their loss and ``w . delta``, infinite where there are none."""
        cut = Cut(label, begin)
        outputs = self.tags.codes(cut)
        loss = np.add.reduceat(paid(self.cost, self.gold, outputs), self.offsets[:-1])
        loss += self._span_loss(cut)
        finite = scores.finite()  # gold may be forbidden where nothing is known of it
        score = self._totals(finite, self.cut) - self._totals(finite, cut)
        score[~possible] = np.inf
        return Answers(outputs, loss, score)

    def _totals(self, scores: SegmentScores, cut: Cut) -> Floats:
        return np.asarray(kernels.totals(*scores, self.offsets, *cut))

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the sequences ``which``: the parts in which they differ from gold."""
        layout, cut = self.layout, self.tags.segments(outputs, self.offsets)
        sizes = (layout.n_labels, layout.n_types, layout.n_inputs, layout.n_spans, layout.most)
        rows = (self.tokens.first, 0 if self.spans is None else self.spans.first, self._one)
        return Directions(
            *kernels.differing_parts(
                self.offsets, *self.cut, *cut, which, layout.places, np.array(sizes),
                layout.length_places, np.array(rows),
            )
        )  # fmt: skip

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        yield from (self.offsets, self.cost, self.layout.longest, self.truth)
        yield np.array(self.span_costs or (0.0, 0.0))
