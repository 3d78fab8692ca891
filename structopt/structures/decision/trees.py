r"""Spanning trees of an undirected graph: all examples as one forest, in one call of SciPy.

    y_e = 1 for the edges of a tree that reaches every node,    cost(y) = sum_{e in y} c_e.

All trees have as many edges, so costs may be shifted until they are positive.

>>> trees = SpanningTrees([("a", "b"), ("b", "c"), ("a", "c")])
>>> trees.minimize(np.array([[1.0, 2.0, 3.0], [-1.0, 5.0, -2.0]])).points
array([[1., 1., 0.],
       [1., 0., 1.]])
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import minimum_spanning_tree

from structopt.arrays import Floats, Ints
from structopt.errors import InfeasibleError, InvalidInputError
from structopt.structures.decision.base import Decided, DecisionSet, no_excess
from structopt.structures.decision.edges import Edge, edges_of


class SpanningTrees(DecisionSet, trusted=True):
    """Spanning trees; costs are in the order of the graph's edges.

    Parameters
    ----------
    graph : networkx.Graph or sequence of (u, v)
        Connected, without loops and parallel edges. A list of edges can be saved with a model.
    """

    def __init__(self, graph: Any) -> None:
        self.graph = graph

    @cached_property
    def edges(self) -> list[Edge]:
        """The edges, in the order of costs."""
        return edges_of(self.graph, directed=False)[0]

    @cached_property
    def _ends(self) -> Ints:
        """The numbers of each edge's ends, the lesser one first."""
        place = {v: k for k, v in enumerate(dict.fromkeys(v for e in self.edges for v in e))}
        return np.sort([[place[u], place[v]] for u, v in self.edges], axis=1).astype(np.int64)

    @property
    def n_parts(self) -> int:
        """How many edges there are."""
        return len(self.edges)

    def check(self) -> None:
        """Refuse a graph that has no spanning tree, or more than one edge between two nodes."""
        if len({frozenset(e) for e in self.edges}) < self.n_parts or any(
            u == v for u, v in self.edges
        ):
            raise InvalidInputError("The graph has parallel edges or loops: keep one edge a pair.")
        found: list[set[Any]] = list(nx.connected_components(nx.Graph(self.edges)))
        if isinstance(self.graph, nx.Graph):
            found += [{v} for v in nx.isolates(self.graph)]
        if len(found) > 1:
            some = sorted(map(str, sorted(found, key=lambda nodes: len(nodes))[0]))[:3]
            raise InfeasibleError(
                f"The graph has {len(found)} components and so no spanning tree: nothing leads to "
                f"{', '.join(some)}."
            )

    def minimize(self, costs: Floats, start: int = 0) -> Decided:
        """Return the cheapest tree of each row of costs."""
        n, nodes = len(costs), int(self._ends.max()) + 1
        positive = costs - costs.min(axis=1, initial=0.0, keepdims=True) + 1.0
        copies = nodes * np.arange(n)[:, None]
        u, v = ((self._ends[:, side] + copies).ravel() for side in (0, 1))
        forest = minimum_spanning_tree(
            sp.csr_array((positive.ravel(), (u, v)), shape=(n * nodes, n * nodes))
        ).tocoo()
        chosen = np.unique(forest.row.astype(np.int64) * nodes + forest.col % nodes)
        keys = (u * nodes + v % nodes).ravel()
        return no_excess(np.isin(keys, chosen).reshape(n, -1).astype(np.float64))

    def contains(self, points: Floats) -> NDArray[np.bool_]:
        """Return whether each point is a spanning tree."""
        whole = np.all((points == 0) | (points == 1), axis=1)
        return np.asarray(whole & np.array([self._is_tree(y) for y in points], dtype=bool))

    def _is_tree(self, y: Floats) -> bool:
        graph = nx.Graph([self.edges[j] for j in np.flatnonzero(y > 0.5)])
        return len(graph) == int(self._ends.max()) + 1 and nx.is_tree(graph)

    def part_names(self) -> list[str]:
        """Return the edges as text."""
        return [f"{u}-{v}" for u, v in self.edges]
