r"""Euclidean projection on products of cut polytopes.

    min 1/2 |z - a|^2 + 1/2 |s - b|^2
    s.t.  |z_i - z_j| <= s_e for every edge e = (i, j),   0 <= z <= 1,   0 <= s <= 1.

One multiplier f_e an edge, of either sign, suffices: with r = a - D'f (D the graph's incidence
matrix) the answer is z = clip(r, 0, 1), s_e = clip(b_e + |f_e|, 0, 1), and f minimises

    sum_j h(r_j) + sum_e h(b_e + |f_e|),      h' = clip(., 0, 1),

by accelerated proximal gradient steps of size 1 / (deg_i + deg_j), restarted where the momentum
points uphill. Any f gives a feasible point: z as above, s_e = max(|z_i - z_j|, clip(b_e, 0, 1)). By
strong convexity its distance from the projection is at most the square root of twice the duality
gap, which is a sum of terms >= 0 and computed as such.

>>> import numpy as np
>>> edge = CutPolytope(np.array([[0, 1]]), np.array([[0, 2], [0, 1]]))
>>> edge.project(np.array([1.0, 0.0, 0.4]), error=1e-9).point.round(6)
array([0.8, 0.2, 0.6])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.errors import InvalidInputError
from structopt.structures.base.relaxation import Projected

MAX_STEPS = 20_000
"""Steps of a graph at most; some hundreds are usual."""
SPACING = 1.3
"""After k steps the next look at the gap is at step 2 + 1.3 k. A look costs about as much as a
step; warm starts need 1 to 5 steps, cold ones some hundreds."""


class CutPolytope:
    """Fractional labellings and cuts of many graphs.

    Parameters
    ----------
    edges : array of int, shape (E, 2)
        The nodes of each edge, numbered over all graphs.
    offsets : array of int, shape (2, G + 1)
        Where each graph's nodes and edges begin; the last column is the end.
    """

    def __init__(self, edges: Ints, offsets: Ints) -> None:
        self._tail, self._head = (np.array(edges[:, k], dtype=np.int64) for k in (0, 1))
        self._nodes, self._edges = (np.array(row, dtype=np.int64) for row in offsets)
        self.n_nodes, self.n_edges = int(self._nodes[-1]), len(self._tail)
        degree = np.bincount(self._tail, minlength=self.n_nodes).astype(np.float64)
        degree += np.bincount(self._head, minlength=self.n_nodes)
        self._steps = 1.0 / (degree[self._tail] + degree[self._head])

    def project(self, point: Floats, *, error: float, state: Any = None) -> Projected:
        """Return the point nearest to ``(nodes, edges)``, up to ``error``.

        ``state`` is that of an earlier projection on the same polytope: the multipliers.
        """
        from structopt.structures.cut import projection_kernels as cut_kernels

        given = np.ascontiguousarray(point, dtype=np.float64)
        size = self.n_nodes + self.n_edges
        if given.shape != (size,) or not np.all(np.isfinite(given)):
            raise InvalidInputError(
                f"A point of {size} finite numbers is expected; got shape {given.shape}."
            )
        f = np.zeros(self.n_edges) if state is None else np.copy(state)
        z = np.empty(size)
        sizes = np.diff(self._nodes) + np.diff(self._edges)
        targets = 0.5 * error**2 * sizes / max(1, size)
        gaps = np.zeros(len(sizes))
        cut_kernels.project(
            given[: self.n_nodes], given[self.n_nodes :], self._tail, self._head, self._steps,
            self._nodes, self._edges, f, z[: self.n_nodes], z[self.n_nodes :], targets, gaps,
            MAX_STEPS, SPACING,
        )  # fmt: skip
        return Projected(z, float(np.sqrt(2.0 * gaps.sum())), f)
