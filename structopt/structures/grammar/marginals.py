r"""Expectations over all trees of a grammar, by inside and outside sums.

F z = sum_n f_n z_n,        z_n the probability that a tree has node n = (i, j, production).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.structures.base.expectations import Expected
from structopt.structures.base.parts_kernels import add_to
from structopt.structures.grammar.marginals_kernels import marginals


def expected(
    shard: Any, scores: Any, weights: Floats, loss_weight: float, cost: Floats
) -> Expected:
    """Return expectations under exp(score + loss_weight * loss), weighted by cost."""
    extra, missed = float(shard.costs.extra), float(shard.costs.missed)
    ptr, nodes, chance, log_z, paid = marginals(
        loss_weight, shard.offsets, *scores, *shard.made.arrays, shard.right_ptr, shard.right,
        extra, missed,
    )  # fmt: skip
    every = np.arange(shard.n_examples)
    features, at_gold = np.zeros(len(weights)), np.zeros(len(weights))
    base = shard.base
    for total, given in (
        (features, (ptr, nodes, chance)),
        (at_gold, (shard.gold_ptr, shard.gold, np.ones(len(shard.gold)))),
    ):
        d = shard.parts(*given, every)
        add_to(total, cost, d.ptr, d.source, d.offset, d.coef, base.indptr, base.indices, base.data)
    constant = missed * np.diff(shard.right_ptr)
    return Expected(
        features - at_gold,
        float(cost @ (paid + constant)),
        float(cost @ (log_z + loss_weight * constant) - weights @ at_gold),
    )
