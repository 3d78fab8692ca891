r"""Marginals of label sequences, and what they give in feature space.

    F z = (sum_t x_t z_t, sum_t z_{t-1,t}, z_first, z_last)

for node marginals z_t (gold labels, or probabilities) and transition marginals z_{t-1,t}.

>>> import numpy as np
>>> import structopt as so
>>> shard = so.Chain().fitted([np.eye(2)], ["ab"]).encode([np.eye(2)], ["ab"])
>>> even = expected(shard, np.zeros(8), 0.0, np.ones(1))  # four sequences, equally likely
>>> even.loss, round(np.exp(even.log_partition))
(1.0, 4)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.structures.base.expectations import Expected
from structopt.structures.base.label_costs import augmented, table
from structopt.structures.chain import marginals_kernels as kernels
from structopt.structures.chain.scores import Sequences, Tokens


def expected(shard: Sequences, weights: Floats, loss_weight: float, cost: Floats) -> Expected:
    """Return expectations over all label sequences, by sum-product."""
    scores = shard.part_scores(weights)
    raised = augmented(scores.unary, shard.gold, loss_weight * shard.cost)
    node, pairs, log_z = kernels.marginals(raised, *scores[1:], shard.offsets, cost)
    rate = np.repeat(cost, np.diff(shard.offsets))
    gold, gold_pairs = gold_parts(shard, rate)
    features = sum_features(shard, rate[:, None] * node, pairs)
    at_gold = sum_features(shard, rate[:, None] * gold, gold_pairs)
    wrong = np.sum(rate[:, None] * node * table(shard.cost, shard.gold, shard.n_labels))
    relative = float(cost @ log_z - weights @ at_gold)
    return Expected(features - at_gold, float(wrong), relative)


def gold_parts(shard: Tokens, rate: Floats) -> tuple[Floats, Floats]:
    """Return the gold labels as node marginals, and their transitions, weighted and summed."""
    node = np.zeros((len(shard.gold), shard.n_labels))
    node[np.arange(len(shard.gold)), shard.gold] = 1.0
    pairs = np.zeros((shard.n_labels, shard.n_labels))
    before = inner(shard.offsets)
    np.add.at(pairs, (shard.gold[before], shard.gold[before + 1]), rate[before])
    return node, pairs


def sum_features(shard: Tokens, node: Floats, pairs: Floats) -> Floats:
    """Return F z for node marginals and summed transitions."""
    blocks: list[Any] = [shard.tokens.summed(node), pairs.ravel()]
    if shard.boundaries:
        first, last = shard.offsets[:-1], shard.offsets[1:] - 1
        blocks += [node[first].sum(axis=0), node[last].sum(axis=0)]
    return np.concatenate(blocks)


def inner(offsets: Ints) -> Ints:
    """Return the positions that have a successor."""
    return np.delete(np.arange(offsets[-1]), offsets[1:] - 1)
