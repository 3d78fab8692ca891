r"""Alignments as longest paths in a networkx graph, in exact arithmetic: slow, short, a reference.

The function takes what the kernel of that name takes. Nodes are (operation, i, j).
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import networkx as nx
import numpy as np

from structopt.arrays import Floats, Ints
from structopt.structures.base.longest_paths import decreasing, longest, whole_numbers


def k_best(
    k: int, a_ends: Ints, b_ends: Ints, pair_ends: Ints, pair: Floats, deleted: Floats,
    inserted: Floats, opens: Floats, local: bool, gold_ptr: Ints, gold: Ints, extra: float,
    missed: float,
) -> tuple[Ints, Ints, Ints]:  # fmt: skip
    """Return the k best alignments of every pair, as the kernel does."""
    ptr, matches, count = [0], [], []
    for e in range(len(a_ends) - 1):
        n, m = int(a_ends[e + 1] - a_ends[e]), int(b_ends[e + 1] - b_ends[e])
        own = pair[pair_ends[e] : pair_ends[e + 1]] + extra
        own[gold[gold_ptr[e] : gold_ptr[e + 1]]] -= extra + missed
        gaps = (deleted[a_ends[e] : a_ends[e + 1]], inserted[b_ends[e] : b_ends[e + 1]])
        graph = _graph(own.reshape(n, m), *gaps, opens, local)
        paths = [longest(graph)] if k == 1 else islice(decreasing(graph, "start", "goal"), k)
        found = [[(v[1] - 1) * m + v[2] - 1 for v in path if v[0] == "M"] for path in paths]
        count.append(len(found))
        for r in range(k):
            matches += found[r] if r < len(found) else []
            ptr.append(len(matches))
    return np.array(ptr), np.array(matches, dtype=np.int64), np.array(count)


def _graph(pair: Floats, deleted: Floats, inserted: Floats, opens: Floats, local: bool) -> Any:
    n, m = pair.shape
    edges: list[tuple[Any, Any, float]] = [("start", "goal", 0.0)] if local else []
    for i in range(n + 1):
        for j in range(m + 1):
            if i and j:
                score = float(pair[i - 1, j - 1])
                edges += [((s, i - 1, j - 1), ("M", i, j), score) for s in "MDI"]
                if local:
                    edges += [("start", ("M", i, j), score), (("M", i, j), "goal", 0.0)]
            if i:
                edges.append((("M", i - 1, j), ("D", i, j), float(deleted[i - 1] + opens[0])))
                edges.append((("D", i - 1, j), ("D", i, j), float(deleted[i - 1])))
            if j:
                opened = float(inserted[j - 1] + opens[1])
                edges += [((s, i, j - 1), ("I", i, j), opened) for s in "MD"]
                edges.append((("I", i, j - 1), ("I", i, j), float(inserted[j - 1])))
    if not local:  # nothing was matched where it begins
        edges = [("start" if u == ("M", 0, 0) else u, v, score) for u, v, score in edges]
        edges += [((s, n, m), "goal", 0.0) for s in "MDI"]
    graph = nx.DiGraph()
    edges = [edge for edge in edges if edge[2] > -np.inf]  # what is given bars the others
    lengths = whole_numbers([score for *_, score in edges], 1)
    graph.add_edges_from((u, v, {"length": lengths[score]}) for u, v, score in edges)
    kept = nx.descendants(graph, "start") & nx.ancestors(graph, "goal")
    return graph.subgraph(kept | {"start", "goal"})
