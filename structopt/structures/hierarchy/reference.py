r"""The oracles of hierarchies over a networkx graph: slow, short, and in exact arithmetic.

The functions take what those of :mod:`structopt.structures.hierarchy.kernels` take and find outputs
of the same score; `max_product` breaks ties alike. Every node of the graph keeps, for each of its
labels, the labellings of its subtree that are among the k best.

>>> import numpy as np
>>> unary, pair = np.array([[1.0, 0.0], [0.0, 0.0]]), np.eye(2)[None]
>>> tree = (np.zeros(2, int), np.array([-1, 0]), np.array([0, 1]))
>>> max_product(unary, pair, *tree)
array([0, 0])
>>> k_best(unary, pair, *tree, 3)
array([[0, 0],
       [0, 1],
       [1, 1]])
"""

from __future__ import annotations

import heapq
from fractions import Fraction
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np

from structopt.arrays import Floats, Ints


def max_product(unary: Floats, pair: Floats, kind: Ints, parent: Ints, order: Ints) -> Ints:
    """Return the best output of every tree."""
    graph, labels = _graph(unary, pair, kind, parent), np.zeros(len(parent), dtype=np.int64)
    for root in np.flatnonzero(parent < 0).tolist():
        for _, output in _best(graph, root, 1):  # none at all: anything is as good
            labels[list(output)] = list(output.values())
    return labels


def best_other(
    unary: Floats, pair: Floats, kind: Ints, parent: Ints, order: Ints, offsets: Ints, gold: Ints
) -> tuple[Ints, Any]:
    """Return the best output of every example that is not gold, and where there is none."""
    labels, missing = gold.copy(), np.zeros(len(offsets) - 1, dtype=bool)
    for i, (a, b) in enumerate(pairwise(offsets.tolist())):
        up = np.where(parent[a:b] < 0, -1, parent[a:b] - a)
        two = k_best(unary[a:b], pair, kind[a:b], up, order[a:b] - a, 2)
        other = next((y for y in two if not np.array_equal(y, gold[a:b])), None)
        missing[i] = other is None
        if other is not None:
            labels[a:b] = other
    return labels, missing


def k_best(unary: Floats, pair: Floats, kind: Ints, parent: Ints, order: Ints, k: int) -> Ints:
    """Return the k best outputs of one example as rows, best first (fewer if there are fewer)."""
    graph = _graph(unary, pair, kind, parent)
    found: list[tuple[Fraction, dict[int, int]]] = [(Fraction(0), {})]
    for root in np.flatnonzero(parent < 0).tolist():
        found = _joined(found, _best(graph, root, k), k)
    return np.array([[y[v] for v in range(len(parent))] for _, y in found], dtype=np.int64)


def _graph(unary: Floats, pair: Floats, kind: Ints, parent: Ints) -> nx.DiGraph:
    graph = nx.DiGraph()
    for v, row in enumerate(unary):
        graph.add_node(v, score={k: Fraction(a) for k, a in enumerate(row) if np.isfinite(a)})
    for v, u in enumerate(parent.tolist()):
        if u >= 0:
            graph.add_edge(u, v, table=pair[kind[v]])
    return graph


def _best(graph: nx.DiGraph, root: int, k: int) -> list[tuple[Fraction, dict[int, int]]]:
    """Return the k best labellings of the tree below ``root`` with their scores."""
    below: dict[int, list[list[tuple[Fraction, dict[int, int]]]]] = {}
    for v in nx.dfs_postorder_nodes(graph, root):
        below[v] = []
        for label, score in graph.nodes[v]["score"].items():
            found = [(score, {v: label})]
            for child in graph.successors(v):
                table = graph.edges[v, child]["table"]
                own = [
                    (value + Fraction(table[y[child], label]), y)
                    for answers in below[child]
                    for value, y in answers
                ]
                found = _joined(found, _largest(own, k), k)
            below[v].append(found)
    return _largest([one for answers in below[root] for one in answers], k)


def _joined(left: list[Any], right: list[Any], k: int) -> list[Any]:
    return _largest([(a + b, {**y, **z}) for a, y in left for b, z in right], k)


def _largest(found: list[Any], k: int) -> list[Any]:
    return heapq.nlargest(k, found, key=lambda one: one[0])  # stable: smaller labels come first
