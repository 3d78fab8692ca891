"""The paths of lattices as flows: a part for every edge."""

from __future__ import annotations

from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.structures.base.flows import FlowRelaxation


class LatticeRelaxation(FlowRelaxation):
    """The paths of stacked lattices as flows.

    Parameters
    ----------
    shard : LatticeShard

    Examples
    --------
    >>> import networkx as nx, structopt as so
    >>> graph = nx.DiGraph([("s", "a"), ("s", "t"), ("a", "t")], source="s", sink="t")
    >>> nx.set_edge_attributes(graph, 1.0, "features")
    >>> X, Y = [graph], [[("s", "t")]]
    >>> relaxation = so.Lattice().fitted(X, Y).encode(X, Y).relaxation()
    >>> relaxation.gold, relaxation.project(np.zeros(3), error=1e-6).point.round(6)
    (array([0., 1., 0.]), array([0.333333, 0.666667, 0.333333]))
    """

    def __init__(self, shard: Any) -> None:
        lattices = shard.lattices
        super().__init__(lattices.tail, lattices.head, lattices.node_ptr)
        self._shard = shard
        self.gold = np.zeros(len(lattices.tail))
        self.gold[shard.paths.edges] = 1.0
        self.loss, self.loss_constant = shard.added_loss()

    def scores(self, weights: Floats) -> Floats:
        """Return the score of every edge."""
        return np.asarray(self._shard.part_scores(weights))

    def features(self, z: Floats) -> Floats:
        """Return the features of flows, summed over all lattices."""
        return np.asarray(self._shard.rows.summed(z[:, None])).ravel()
