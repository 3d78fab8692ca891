r"""Shortest paths through a graph without cycles: max-plus in topological order, compiled.

    y_e = 1 for the edges of a path from source to target,    cost(y) = sum_{e in y} c_e,

with costs of any sign. The graph is read once, as a :class:`~structopt.Lattice` reads it; a pass
over n examples is one compiled call.

>>> paths = DagPaths([("s", "a"), ("s", "t"), ("a", "t")], "s", "t")
>>> paths.minimize(np.array([[1.0, 3.0, 1.0], [1.0, 1.0, 1.0]]))
array([[1., 0., 1.],
       [0., 1., 0.]])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np

from structopt.arrays import Floats, Ints
from structopt.structures.lattice import kernels
from structopt.structures.lattice.features import FeatureSpace
from structopt.structures.lattice.inputs import Lattices

_AT_ONCE = 1 << 20
"""Edges that are laid out side by side at once."""


class DagPaths:
    """Paths of a directed graph without cycles; there is one from source to target.

    Parameters
    ----------
    edges : sequence of (tail, head)
        In the order of costs; two may be parallel.
    source, target : node
    """

    def __init__(self, edges: Sequence[tuple[Any, Any]], source: Any, target: Any) -> None:
        graph = nx.MultiDiGraph(source=source, sink=target)
        for j, (u, v) in enumerate(edges):
            graph.add_edge(u, v, key=j)
        self.n_parts, self.lattice = len(edges), Lattices.of([graph], FeatureSpace(1, None))
        self.columns: Ints = np.array([edge[2] for edge in self.lattice.edges], dtype=np.int64)
        self._laid: tuple[int, tuple[Ints, Ints, Ints]] = 1, self.lattice.layout

    def minimize(self, costs: Floats) -> Floats:
        """Return the cheapest path of each row of costs, as 0/1 rows."""
        points = np.zeros((len(costs), self.n_parts))
        kept = len(self.columns)
        step = max(1, _AT_ONCE // kept)
        for a in range(0, len(costs), step):
            own = costs[a : a + step]
            score = np.negative(own[:, self.columns]).ravel()
            ptr, edges = kernels.best_path(score, *self._layout(len(own)))
            which = np.repeat(np.arange(a, a + len(own)), np.diff(ptr))
            points[which, self.columns[edges % kept]] = 1.0
        return points

    def _layout(self, n: int) -> tuple[Ints, Ints, Ints]:
        """Return the graph n times, side by side; the last n is kept."""
        if self._laid[0] != n:
            nodes, in_ptr, tail = self.lattice.layout
            copies = np.arange(n)[:, None]
            self._laid = (
                n,
                (
                    np.arange(n + 1) * nodes[-1],
                    np.append((in_ptr[:-1] + copies * len(tail)).ravel(), n * len(tail)),
                    (tail + copies * nodes[-1]).ravel(),
                ),
            )
        return self._laid[1]
