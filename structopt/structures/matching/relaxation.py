r"""All matchings of a shard as one polytope.

    z_e >= 0,    sum of z over the edges at a node <= its limit,    z_e <= 1.

The graph is bipartite, so the rows are totally unimodular and every vertex is a matching. The rows
``z_e <= 1`` are left out where a limit of 1 implies them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints
from structopt.structures.base.relaxation import Polytope, Projected, Relaxation
from structopt.structures.matching.inputs import Pair
from structopt.structures.matching.projection import MatchingPolytope


class MatchingRelaxation(Relaxation):
    """The product of the matching polytopes of some pairs; parts are candidate edges.

    Parameters
    ----------
    pairs : sequence of Pair
    features : matrix with a row for each edge of each pair
    offsets : array of int
        Where the edges of each pair begin.
    gold : array of bool
    added : array
        What each edge adds to the loss.
    paid : array
        The loss of `gold`: 0, unless it is what directions are measured from and no more.
    """

    integral = True

    def __init__(
        self, pairs: Sequence[Pair], features: Any, offsets: Ints, gold: Any, added: Floats,
        paid: Floats,
    ) -> None:  # fmt: skip
        self.owner = np.repeat(np.arange(len(pairs)), np.diff(offsets))
        self.gold, self.loss, self._features = gold.astype(np.float64), added, features
        missed = np.where(gold, -added, 0.0)
        constant = paid + np.bincount(self.owner, missed, minlength=len(pairs))
        self.loss_constant = np.asarray(constant, dtype=np.float64)
        self._limits = (
            np.concatenate([pair.fertility[0] for pair in pairs]),
            np.concatenate([pair.fertility[1] for pair in pairs]),
        )
        self._nodes, starts = [], [offsets]
        for side in (0, 1):
            counts = [len(pair.fertility[side]) for pair in pairs]
            starts.append(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))
            local = np.concatenate([pair.edges[:, side] for pair in pairs])
            self._nodes.append(local + starts[-1][self.owner])
        self._projection = MatchingPolytope(
            self._nodes[0], self._nodes[1], self._limits, np.stack(starts)
        )

    def scores(self, weights: Floats) -> Floats:
        """Return the score of each candidate edge."""
        return np.asarray(self._features @ weights)

    def features(self, z: Floats) -> Floats:
        """Return the summed features of fractional matchings."""
        return np.asarray(self._features.T @ z)

    def project(self, z: Floats, *, error: float, state: Any = None) -> Projected:
        """Return the fractional matchings nearest to z."""
        return self._projection.project(z, error=error, state=state)

    def polytope(self) -> Polytope:
        """Return the limits of the nodes, and ``z <= 1`` where they do not imply it."""
        n_edges, every = len(self.gold), np.arange(len(self.gold))
        blocks, ends = [], []
        for nodes, limit in zip(self._nodes, self._limits, strict=True):
            shape = (len(limit), n_edges)
            blocks.append(sp.csr_array((np.ones(n_edges), (nodes, every)), shape=shape))
            ends.append(limit.astype(np.float64))
        loose = np.minimum(self._limits[0][self._nodes[0]], self._limits[1][self._nodes[1]]) > 1
        own = np.flatnonzero(loose)
        shape = (len(own), n_edges)
        blocks.append(sp.csr_array((np.ones(len(own)), (np.arange(len(own)), own)), shape=shape))
        ends.append(np.ones(len(own)))
        b = np.concatenate(ends)
        return Polytope(sp.vstack(blocks, format="csr"), b, np.zeros(len(b), dtype=bool))
