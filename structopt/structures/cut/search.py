r"""The best labelling of one associative graph by a minimum cut, the best other, and the worst.

    max over y in {0, 1}^n of   sum_j s_j y_j - sum_e c_e [y_i != y_j],      c >= 0.

Labels are the sides of a minimum cut between a source (label 1) and a sink (label 0). SciPy's
maximum flow counts in 32-bit integers: capacities are scaled and rounded down, so its flow is
feasible, and ``capacity of the cut - flow`` bounds how far the labelling is from the best. What is
left of the capacities is then scaled up and solved again until that excess is negligible.

The best labelling other than a given optimal one flips at least one node: force each in turn, which
is one more flow in what is left of the network. The worst labelling is a maximum cut, which is hard
in general; where the graph is bipartite, flipping one side turns it into a minimum cut.

>>> import numpy as np
>>> graph = CutSearch(3, np.array([[0, 1], [1, 2]]))
>>> graph.best(np.array([2.0, -1.0, 0.5]), np.array([0.7, 0.7]))[0]
array([1, 1, 1])
>>> graph.worst(np.array([2.0, -1.0, 0.5]), np.array([0.7, 0.7]))[0]
array([0, 1, 0])
"""

from __future__ import annotations

from functools import cached_property

import networkx as nx
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from structopt.arrays import Floats, Ints
from structopt.errors import IncompatibleError

NEGLIGIBLE = 1e-10
"""Excess, relative to all that could flow, at which refining stops: two rounds usually."""
ROUNDS = 4
_MOST = 2**30
"""All that flows must stay below half of the 32-bit integers."""

Found = tuple[Ints, float]


def two_sides(n_nodes: int, edges: Ints) -> Ints | None:
    """Return 0 or 1 for each node so that edges join the two; None if that is impossible.

    >>> two_sides(3, np.array([[0, 1], [1, 2]]))
    array([0, 1, 0])
    """
    graph = nx.Graph()
    graph.add_nodes_from(range(n_nodes))
    graph.add_edges_from(edges.tolist())
    if not nx.is_bipartite(graph):
        return None
    colour, first = nx.bipartite.color(graph), {}
    # every component begins with its first node at 0, whatever networkx calls it
    for component in nx.connected_components(graph):
        first.update(dict.fromkeys(component, colour[min(component)]))
    return np.array([colour[j] ^ first[j] for j in range(n_nodes)], dtype=np.int64)


