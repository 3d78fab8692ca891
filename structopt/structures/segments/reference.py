r"""The oracles of segments as longest paths, by networkx: slow, short and exact.

Outputs of a sequence are the paths of a graph with a node per end and label,

    source -> (e_1, l_1) -> (e_2, l_2) -> ... -> (T, l_m) -> sink,

where parallel segments are told apart by their ends. The functions take what
the kernels of this room take, and must return the same outputs: floats are exact fractions here,
and the tie rule is written into the lengths as digits below the last bit of any
score, the label and the length of the last segment first.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice, pairwise
from typing import Any

import networkx as nx
import numpy as np

from structopt.arrays import Ints
from structopt.structures.base.longest_paths import decreasing, longest
from structopt.structures.chain.transitions import Bools
from structopt.structures.segments.scores import SegmentScores

SOURCE, SINK = "source", "sink"
Found = tuple[Ints, Bools, Bools]


def viterbi(*given: Any) -> Found:
    """Return the best output of every sequence, ``bonus`` added for each segment of ``right``."""
    scores, (offsets, label, length, bonus) = SegmentScores(*given[:8]), given[8:]
    right = np.column_stack([label, length])  # at the last position of a segment
    found = []
    for a, b in pairwise(offsets.tolist()):
        graph = _graph(scores, a, b - a, right, bonus)
        found.append(longest(graph)[1:-1] if len(graph) else None)
    return _stacked(found, offsets)


def best_other(*given: Any) -> Found:
    """Return the best output of every sequence that is not gold; gold if there is no other."""
    scores, (offsets, label, begin) = SegmentScores(*given[:8]), given[8:]
    found, none = [], np.zeros(len(offsets) - 1, dtype=bool)
    for i, (a, b) in enumerate(pairwise(offsets.tolist())):
        starts = np.flatnonzero(begin[a:b])
        ends = [*starts[1:].tolist(), b - a]
        gold = [(e, int(label[a + s])) for s, e in zip(starts.tolist(), ends, strict=True)]
        two = islice(_paths(_graph(scores, a, b - a)), 2)
        other = next((path for path in two if path != gold), None)
        none[i] = other is None
        found.append(gold if other is None else other)
    labels, begins, _ = _stacked(found, offsets)
    return labels, begins, ~none


def k_best(*given: Any) -> tuple[Ints, Bools]:
    """Return the k best outputs of one sequence as rows, best first (fewer if there are fewer)."""
    scores, (first, length, k) = SegmentScores(*given[:8]), given[8:]
    paths = islice(_paths(_graph(scores, first, length)), k)
    rows = [_stacked([path], np.array([0, length]))[:2] for path in paths]
    return (
        np.array([row[0] for row in rows], dtype=np.int64).reshape(-1, length),
        np.array([row[1] for row in rows], dtype=bool).reshape(-1, length),
    )


def _graph(
    scores: SegmentScores, first: int, length: int, right: Any = (), bonus: float = 0.0
) -> Any:
    """Return the graph whose edges hold exact integer lengths, ties broken."""
    most, n = scores.lengths.shape
    lengths: dict[tuple[Any, Any], tuple[Fraction, int]] = {}
    for e in range(1, length + 1):
        for m in range(1, min(most, e) + 1):
            for k in range(n):
                value = _segment(scores, first + e - m, m, k)
                if value is None:
                    continue
                if len(right) and tuple(right[first + e - 1]) == (k, m):
                    value += Fraction(bonus)
                digit = (k * most + m - 1) * (n * most) ** e
                for j in range(n if e > m else 1):
                    step = scores.start[k] if e == m else scores.transition[j, k]
                    if step > -np.inf:
                        before = SOURCE if e == m else (e - m, j)
                        lengths[before, (e, k)] = value + Fraction(float(step)), digit
    for k in range(n):
        if scores.stop[k] > -np.inf:
            lengths[(length, k), SINK] = Fraction(float(scores.stop[k])), 0
    graph = nx.DiGraph()
    scale = max((value.denominator for value, _ in lengths.values()), default=1)
    for (u, v), (value, digit) in lengths.items():
        graph.add_edge(u, v, length=int(value * scale) * (n * most) ** (length + 1) - digit)
    if SOURCE not in graph or SINK not in graph or not nx.has_path(graph, SOURCE, SINK):
        return nx.DiGraph()
    kept = (nx.descendants(graph, SOURCE) | {SOURCE}) & (nx.ancestors(graph, SINK) | {SINK})
    return nx.DiGraph(graph.subgraph(kept))


def _segment(scores: SegmentScores, start: int, m: int, k: int) -> Any:
    """Return the exact score of a segment; None if it is forbidden."""
    parts = [scores.begin[start, k], *scores.inside[start + 1 : start + m, k]]
    parts += [scores.end[start + m - 1, k], scores.lengths[m - 1, k]]
    if len(scores.spans):
        parts.append(scores.spans[start, m - 1, k])
    return None if -np.inf in parts else sum(map(Fraction, map(float, parts)), Fraction(0))


def _paths(graph: Any) -> Iterator[list[Any]]:
    """Yield the segments (end, label) of every output, best first."""
    if len(graph):
        for path in decreasing(graph, SOURCE, SINK):
            yield path[1:-1]


def _stacked(found: list[Any], offsets: Ints) -> Found:
    """Return paths as labels and begins; label 0 everywhere where there is none."""
    labels = np.zeros(offsets[-1], dtype=np.int64)
    begins = np.ones(offsets[-1], dtype=bool)
    for a, path in zip(offsets.tolist(), found, strict=False):
        before = 0
        for e, k in path or ():
            labels[a + before : a + e] = k
            begins[a + before + 1 : a + e] = False
            before = e
    return labels, begins, np.array([path is not None for path in found])
