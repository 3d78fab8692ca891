r"""Marginals of segments, and what they give in feature space.

    F z = (sum_t x_t z_t, sum_t x_t b_t, sum_t x_t e_t, sum_s z_{s,k}, sum f_{s,k} z_{s,k}, ...)

for the marginals z_{s,k} of segments (begin, length, label), from which those of positions z_t, of
first positions b and of last ones e follow, and the marginals of transitions.

>>> import numpy as np, structopt as so
>>> X, Y = [np.eye(2)], [["B-a", "O"]]
>>> shard = so.Segments(longest=2).fitted(X, Y).encode(X, Y)
>>> even = expected(shard, np.zeros(shard.layout.n_features), 0.0, np.ones(1))
>>> even.loss, round(np.exp(even.log_partition))  # aa, a|a, aO, Oa, OO, equally likely
(1.0, 5)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.structures.base.expectations import Expected
from structopt.structures.base.label_costs import table
from structopt.structures.segments import marginals_kernels as kernels
from structopt.structures.segments.tags import Cut


def positions(segment: Floats, offsets: Ints) -> tuple[Floats, Floats, Floats]:
    """Return the marginals of first positions, of the others, and of last ones, (N, K) each."""
    first, inside = segment.sum(axis=1), np.zeros((len(segment), segment.shape[2]))
    last = segment[:, 0].copy()
    for k in range(1, segment.shape[1]):
        # no segment reaches beyond its sequence, so what is shifted out of it is 0
        last[k:] += segment[:-k, k]
        for more in range(1, k + 1):
            inside[more:] += segment[:-more, k]
    return first, inside, last


def tag_marginals(shard: Any, segment: Floats) -> Floats:
    """Return the probability of each tag at each position."""
    first, inside, _ = positions(segment, shard.offsets)
    found, tags = np.zeros((len(first), shard.n_labels)), shard.tags
    for k in range(len(tags.names)):
        found[:, tags.first[k]] += first[:, k]
        if tags.inside[k] >= 0:
            found[:, tags.inside[k]] += inside[:, k]
    return found


def expected(shard: Any, weights: Floats, loss_weight: float, cost: Floats) -> Expected:
    """Return expectations over all segmentations, by sum-product."""
    scores, bonus = shard.augmented(shard.part_scores(weights), loss_weight)
    given = (shard.offsets, shard.right.label, shard.right_length, bonus, cost)
    segment, pairs, log_z = kernels.marginals(*scores, *given)
    rate = np.repeat(cost, np.diff(shard.offsets))
    gold, gold_pairs = as_parts(shard, shard.cut, rate)
    at_gold = sum_features(shard, rate[:, None, None] * gold, gold_pairs)
    features = sum_features(shard, rate[:, None, None] * segment, pairs)
    paid = rate[:, None] * tag_marginals(shard, segment) * table(
        shard.cost, shard.gold, shard.n_labels
    )  # fmt: skip
    loss = float(np.sum(paid))
    if shard.span_costs is not None:
        own = as_parts(shard, shard.right, rate)[0][..., : shard.tags.n_types]
        chosen = segment[..., : shard.tags.n_types]
        extra, missed = shard.span_costs
        weighed = rate[:, None, None] * (extra * chosen * (1 - own) + missed * own * (1 - chosen))
        loss += float(weighed.sum())
    # the scores leave out the loss of gold parts that are missed, a constant
    constant = loss_weight * float(cost @ shard.loss_constant)
    return Expected(features - at_gold, loss, float(cost @ log_z - weights @ at_gold) + constant)


def as_parts(shard: Any, cut: Cut, rate: Floats) -> tuple[Floats, Floats]:
    """Return segments as marginals of segments, and their transitions, weighted and summed."""
    n = shard.layout.n_labels
    starts, lengths = cut.starts(), cut.lengths(shard.offsets)
    segment, pairs = np.zeros((len(cut.label), shard.layout.most, n)), np.zeros((n, n))
    segment[starts, lengths - 1, cut.label[starts]] = 1.0
    later = np.setdiff1d(starts, shard.offsets[:-1])
    np.add.at(pairs, (cut.label[later - 1], cut.label[later]), rate[later])
    return segment, pairs


def sum_features(shard: Any, segment: Floats, pairs: Floats) -> Floats:
    """Return F z for marginals of segments and summed transitions."""
    layout, own = shard.layout, shard.layout.n_types
    first, inside, last = positions(segment, shard.offsets)
    blocks: list[Any] = [shard.tokens.summed(first + inside)]
    if layout.begin:
        blocks.append(shard.tokens.summed(first[:, :own]))
    if layout.end:
        blocks.append(shard.tokens.summed(last[:, :own]))
    if layout.lengths:
        by_length = segment.sum(axis=0)
        blocks += [by_length[: layout.longest[k], k] for k in range(own)]
    if shard.spans is not None:
        found = shard.spans.summed(segment[..., :own].reshape(-1, own))
        blocks.append(found.reshape(own, -1)[:, : layout.n_spans].ravel())
    blocks.append(pairs.ravel())
    if layout.boundaries:
        at_start, at_stop = shard.offsets[:-1], shard.offsets[1:] - 1
        blocks += [first[at_start].sum(axis=0), last[at_stop].sum(axis=0)]
    return np.concatenate(blocks)
