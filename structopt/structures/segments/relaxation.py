r"""Segmentations as paths: a segment leads from where a label begins to where it ends.

Between two positions stand a node for each label that ends there and one for each that begins, and
transitions join them. Parts are all segments (first position, length, label), and then all
transitions at all borders; those that no segmentation has are left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.structures.base.flows import FlowRelaxation, useful
from structopt.structures.segments.marginals import as_parts, sum_features
from structopt.structures.segments.scores import SegmentScores


class SegmentsRelaxation(FlowRelaxation):
    """The segmentations of stacked sequences as flows.

    Parameters
    ----------
    shard : SegmentsShard

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = [np.eye(2)], [["B-a", "O"]]
    >>> relaxation = so.Segments(longest=2).fitted(X, Y).encode(X, Y).relaxation()
    >>> relaxation.gold  # a, O and aa at 0; a and O at 1; then a-a, a-O, O-a and O-O
    array([1., 0., 0., 0., 1., 0., 1., 0., 0.])
    >>> relaxation.project(3.0 * relaxation.gold, error=1e-6).point.round(6)
    array([1., 0., 0., 0., 1., 0., 1., 0., 0.])
    """

    def __init__(self, shard: Any) -> None:
        self._shard, layout, offsets = shard, shard.layout, shard.offsets
        k, most, lengths = layout.n_labels, layout.most, np.diff(offsets)
        node_ptr = np.concatenate([[0], np.cumsum(2 + (lengths - 1) * 2 * k)])
        sequence = np.repeat(np.arange(len(lengths)), lengths)
        first, stop = offsets[sequence], offsets[sequence + 1]
        border = node_ptr[sequence] + 1 + (np.arange(len(first)) - first - 1) * 2 * k

        begin, size, label = (a.ravel() for a in np.indices((len(first), most, k)))
        size += 1
        end = begin + size
        fits = (end <= stop[begin]) & (size <= layout.longest[label])
        begin, size, label, end = (a[fits] for a in (begin, size, label, end))
        at_start, at_stop = begin == first[begin], end == stop[begin]
        tail = np.where(at_start, node_ptr[sequence[begin]], border[begin] + k + label)
        after = np.minimum(end, len(first) - 1)
        head = np.where(at_stop, node_ptr[sequence[begin] + 1] - 1, border[after] + label)
        inner = np.setdiff1d(np.arange(len(first)), offsets[:-1])
        place, before, then = (a.ravel() for a in np.indices((len(inner), k, k)))
        place = inner[place]
        tails = np.concatenate([tail, border[place] + before])
        heads = np.concatenate([head, border[place] + k + then])

        free = np.ones(len(tails), dtype=bool)
        if shard.allowed is not None:
            may = (shard.allowed[-1, label] | ~at_start) & (shard.allowed[label, -1] | ~at_stop)
            free = np.concatenate([may, shard.allowed[before, then]])
        free[free] = useful(tails[free], heads[free], node_ptr)
        super().__init__(tails[free], heads[free], node_ptr)

        own, joins = free[: len(begin)], free[len(begin) :]
        self._segment = begin[own], size[own] - 1, label[own]
        self._transition = place[joins], before[joins], then[joins]
        self._at_start, self._at_stop = at_start[own], at_stop[own]
        self.gold = self._of_gold()
        raised, bonus = shard.augmented(shard.part_scores(np.zeros(layout.n_features)).finite())
        self.loss = self._values(raised)
        right = as_parts(shard, shard.right, np.zeros(len(first)))[0][self._segment]
        typed = self._segment[2] < shard.tags.n_types
        self.loss[: len(right)] += bonus * right * typed
        self.loss_constant = shard.loss_constant

    def scores(self, weights: Floats) -> Floats:
        """Return the score of every segment, and of every transition at every border."""
        return self._values(self._shard.part_scores(weights).finite())

    def features(self, z: Floats) -> Floats:
        """Return the features of fractional segmentations, summed over all sequences."""
        layout, n = self._shard.layout, len(self._segment[0])
        segment = np.zeros((len(self._shard.gold), layout.most, layout.n_labels))
        segment[self._segment] = z[:n]
        pairs = np.zeros((layout.n_labels, layout.n_labels))
        np.add.at(pairs, self._transition[1:], z[n:])
        return sum_features(self._shard, segment, pairs)

    def _values(self, scores: SegmentScores) -> Floats:
        begin, size, label = self._segment
        last = begin + size
        inside = np.cumsum(scores.inside, axis=0)
        value = scores.begin[begin, label] + scores.end[last, label] + scores.lengths[size, label]
        value += inside[last, label] - inside[begin, label]
        if len(scores.spans):
            value += scores.spans[begin, size, label]
        value += np.where(self._at_start, scores.start[label], 0.0)
        value += np.where(self._at_stop, scores.stop[label], 0.0)
        return np.concatenate([value, scores.transition[self._transition[1:]]])

    def _of_gold(self) -> Floats:
        cut = self._shard.cut
        segment = as_parts(self._shard, cut, np.zeros(len(cut.label)))[0]
        place, before, then = self._transition
        joined = cut.begin[place] & (cut.label[place - 1] == before) & (cut.label[place] == then)
        return np.concatenate([segment[self._segment], joined * 1.0])
