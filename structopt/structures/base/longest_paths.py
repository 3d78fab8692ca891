r"""Longest paths in exact arithmetic by networkx, for the references of sequences and lattices.

A graph without cycles has the attribute ``length``, an integer, at every edge, and every edge lies
on a way from ``source`` to ``sink``. A potential p that grows along edges adds the same to all
paths, so lengths may be made positive: ``length + p(v) - p(u)``.

>>> graph = nx.DiGraph()
>>> graph.add_weighted_edges_from([("s", "t", -1), ("s", "a", -1), ("a", "t", 2)], weight="length")
>>> longest(graph), list(decreasing(graph, "s", "t"))
(['s', 'a', 't'], [['s', 'a', 't'], ['s', 't']])
>>> whole_numbers([0.5, -2.0], 10)
{0.5: 10, -2.0: -40}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import networkx as nx


def whole_numbers(values: Iterable[float], digits: int) -> dict[float, int]:
    """Return floats as integers of one scale, times ``digits``: room for rules that break ties."""
    every = set(values)
    # floats are integers over powers of two; the greatest is common to all
    scale = max((value.as_integer_ratio()[1] for value in every), default=1)
    return {value: int(Fraction(value) * scale) * digits for value in every}


def longest(graph: Any) -> list[Any]:
    """Return the nodes of the longest path."""
    path: list[Any] = nx.dag_longest_path(_shifted(graph, 1), weight="weight")
    return path


def decreasing(graph: Any, source: Any, sink: Any) -> Iterator[list[Any]]:
    """Yield the nodes of every path from source to sink, longest first."""
    yield from nx.shortest_simple_paths(_shifted(graph, -1), source, sink, weight="weight")


def _shifted(graph: Any, sign: int) -> Any:
    """Return the graph with positive weights that order paths by ``sign`` times their length."""
    place = {node: k for k, node in enumerate(nx.topological_sort(graph))}
    most = 1 + max(abs(length) for _, _, length in graph.edges(data="length"))
    shifted = nx.DiGraph()
    for u, v, length in graph.edges(data="length"):
        shifted.add_edge(u, v, weight=most * (place[v] - place[u]) + sign * length)
    return shifted
