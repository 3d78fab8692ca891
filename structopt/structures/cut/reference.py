r"""Labellings by networkx, as a reference: minimum cuts in floating point, every node forced.

>>> import numpy as np
>>> ReferenceCut(2, np.array([[0, 1]])).best(np.array([2.0, -1.0]), np.array([3.0]))
(array([1, 1]), 0.0)
"""

from __future__ import annotations

import networkx as nx
import numpy as np

from structopt.arrays import Floats, Ints
from structopt.structures.cut.search import CutSearch, Found


class ReferenceCut(CutSearch):
    """The questions of :class:`CutSearch`, answered through `networkx.minimum_cut`."""

    def best(self, scores: Floats, costs: Floats) -> Found:
        """Return the best labels; networkx counts in floating point."""
        graph = nx.DiGraph()
        graph.add_nodes_from(["source", "sink", *range(self.n)])
        for j, score in enumerate(scores.tolist()):
            if score > 0:
                graph.add_edge("source", j, capacity=score)
            elif score < 0:
                graph.add_edge(j, "sink", capacity=-score)
        for (i, j), cost in zip(self.edges.tolist(), costs.tolist(), strict=True):
            for a, b in ((i, j), (j, i)):
                before = graph.get_edge_data(a, b, {"capacity": 0.0})["capacity"]
                graph.add_edge(a, b, capacity=before + cost)
        _, (ones, _) = nx.minimum_cut(graph, "source", "sink")
        return np.array([int(j in ones) for j in range(self.n)], dtype=np.int64), 0.0

    def best_other(self, scores: Floats, costs: Floats, given: Ints) -> Found:
        """Return the best labels other than ``given``: flip each node and force it to stay."""
        huge = 1.0 + 2.0 * float(np.abs(scores).sum() + costs.sum())
        candidates = []
        for j in range(self.n):
            forced = scores.copy()
            forced[j] = -huge if given[j] else huge
            candidates.append(self.best(forced, costs)[0])

        def value(labels: Ints) -> float:
            cut = labels[self.edges[:, 0]] != labels[self.edges[:, 1]]
            return float(scores @ labels - costs @ cut)

        return max(candidates, key=value), 0.0
