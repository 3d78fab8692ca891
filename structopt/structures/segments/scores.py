"""What the decoders of segments read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from structopt.arrays import Floats, check_weights
from structopt.structures.base.input_rows import InputRows
from structopt.structures.chain.transitions import Bools
from structopt.structures.segments.layout import Layout


class SegmentScores(NamedTuple):
    """The score of a segment is that of its parts; what is forbidden is minus infinity.

    Attributes
    ----------
    begin, inside, end : array of shape (N, K)
        Of each label at the first position of a segment, at each other one, and (once more) at the
        last one.
    lengths : array of shape (L, K)
        Of segments of 1 .. L positions.
    spans : array of shape (N, L, K) or (0, L, K)
        Of segments that begin at a position, by length.
    transition : array of shape (K, K)
        Of a label (rows) and the one after it.
    start, stop : array of shape (K,)
        Of the first and of the last segment.
    """

    begin: Floats
    inside: Floats
    end: Floats
    lengths: Floats
    spans: Floats
    transition: Floats
    start: Floats
    stop: Floats

    @classmethod
    def of(
        cls, tokens: InputRows, spans: InputRows | None, weights: Floats, layout: Layout
    ) -> SegmentScores:
        """Score stacked tokens; weights of a few tokens need no check."""
        if not tokens.few:
            weights = check_weights(weights, layout.n_features)
        n, own = layout.n_labels, layout.n_types
        places = layout.places
        blocks = n + own * (layout.begin + layout.end)
        found = tokens.scores(weights[: places[3]], blocks)
        inside = np.ascontiguousarray(found[:, :n])
        begin, end = inside.copy(), np.zeros_like(inside)
        if layout.begin:
            begin[:, :own] += found[:, n : n + own]
        if layout.end:
            end[:, :own] = found[:, blocks - own :]
        whole = np.zeros((len(inside) if spans is not None else 0, layout.most, n))
        if spans is not None:
            given = spans.scores(weights[places[4] : places[5]], own)
            whole[:, :, :own] = given.reshape(len(inside), layout.most, own)
        ends = np.zeros((2, n))
        if layout.boundaries:
            ends = weights[places[6] :].reshape(2, n).copy()
        transition = weights[places[5] : places[6]].reshape(n, n).copy()
        lengths = layout.length_scores(weights)
        return cls(begin, inside, end, lengths, whole, transition, ends[0], ends[1])

    def masked(self, allowed: Bools | None) -> SegmentScores:
        """Return the scores with minus infinity for what may not follow."""
        if allowed is None:
            return self
        return self._replace(
            transition=np.where(allowed[:-1, :-1], self.transition, -np.inf),
            start=np.where(allowed[-1, :-1], self.start, -np.inf),
            stop=np.where(allowed[:-1, -1], self.stop, -np.inf),
        )

    def negated(self) -> SegmentScores:
        """Return the scores of the opposite question; what is forbidden stays so."""
        return SegmentScores(*(np.where(part == -np.inf, part, -part) for part in self))

    def finite(self) -> SegmentScores:
        """Return the scores with 0 for what is forbidden, to compare outputs that are not."""
        return SegmentScores(*(np.where(part == -np.inf, 0.0, part) for part in self))