class CutSearch:
    """A graph of n nodes; arcs to and from a source (node n) and a sink (node n + 1) are added."""

    def __init__(self, n_nodes: int, edges: Ints) -> None:
        self.n, self.edges = n_nodes, edges
        every, source, sink = np.arange(n_nodes), n_nodes, n_nodes + 1
        to_source, to_sink = np.full(n_nodes, source), np.full(n_nodes, sink)
        rows = np.concatenate([to_source, every, edges[:, 0], every, to_sink, edges[:, 1]])
        columns = np.concatenate([every, to_sink, edges[:, 1], to_source, every, edges[:, 0]])
        # one place in the matrix for each pair of nodes: edges given twice add up there
        keys, self._place = np.unique(rows * (n_nodes + 2) + columns, return_inverse=True)
        self._row, self._column = np.divmod(keys, n_nodes + 2)
        counts = np.bincount(self._row, minlength=n_nodes + 2)
        self._indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        self._indices = self._column.astype(np.int32)

    @cached_property
    def sides(self) -> Ints | None:
        """0 or 1 for each node so that edges join the two; None if that is impossible."""
        return two_sides(self.n, self.edges)

    def best(self, scores: Floats, costs: Floats) -> Found:
        """Return the best labels, and how far another labelling may beat them."""
        reached, _, excess = self._flow(self._capacities(scores, costs), self.n, self.n + 1)
        return reached[: self.n].astype(np.int64), excess

    def worst(self, scores: Floats, costs: Floats) -> Found:
        """Return the labels with the lowest score; the graph must be bipartite."""
        side = self.sides
        if side is None:
            raise IncompatibleError("The graph has a cycle of odd length: it is not bipartite.")
        flipped, excess = self.best(np.where(side == 1, scores, -scores), costs)
        return np.where(side == 1, 1 - flipped, flipped), excess

    def best_other(self, scores: Floats, costs: Floats, given: Ints) -> Found:
        """Return the best labels other than ``given``, and how far others may beat them."""
        source, sink = self.n, self.n + 1
        reached, left, excess = self._flow(self._capacities(scores, costs), source, sink)
        found = reached[: self.n].astype(np.int64)
        if np.any(found != given):
            return found, excess
        least, best, slack = np.inf, found, 0.0
        bound = self._at_least(left, found)
        for node in np.argsort(bound):
            if bound[node] >= least:
                break
            start, end = (source, node) if found[node] else (node, sink)
            side, _, more = self._flow(left, start, end)
            # the crumbs that the first flow left may lead out of its source side, even to the sink:
            # crossings are submodular, so intersection and union cost at most `excess` more
            ones = side[: self.n] & (found == 1) if found[node] else side[: self.n] | (found == 1)
            crossing = self._crossing(left, np.append(ones, [True, False]))
            slack = max(slack, more)  # of every node asked: the true best may be another one's
            if crossing < least:
                least, best = crossing, ones.astype(np.int64)
        return best, excess + slack

    # ------------------------------------------------------------------ inside
    def _capacities(self, scores: Floats, costs: Floats) -> Floats:
        gain, loss = np.maximum(scores, 0.0), np.maximum(-scores, 0.0)
        none = np.zeros(self.n)
        arcs = np.concatenate([gain, loss, costs, none, none, costs])
        return np.bincount(self._place, arcs, minlength=len(self._row)).astype(np.float64)

    def _flow(
        self, capacity: Floats, source: int, sink: int
    ) -> tuple[NDArray[np.bool_], Floats, float]:
        """Return what the source reaches, the capacities left, and the excess of that cut."""
        shape = (self.n + 2, self.n + 2)
        out, into = capacity[self._row == source].sum(), capacity[self._column == sink].sum()
        total = bound = float(min(out, into))
        left, excess = capacity, 0.0
        reached = np.zeros(self.n + 2, dtype=bool)
        for _ in range(ROUNDS):
            scale = _MOST / bound if bound > 0 else 1.0
            # no arc needs to carry more than all that flows
            whole = np.floor(np.minimum(left, bound) * scale).astype(np.int32)
            network = sp.csr_array((whole, self._indices, self._indptr), shape=shape)
            flow = maximum_flow(network, source, sink).flow.data
            reached = self._reached(whole - flow > 0, source)
            left = np.maximum(left - flow / scale, 0.0)
            excess = self._crossing(left, reached)
            if excess <= NEGLIGIBLE * total:
                break
            bound = excess
        return reached, left, excess

    def _reached(self, open_arcs: NDArray[np.bool_], source: int) -> NDArray[np.bool_]:
        indptr = np.concatenate([[0], np.cumsum(open_arcs)])[self._indptr].astype(np.int32)
        indices = self._indices[open_arcs]
        shape = (self.n + 2, self.n + 2)
        graph = sp.csr_array((np.ones(len(indices)), indices, indptr), shape=shape)
        reached = np.zeros(self.n + 2, dtype=bool)
        reached[breadth_first_order(graph, source, return_predecessors=False)] = True
        return reached

    def _crossing(self, capacity: Floats, inside: NDArray[np.bool_]) -> float:
        return float(capacity[inside[self._row] & ~inside[self._column]].sum())

    def _at_least(self, left: Floats, labels: Ints) -> Floats:
        """Return what surely flows when a node is forced to flip: over paths of one or two arcs."""
        row, column, n = self._row, self._column, self.n
        from_source, to_sink = np.zeros(n + 2), np.zeros(n + 2)
        leaves, arrives = row == n, column == n + 1
        from_source[column[leaves]] = left[leaves]
        to_sink[row[arrives]] = left[arrives]
        inner = (row < n) & (column < n)
        i, j, c = row[inner], column[inner], left[inner]
        source_side = from_source[:n] + np.bincount(j, np.minimum(from_source[i], c), minlength=n)
        sink_side = to_sink[:n] + np.bincount(i, np.minimum(c, to_sink[j]), minlength=n)
        return np.where(labels == 1, source_side, sink_side)
