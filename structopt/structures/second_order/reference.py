r"""The second-order oracles as longest paths, by networkx: slow, short and exact.

    source -> (0, -, y_0) -> (1, y_0, y_1) -> (2, y_1, y_2) -> ... -> (T, -, -) -> sink

The functions take what the kernels of this room take, and must return the same outputs: floats are
exact fractions here, and the tie rule is written into the lengths as digits below the last bit of
any score.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Any

import networkx as nx
import numpy as np

from structopt.arrays import Ints
from structopt.structures.base.longest_paths import decreasing, longest, whole_numbers
from structopt.structures.second_order.scores import SecondOrderScores

SOURCE, SINK = "source", "sink"


def viterbi(*given: Any) -> Ints:
    """Return the best output of every sequence."""
    scores, (offsets,) = SecondOrderScores(*given[:5]), given[5:]
    found = []
    for a, b in pairwise(offsets.tolist()):
        graph = _trellis(scores, a, b - a)
        found.append(_labels(longest(graph)) if len(graph) else [0] * (b - a))
    return np.concatenate(found).astype(np.int64)


def best_other(*given: Any) -> Ints:
    """Return the best output of every sequence that is not gold; gold if there is no other."""
    scores, (offsets, gold) = SecondOrderScores(*given[:5]), given[5:]
    found = []
    for a, b in pairwise(offsets.tolist()):
        kept = gold[a:b].tolist()
        two = islice(_paths(_trellis(scores, a, b - a)), 2)
        found.append(next((path for path in two if path != kept), kept))
    return np.concatenate(found).astype(np.int64)


def k_best(*given: Any) -> Ints:
    """Return the k best outputs of one sequence as rows, best first (fewer if there are fewer)."""
    scores, (first, length, k) = SecondOrderScores(*given[:5]), given[5:]
    paths = islice(_paths(_trellis(scores, first, length)), k)
    return np.array(list(paths), dtype=np.int64).reshape(-1, length)


def _trellis(scores: SecondOrderScores, first: int, length: int) -> Any:
    """Return the graph whose edges hold exact integer lengths, ties broken."""
    unary, n = scores.unary[first : first + length], scores.unary.shape[1]
    every = np.concatenate([np.ravel(a) for a in (unary, *scores[1:])])
    exact = whole_numbers(every[every > -np.inf].tolist(), n**length)
    graph = nx.DiGraph()

    def add(u: Any, v: Any, parts: list[Any], digit: int) -> None:
        if -np.inf not in parts:
            graph.add_edge(u, v, length=sum(exact[float(p)] for p in parts) - digit)

    for t in range(length):
        for k in range(n):
            place = k * n**t
            if t == 0:
                add(SOURCE, (0, 0, k), [scores.start[k], unary[0, k]], place)
            for j in range(n if t > 0 else 0):
                step = [scores.transition[j, k], unary[t, k]]
                if t == 1:
                    add((0, 0, j), (1, j, k), step, place)
                for i in range(n if t > 1 else 0):
                    add((t - 1, i, j), (t, j, k), [*step, scores.triple[i, j, k]], place)
    for j in range(n if length > 1 else 1):
        for k in range(n):
            add((length - 1, j, k), SINK, [scores.end[k]], 0)
    if SOURCE not in graph or SINK not in graph or not nx.has_path(graph, SOURCE, SINK):
        return nx.DiGraph()
    kept = (nx.descendants(graph, SOURCE) | {SOURCE}) & (nx.ancestors(graph, SINK) | {SINK})
    return nx.DiGraph(graph.subgraph(kept))


def _paths(graph: Any) -> Iterator[list[int]]:
    if len(graph):
        yield from map(_labels, decreasing(graph, SOURCE, SINK))


def _labels(path: list[Any]) -> list[int]:
    return [node[2] for node in path[1:-1]]
