"""Whether chosen edges are one simple path, or one tour: followed node by node.

>>> edges = [("s", "a"), ("a", "t"), ("b", "c"), ("c", "b")]
>>> are_paths(np.array([[1.0, 1, 0, 0], [1, 1, 1, 1], [1, 0, 0, 0]]), edges, "s", "t")
array([ True, False, False])
>>> cycles([("b", "c"), ("c", "b")])
[['b', 'c']]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Floats

Edge = tuple[Any, Any]


def are_paths(
    points: Floats, edges: Sequence[Edge], source: Any, target: Any, *, directed: bool = True
) -> NDArray[np.bool_]:
    """Return for each 0/1 row whether its edges are one simple path from source to target."""
    # many examples share a path: each is followed once
    unlike, which = np.unique(points, axis=0, return_inverse=True)
    whole = np.all((unlike == 0) | (unlike == 1), axis=1)
    taken = ([edges[j] for j in np.flatnonzero(y > 0.5).tolist()] for y in unlike)
    pairs = zip(whole, taken, strict=True)
    found = [bool(w) and _is_path(t, source, target, directed) for w, t in pairs]
    return np.array(found, dtype=bool)[which]


def _is_path(taken: list[Edge], source: Any, target: Any, directed: bool) -> bool:
    graph = nx.MultiDiGraph(taken) if directed else nx.MultiGraph(taken)
    if source not in graph or target not in graph or len(graph) != len(taken) + 1:
        return False
    walk = nx.shortest_path(graph, source, target) if nx.has_path(graph, source, target) else []
    return len(walk) == len(graph)  # as many nodes as edges and one: nothing besides


def cycles(arcs: Sequence[Edge]) -> list[list[Any]]:
    """Return the nodes of each cycle of arcs that leave and enter every node at most once."""
    follows, found = dict(arcs), []
    while follows:
        start, node = next(iter(follows.items()))
        seen = [start]
        del follows[start]
        while node in follows:
            seen.append(node)
            node = follows.pop(node)
        if node == start:
            found.append(seen)
    return found
