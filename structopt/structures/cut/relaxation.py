r"""All labellings of a shard's graphs as one polytope.

    |z_i - z_j| <= s_e for every edge e = (i, j),     0 <= z <= 1,     0 <= s <= 1.

Parts are all nodes (label 1 or not), then all edges (cut or not). An edge that is cut scores
``-c_e <= 0``, so a best point cuts no edge it need not, and some best vertex is a labelling: the
relaxation is exact for weights that the structure allows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints
from structopt.structures.base.relaxation import Polytope, Projected, Relaxation
from structopt.structures.cut.projection import CutPolytope


class CutRelaxation(Relaxation):
    """The product of the cut polytopes of some graphs.

    Parameters
    ----------
    features : (matrix, matrix)
        Of all nodes and of all edges.
    edges : array of int, shape (E, 2)
    ends : (array of int, array of int)
        Where each graph's nodes and edges begin.
    owner : array of int
        The graph of each node, then of each edge.
    gold : array
        The gold label of each node, then whether gold cuts each edge.
    costs : array of shape (nodes, 2)
        What each label of each node costs.
    """

    integral = True

    def __init__(
        self, features: tuple[Any, Any], edges: Ints, ends: tuple[Ints, Ints], owner: Ints,
        gold: Floats, costs: Floats,
    ) -> None:  # fmt: skip
        self._n, self._edges, self._features = len(costs), edges, features
        self.owner, self.gold = owner, gold
        self.loss = np.concatenate([costs[:, 1] - costs[:, 0], np.zeros(len(edges))])
        constant = np.bincount(owner[: self._n], costs[:, 0], minlength=len(ends[0]) - 1)
        self.loss_constant = np.asarray(constant, dtype=np.float64)
        self._projection = CutPolytope(edges, np.stack(ends))

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
