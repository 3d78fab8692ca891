r"""Marginals of labelled trees, and what they give in feature space.

    F z = (sum_v x_v z_v, sum_{u -> v} e_v z_{u,v})

for node marginals z_v and marginals z_{u,v} of the pairs of labels along edges.

>>> import numpy as np, structopt as so
>>> pages = [(np.eye(2), [-1, 0])]
>>> shard = so.Hierarchy(labels="ab").fitted(pages, ["ab"]).encode(pages, ["ab"])
>>> even = expected(shard, np.zeros(8), 0.0, np.ones(1))  # four labellings, equally likely
>>> even.loss, round(np.exp(even.log_partition))
(1.0, 4)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.structures.base.expectations import Expected
from structopt.structures.base.label_costs import table
from structopt.structures.hierarchy import marginals_kernels as kernels
from structopt.structures.hierarchy.scores import Trees


def expected(shard: Trees, weights: Floats, loss_weight: float, cost: Floats) -> Expected:
    """Return expectations over all labellings, by sum-product."""
    scores = shard.part_scores(weights)
    raised = scores.augmented(shard.gold, loss_weight * shard.cost).masked(shard.allowed)
    rate = np.repeat(cost, np.diff(shard.offsets))
    node, pairs, log_z = kernels.marginals(*raised, shard.kind, shard.parent, shard.order, rate)
    every, child = np.arange(len(rate)), np.flatnonzero(shard.parent >= 0)
    gold, gold_pairs = np.zeros_like(node), np.zeros_like(pairs)
    gold[every, shard.gold] = 1.0
    place = (shard.kind[child], shard.gold[child], shard.gold[shard.parent[child]])
    np.add.at(gold_pairs, place, rate[child])
    at_gold = sum_features(shard, rate[:, None] * gold, gold_pairs)
    features = sum_features(shard, rate[:, None] * node, pairs)
    wrong = np.sum(rate[:, None] * node * table(shard.cost, shard.gold, node.shape[1]))
    return Expected(features - at_gold, float(wrong), float(rate @ log_z - weights @ at_gold))


def sum_features(shard: Trees, node: Floats, pairs: Floats) -> Floats:
    """Return F z for node marginals and the summed pairs [kind, child, parent]."""
    flat = pairs.transpose(0, 2, 1).reshape(len(pairs), -1)  # [parent, child], as weights are
    second: Any = np.asarray(shard.edges.T @ flat).T
    return np.concatenate([shard.nodes.summed(node), second.ravel()])
