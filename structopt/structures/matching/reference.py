r"""Matchings by networkx, as a reference: slow, plain, and right.

A node with limit b becomes b copies. An edge e = (i, j) becomes two nodes e', e'' and a path

    copy of i  --(K + s)/2--  e'  --K--  e''  --(K + s)/2--  copy of j,

with K above every |s|: in a heaviest matching e' and e'' are matched to each other (e is not used,
worth K) or both to copies (e is used once, worth K + s).

>>> import numpy as np
>>> one = np.ones(1, int)
>>> ReferenceSearch(np.array([[0, 0]]), (one, one)).best(np.array([2.0]))
array([ True])
"""

from __future__ import annotations

import networkx as nx
import numpy as np

from structopt.arrays import Floats
from structopt.structures.base.vectors import Mask
from structopt.structures.matching.search import PairSearch


class ReferenceSearch(PairSearch):
    """The questions of :class:`PairSearch`, answered through `networkx.max_weight_matching`."""

    def best(self, scores: Floats) -> Mask:
        """Return the heaviest matching as a mask over the edges."""
        chosen = np.zeros(len(scores), dtype=bool)
        large = 1.0 + float(np.abs(scores[np.isfinite(scores)]).max(initial=0.0))
        graph = nx.Graph()
        for e in np.flatnonzero(scores > 0).tolist():
            i, j, half = int(self.left[e]), int(self.right[e]), (large + float(scores[e])) / 2
            graph.add_edge(("out", e), ("in", e), weight=large)
            for copy in range(int(self.limits[0][i])):
                graph.add_edge(("left", i, copy), ("out", e), weight=half)
            for copy in range(int(self.limits[1][j])):
                graph.add_edge(("right", j, copy), ("in", e), weight=half)
        for a, b in nx.max_weight_matching(graph):
            ends = {a[0], b[0]}
            if "out" in ends and "left" in ends:
                chosen[a[1] if a[0] == "out" else b[1]] = True
        return chosen
