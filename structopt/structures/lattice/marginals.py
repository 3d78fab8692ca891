r"""Marginals of paths, and what they give in feature space.

    F z = sum_e f_e z_e,        z_e the probability that a path takes edge e.

>>> import networkx as nx, numpy as np, structopt as so
>>> graph = nx.DiGraph([("s", "a"), ("s", "t"), ("a", "t")], source="s", sink="t")
>>> nx.set_edge_attributes(graph, 1.0, "features")
>>> shard = so.Lattice().fitted([graph], [[("s", "t")]]).encode([graph], [[("s", "t")]])
>>> even = expected(shard, np.zeros(1), 0.0, np.ones(1))  # two paths, equally likely
>>> round(np.exp(even.log_partition)), even.features  # of one and of two edges; gold has one
(2, array([0.5]))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.structures.base.expectations import Expected
from structopt.structures.lattice.marginals_kernels import marginals


def expected(shard: Any, weights: Floats, loss_weight: float, cost: Floats) -> Expected:
    """Return expectations over all paths, by sums over the topological order."""
    lattices, (added, constant) = shard.lattices, shard.added_loss()
    plain = shard.part_scores(weights)
    edge, log_z = marginals(plain + loss_weight * added, *lattices.layout)
    rate = np.repeat(cost, np.diff(lattices.edge_ptr))
    gold = np.zeros(len(edge))
    gold[shard.paths.edges] = 1.0
    features = np.asarray(shard.rows.summed((rate * (edge - gold))[:, None])).ravel()
    loss = float((rate * edge) @ added + cost @ constant)
    log_partition = float(cost @ (log_z + loss_weight * constant) - (rate * gold) @ plain)
    return Expected(features, loss, log_partition)
