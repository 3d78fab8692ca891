r"""All labellings of a shard's graphs as one polytope.

    |z_i - z_j| <= s_e for every edge e = (i, j),     0 <= z <= 1,     0 <= s <= 1.

Parts are all nodes (label 1 or not), then all edges (cut or not). An edge that is cut scores
``-c_e <= 0``, so a best point cuts no edge it need not, and some best vertex is a labelling: the
relaxation is exact for weights that the structure allows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.structures.base.relaxation import Polytope, Projected, Relaxation
from structopt.structures.cut.projection import CutPolytope

if TYPE_CHECKING:
    from structopt.structures.cut.shard import CutShard


class CutRelaxation(Relaxation):
    """The product of the cut polytopes of a shard's graphs."""

    integral = True

    def __init__(self, shard: CutShard) -> None:
        self._n, self._edges = len(shard.gold), shard.edges
        self.owner = np.concatenate([shard.node_owner, shard.edge_owner])
        self.gold = np.concatenate([shard.gold, shard.cut(shard.gold)]).astype(np.float64)
        own = (1 - 2 * shard.gold) * shard.cost
        self.loss = np.concatenate([own, np.zeros(len(shard.edges))])
        missed = shard.gold * shard.cost
        constant = np.bincount(shard.node_owner, missed, minlength=shard.n_examples)
        self.loss_constant = np.asarray(constant, dtype=np.float64)
        self._features = (shard.node_features, shard.edge_features)
        offsets = np.stack([shard.nodes, shard.arcs])
        self._projection = CutPolytope(shard.edges, offsets)

    def scores(self, weights: Floats) -> Floats:
        """Return the score of label 1 at each node, and of cutting each edge."""
        nodes, edges = self._features
        n_node = nodes.shape[1]
        return np.concatenate([nodes @ weights[:n_node], -(edges @ weights[n_node:])])

    def features(self, z: Floats) -> Floats:
        """Return the summed features of fractional labellings."""
        nodes, edges = self._features
        return np.concatenate([nodes.T @ z[: self._n], -(edges.T @ z[self._n :])])

    def project(self, z: Floats, *, error: float, state: Any = None) -> Projected:
        """Return the fractional labellings nearest to z."""
        return self._projection.project(z, error=error, state=state)

    def polytope(self) -> Polytope:
        """Return the rows of both directions of every edge, and ``z <= 1``."""
        n_edges, size = len(self._edges), len(self.gold)
        every, ones = np.arange(n_edges), np.ones(n_edges)
        apart = sp.csr_array(
            (
                np.concatenate([ones, -ones]),
                (np.tile(every, 2), np.concatenate([self._edges[:, 0], self._edges[:, 1]])),
            ),
            shape=(n_edges, self._n),
        )
        cut = sp.eye_array(n_edges, format="csr")
        rows = [
            sp.hstack([apart, -cut], format="csr"),
            sp.hstack([-apart, -cut], format="csr"),
            sp.eye_array(size, format="csr"),
        ]
        b = np.concatenate([np.zeros(2 * n_edges), np.ones(size)])
        return Polytope(sp.vstack(rows, format="csr"), b, np.zeros(len(b), dtype=bool))
