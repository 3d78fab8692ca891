r"""The chain's oracles as longest paths in a trellis, by networkx: slow, short and exact.

Outputs of a sequence are the paths of a graph with a node per position and label,

    source -> (0, y_0) -> (1, y_1) -> ... -> (T-1, y_{T-1}) -> sink,

and a path's length is its score. The functions take what those of
:mod:`structopt.structures.chain.kernels` take, and must return the same outputs: floats are exact
fractions here, and the tie rule (the smaller label at the last position where two outputs differ)
is written into the lengths as digits below the last bit of any score.

>>> import numpy as np
>>> unary, zero = np.array([[1.0, 0.0], [0.0, 0.0]]), np.zeros(2)
>>> viterbi(unary, np.eye(2), zero, zero, np.array([0, 2]), np.zeros(2, int), zero)
array([0, 0])
>>> k_best(unary, np.eye(2), zero, zero, 3)
array([[0, 0],
       [0, 1],
       [1, 1]])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import islice, pairwise
from typing import Any

import networkx as nx
import numpy as np

from structopt.arrays import Floats, Ints
from structopt.structures.base.longest_paths import decreasing, longest, whole_numbers

SOURCE, SINK = "source", "sink"


def viterbi(
    unary: Floats, transition: Floats, start: Floats, end: Floats,
    offsets: Ints, gold: Ints, cost: Floats,
) -> Ints:  # fmt: skip
    """Return the best output of every sequence, ``cost[t]`` added where it differs from gold."""
    augmented = unary + cost[:, None]
    augmented[np.arange(len(gold)), gold] = unary[np.arange(len(gold)), gold]

    def decode(a: int, b: int) -> list[int]:
        graph = _trellis(augmented[a:b], transition, start, end)
        return _longest(graph) if len(graph) else [0] * (b - a)  # no output: anything is as good

    return _each(offsets, decode)


def best_other(
    unary: Floats, transition: Floats, start: Floats, end: Floats, offsets: Ints, gold: Ints
) -> Ints:
    """Return the best output of every sequence that is not gold; gold if there is no other."""

    def decode(a: int, b: int) -> list[int]:
        kept: list[int] = gold[a:b].tolist()
        two = islice(_decreasing(_trellis(unary[a:b], transition, start, end)), 2)
        return next((path for path in two if path != kept), kept)

    return _each(offsets, decode)


def k_best(unary: Floats, transition: Floats, start: Floats, end: Floats, k: int) -> Ints:
    """Return the k best outputs of one sequence as rows, best first (fewer if there are fewer)."""
    graph = _trellis(unary, transition, start, end)
    paths = islice(_decreasing(graph), k) if len(graph) else ()
    return np.array(list(paths), dtype=np.int64).reshape(-1, len(unary))


def slack_rescaled(
    unary: Floats, transition: Floats, start: Floats, end: Floats,
    offsets: Ints, gold: Ints, cost: Floats, step: Ints, n_levels: Ints,
) -> Ints:  # fmt: skip
    """Return the output of every sequence that maximises ``loss * (1 - w . delta)``.

    Nodes carry the loss of the path so far as well; ``step`` and ``n_levels`` are not needed.
    """

    def decode(a: int, b: int) -> list[int]:
        kept: list[int] = gold[a:b].tolist()
        graph = _trellis(unary[a:b], transition, start, end, kept, cost[a:b].tolist())
        parts = (unary[a:b], transition, start, end)
        best, answer = Fraction(0), kept
        for node in sorted(graph.pred[SINK], key=lambda node: node[2]):
            inside = graph.subgraph({node, SINK} | nx.ancestors(graph, node))
            path = _longest(inside)
            delta = _score(*parts, kept) - _score(*parts, path)
            if node[2] * (1 - delta) > best:
                best, answer = node[2] * (1 - delta), path
        return answer

    return _each(offsets, decode)


def _trellis(
    unary: Floats, transition: Floats, start: Floats, end: Floats,
    gold: Sequence[int] = (), cost: Sequence[float] = (),
) -> nx.DiGraph:  # fmt: skip
    """Return the graph whose edges hold exact integer lengths, ties broken.

    With gold and cost a node is (position, label, loss so far), and (T, None, loss) gathers the
    paths of one loss; without, every loss is 0 and there is one such node.
    """
    length, n_labels = unary.shape
    given = np.concatenate([np.ravel(a) for a in (unary, transition, start, end)])
    every = given[given > -np.inf].tolist()  # the others are forbidden: no edge
    exact = whole_numbers(every, n_labels**length)
    extra = [Fraction(value) for value in cost]
    graph = nx.DiGraph()
    layer: dict[Any, Fraction] = {SOURCE: Fraction(0)}
    for t in range(length):
        reached: dict[Any, Fraction] = {}
        for node, loss in layer.items():
            for k in range(n_labels):
                step = start[k] if t == 0 else transition[node[1], k]
                if step == -np.inf or unary[t, k] == -np.inf:
                    continue
                after = loss + extra[t] if extra and k != gold[t] else loss
                edge = exact[step] + exact[unary[t, k]]
                graph.add_edge(node, (t, k, after), length=edge - k * n_labels**t)
                reached[t, k, after] = after
        layer = reached
    for node, loss in layer.items():
        if end[node[1]] > -np.inf:
            graph.add_edge(node, (length, None, loss), length=exact[end[node[1]]])
            graph.add_edge((length, None, loss), SINK, length=0)
    if SINK not in graph:
        return nx.DiGraph()
    return nx.DiGraph(graph.subgraph(nx.ancestors(graph, SINK) | {SINK}))


def _longest(graph: nx.DiGraph) -> list[int]:
    """Return the labels of the longest path from source to sink."""
    return [node[1] for node in longest(graph)[1:-2]]


def _decreasing(graph: nx.DiGraph) -> Iterator[list[int]]:
    """Yield the labels of every path from source to sink, longest first."""
    for path in decreasing(graph, SOURCE, SINK):
        yield [node[1] for node in path[1:-2]]


def _score(
    unary: Floats, transition: Floats, start: Floats, end: Floats, path: list[int]
) -> Fraction:
    """Return the exact score of an output."""
    parts = [start[path[0]], end[path[-1]], *(unary[t, k] for t, k in enumerate(path))]
    return sum(map(Fraction, [*parts, *(transition[j, k] for j, k in pairwise(path))]), Fraction(0))


def _each(offsets: Ints, decode: Callable[[int, int], list[int]]) -> Ints:
    """Return the labels that ``decode`` finds for each sequence, stacked."""
    outputs = [decode(a, b) for a, b in pairwise(offsets.tolist())]
    return np.concatenate([np.array(labels, dtype=np.int64) for labels in outputs])
