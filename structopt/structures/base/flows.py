r"""Outputs that are paths, as the polytope of unit flows.

    Z = {z >= 0 : the source sends 1, and what enters any other node but the sink leaves it}

for acyclic graphs with a part for every edge. Its corners are the paths from source to sink: an
incidence matrix is totally unimodular.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints
from structopt.structures.base import flows_kernels as kernels
from structopt.structures.base.relaxation import Polytope, Projected, Relaxation

MAX_SWEEPS = 20_000
"""Dual steps of one graph; a projection that needs more says how far off it may be."""


def useful(tail: Ints, head: Ints, node_ptr: Ints) -> Any:
    """Return which edges lie on a path from source to sink.

    Graph i has the nodes ``node_ptr[i] .. node_ptr[i + 1] - 1`` in topological order, its source
    first and its sink last.

    >>> useful(np.array([0, 0, 1]), np.array([1, 3, 2]), np.array([0, 4]))  # 2 leads nowhere
    array([False,  True, False])
    """
    order = np.argsort(tail, kind="stable")
    found = np.zeros(len(tail), dtype=bool)
    found[order] = kernels.on_a_path(tail[order], head[order], node_ptr)
    return found


class FlowRelaxation(Relaxation):
    """Unit flows through stacked acyclic graphs, all edges of which are useful.

    Parameters
    ----------
    tail, head : array of int
        The nodes that each part joins.
    node_ptr : array of int
        Where the nodes of each graph begin.
    """

    def __init__(self, tail: Ints, head: Ints, node_ptr: Ints) -> None:
        self._tail, self._head, self._node_ptr = tail, head, node_ptr
        self.owner = np.searchsorted(node_ptr, tail, side="right") - 1
        self._order = np.argsort(tail, kind="stable")
        self._out_ptr = np.searchsorted(tail[self._order], np.arange(node_ptr[-1] + 1))

    def project(self, z: Floats, *, error: float, state: Any = None) -> Projected:
        """Project by accelerated dual ascent on every graph; the state is its multipliers."""
        potential = np.zeros(self._node_ptr[-1]) if state is None else state.copy()
        order = self._order
        wanted = 0.5 * error * error / (len(self._node_ptr) - 1)
        nearest, gap = kernels.project(
            z[order], self._tail[order], self._head[order], self._out_ptr, self._node_ptr,
            potential, wanted, MAX_SWEEPS,
        )  # fmt: skip
        point = np.empty(len(z))
        point[order] = nearest
        return Projected(point, float(np.sqrt(2.0 * gap)), potential)

    def polytope(self) -> Polytope:
        """Return what leaves each node less what enters it: 1 at a source, 0 elsewhere."""
        parts, nodes = np.arange(len(self._tail)), int(self._node_ptr[-1])
        sign = np.repeat([1.0, -1.0], len(parts))
        joined = np.concatenate([self._tail, self._head])
        A = sp.csr_array((sign, (joined, np.tile(parts, 2))), shape=(nodes, len(parts)))
        b = np.zeros(nodes)
        b[self._node_ptr[:-1]] = 1.0
        kept = np.bincount(joined, minlength=nodes) > 0
        kept[self._node_ptr[1:] - 1] = False  # what the sink keeps follows from the others
        return Polytope(A[np.flatnonzero(kept)], b[kept], np.ones(int(kept.sum()), dtype=bool))
