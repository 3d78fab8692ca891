r"""The lattice's oracles as longest paths by networkx: slow, short and exact.

The functions take what those of :mod:`structopt.structures.lattice.kernels` take, and must return
the same paths. Every edge is split by a node of its own (so that parallel edges stay apart), floats
are exact fractions, and the tie rule (the smaller edge number at the last edge where two paths
differ) is written into the lengths as digits below the last bit of any score.

>>> import numpy as np
>>> score, in_ptr, tail = np.array([1.0, 3.0, 2.0]), np.array([0, 0, 1, 3]), np.array([0, 0, 1])
>>> best_path(score, np.array([0, 3]), in_ptr, tail)
Paths(ptr=array([0, 1]), edges=array([1]))
>>> k_best(score, in_ptr, tail, 5)
(array([0, 1, 3]), array([1, 0, 2]), array([3., 3.]))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import networkx as nx
import numpy as np

from structopt.arrays import Floats, Ints
from structopt.structures.base.longest_paths import decreasing, longest, whole_numbers
from structopt.structures.lattice.inputs import Paths


def best_path(score: Floats, node_ptr: Ints, in_ptr: Ints, tail: Ints) -> Paths:
    """Return the path with the highest score in every lattice."""

    def decode(graph: Any) -> list[int]:
        return _edges(longest(graph)) if len(graph) else []

    return _each(score, node_ptr, in_ptr, tail, decode)


def best_outside(
    score: Floats, node_ptr: Ints, in_ptr: Ints, tail: Ints, trie_ptr: Ints, parent: Ints,
    label: Ints,
) -> Paths:  # fmt: skip
    """Return the best path of every lattice that is not in the trie; empty if there is none."""
    ends = set(parent.tolist())
    full = set()
    for q in range(len(parent)):
        if q not in ends:
            path = []
            while q >= 0:
                path.append(int(label[q]))
                q = int(parent[q])
            full.add(tuple(path[-2::-1]))

    def decode(graph: Any) -> list[int]:
        return next((path for path in _decreasing(graph) if tuple(path) not in full), [])

    return _each(score, node_ptr, in_ptr, tail, decode)


def k_best(score: Floats, in_ptr: Ints, tail: Ints, k: int) -> tuple[Ints, Ints, Floats]:
    """Return the k best paths of one lattice, best first (fewer if there are fewer)."""
    paths = list(islice(_decreasing(_split(score, 0, len(in_ptr) - 1, in_ptr, tail)), k))
    ptr, edges = Paths.stacked(paths)
    return ptr, edges, np.array([sum(score[path].tolist()) for path in paths])


def _split(score: Floats, first: int, stop: int, in_ptr: Ints, tail: Ints) -> Any:
    """Return a lattice with exact integer lengths, ties broken; source and sink are its ends."""
    used = range(int(in_ptr[first]), int(in_ptr[stop]))
    degree = int(np.diff(in_ptr[first : stop + 1]).max())
    open_ = score[used] > -np.inf  # the others are forbidden: no edge
    exact = whole_numbers(score[used][open_].tolist(), degree ** (stop - first))
    graph = nx.DiGraph(source=first, sink=stop - 1)
    for v in range(first, stop):
        for rank, e in enumerate(range(int(in_ptr[v]), int(in_ptr[v + 1]))):
            if score[e] == -np.inf:
                continue
            length = exact[float(score[e])] - rank * degree ** (v - first)
            graph.add_edge(int(tail[e]), ("edge", e), length=length)
            graph.add_edge(("edge", e), v, length=0)
    if open_.all():
        return graph
    ends = first in graph and stop - 1 in graph
    between = nx.descendants(graph, first) & nx.ancestors(graph, stop - 1) if ends else set()
    return graph.subgraph(between | {first, stop - 1} if between else ())


def _decreasing(graph: Any) -> Iterator[list[int]]:
    """Yield the edges of every path from source to sink, longest first."""
    return map(_edges, decreasing(graph, graph.graph["source"], graph.graph["sink"]))


def _edges(path: list[Any]) -> list[int]:
    return [node[1] for node in path[1::2]]


def _each(
    score: Floats, node_ptr: Ints, in_ptr: Ints, tail: Ints, decode: Callable[[Any], list[int]]
) -> Paths:
    """Return the path that ``decode`` finds for each lattice, stacked."""
    bounds = zip(node_ptr[:-1].tolist(), node_ptr[1:].tolist(), strict=True)
    return Paths.stacked(
        [decode(_split(score, first, stop, in_ptr, tail)) for first, stop in bounds]
    )
