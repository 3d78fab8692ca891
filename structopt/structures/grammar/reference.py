r"""Decoding by a grammar as best derivations in a networkx graph: slow, short, a reference.

Nodes of the graph are labelled spans (i, j, symbol) and, below each, the ways to derive it,
(i, j, production, split); a way's successors are the labelled spans that it needs. In reverse
topological order every labelled span keeps its k best derivations.
"""

from __future__ import annotations

from heapq import nlargest
from itertools import combinations, product
from typing import Any

import networkx as nx
import numpy as np

from structopt.arrays import Floats, Ints


def k_best(
    k: int, offsets: Ints, tag_score: Floats, first: Floats, last: Floats, span: Floats,
    rule_score: Floats, lhs: Ints, below: Ints, tag: Ints, left_ptr: Ints, binary: Ints,
    unary: Ints, start: int, gold_ptr: Ints, gold: Ints, extra: float, missed: float,
) -> tuple[Ints, Ints]:  # fmt: skip
    """Return the k best trees of every sentence, as the kernel of that name does."""
    ends, nodes, spans, tags = [0], [], 0, set(tag.tolist())
    for x in range(len(offsets) - 1):
        t, length = int(offsets[x]), int(offsets[x + 1] - offsets[x])
        cells, made = np.divmod(gold[gold_ptr[x] : gold_ptr[x + 1]], len(lhs))
        right = set(zip(cells.tolist(), lhs[made].tolist(), strict=True))
        rows = {ends: spans + s for s, ends in enumerate(_spans(length))}
        spans += len(rows)

        def score(
            way: Any, t: int = t, n: int = length, right: Any = right, rows: Any = rows
        ) -> float:
            i, j, p, _ = way
            symbol = int(lhs[p])
            value = -missed if (i * (n + 1) + j, symbol) in right else extra
            if p in tags:
                return float(value + tag_score[t + i, symbol])
            value += rule_score[p]
            if len(first):
                value += first[t + i, symbol] + last[t + j - 1, symbol]
            return float(value + (span[rows[i, j], symbol] if len(span) else 0.0))

        graph = _graph(length, lhs, below)
        best: dict[Any, list[Any]] = {}
        for node in reversed(list(nx.topological_sort(graph))):
            if len(node) == 4:
                own, parts = score(node), [best[c] for c in _children(node, below)]
                every = product(*parts) if np.isfinite(own) else ()
                code = (node[0] * (length + 1) + node[1]) * len(lhs) + node[2]
                found: Any = (
                    (own + sum(v for v, _ in c), [code, *(n for _, nodes in c for n in nodes)])
                    for c in every
                )
            else:
                found = (derived for way in graph.successors(node) for derived in best[way])
            best[node] = nlargest(k, found, key=lambda derived: derived[0])
        found = best.get((0, length, start), [])
        for r in range(k):
            one = sorted(found[r][1]) if r < len(found) else []
            nodes += one
            ends.append(ends[-1] + len(one))
    return np.array(ends), np.array(nodes, dtype=np.int64)


def _spans(length: int) -> list[tuple[int, int]]:
    return list(combinations(range(length + 1), 2))


def _children(way: tuple[int, int, int, int], below: Ints) -> list[tuple[int, int, int]]:
    i, j, p, m = way
    left, right = (int(s) for s in below[p])
    if left < 0:
        return []
    return [(i, j, left)] if right < 0 else [(i, m, left), (m, j, right)]


def _graph(length: int, lhs: Ints, below: Ints) -> Any:
    graph = nx.DiGraph()
    symbols = range(int(max(lhs.max(), below.max())) + 1)
    for i, j in _spans(length):
        graph.add_nodes_from((i, j, symbol) for symbol in symbols)
        for p, (a, b) in enumerate(below.tolist()):
            splits = range(i + 1, j) if b >= 0 else [-1] if a >= 0 or j == i + 1 else []
            for m in splits:
                way = (i, j, p, m)
                graph.add_edge((i, j, int(lhs[p])), way)
                graph.add_edges_from((way, child) for child in _children(way, below))
    return graph
