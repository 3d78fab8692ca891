r"""The oracles of arborescences by networkx: slow, short, and what the compiled ones must equal.

The functions take what those of :mod:`structopt.structures.arborescence.kernels` take. They find
trees of the same score; among equally good trees they may choose others.

>>> import numpy as np
>>> head, dependent = np.array([0, 0, 1, 2]), np.array([1, 2, 2, 1])
>>> one = (np.array([0, 4]), head, dependent, np.array([0, 2]))
>>> decode(np.array([1.0, 0.0, 5.0, 9.0]), *one, False)
(array([3, 1]), -1)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import networkx as nx
import numpy as np

from structopt.arrays import Floats, Ints
from structopt.errors import InvalidInputError


def decode(
    scores: Floats, arcs: Ints, head: Ints, dependent: Ints, tokens: Ints, single_root: bool
) -> tuple[Ints, int]:
    """Return the best tree of every sentence as arcs, and the first sentence without one or -1."""
    return first_of(partial(_best, single_root=single_root), scores, arcs, head, dependent, tokens)


def first_of(
    best: Callable[[nx.DiGraph], list[int] | None], scores: Floats, arcs: Ints, head: Ints,
    dependent: Ints, tokens: Ints,
) -> tuple[Ints, int]:  # fmt: skip
    """Return the tree of every sentence that is ``best``, and the first without one or -1."""
    answer = np.zeros(tokens[-1], dtype=np.int64)
    for i in range(len(tokens) - 1):
        tree = best(graph_of(scores, arcs[i], arcs[i + 1], head, dependent))
        if tree is None:
            return answer, i
        answer[tokens[i] : tokens[i + 1]] = tree
    return answer, -1


def best_other(
    scores: Floats, arcs: Ints, head: Ints, dependent: Ints, tokens: Ints, gold: Ints,
    single_root: bool,
) -> tuple[Ints, Any]:  # fmt: skip
    """Return the best tree of every sentence other than gold, and where there is none."""
    trees = partial(decreasing, single_root=single_root)
    return second_of(trees, scores, arcs, head, dependent, tokens, gold)


def second_of(
    trees: Callable[[nx.DiGraph], Iterator[list[int]]], scores: Floats, arcs: Ints, head: Ints,
    dependent: Ints, tokens: Ints, gold: Ints,
) -> tuple[Ints, Any]:  # fmt: skip
    """Return the first tree of every sentence that is not gold, of ``trees`` best first."""
    answer, missing = gold.copy(), np.zeros(len(tokens) - 1, dtype=bool)
    for i in range(len(tokens) - 1):
        own = slice(int(tokens[i]), int(tokens[i + 1]))
        two = islice(trees(graph_of(scores, arcs[i], arcs[i + 1], head, dependent)), 2)
        other = next((t for t in two if not np.array_equal(t, gold[own])), None)
        missing[i] = other is None
        if other is not None:
            answer[own] = other
    return answer, missing


def k_best(table: Floats, single_root: bool, k: int) -> Ints:
    """Return the heads of the k best trees as rows, best first (-1 for the root's own)."""
    graph, head = candidates(table)
    return rows_of(islice(decreasing(graph, single_root), k), head, len(table))


def rows_of(trees: Iterable[list[int]], head: Ints, n_nodes: int) -> Ints:
    """Return the heads of trees as rows, -1 for the root's own."""
    rows = [[-1, *head[tree]] for tree in trees]
    return np.array(rows, dtype=np.int64).reshape(-1, n_nodes)


def candidates(table: Floats) -> tuple[nx.DiGraph, Ints]:
    """Return the graph of a table of scores [dependent, head], and the head of each arc."""
    dependent, head = np.nonzero(np.isfinite(table))
    kept = (head != dependent) & (dependent > 0)
    dependent, head = dependent[kept], head[kept]
    return graph_of(table[dependent, head], 0, len(head), head, dependent), head


def graph_of(scores: Floats, first: int, stop: int, head: Ints, dependent: Ints) -> nx.DiGraph:
    """Return arcs ``first`` to ``stop - 1`` as a graph with weights."""
    graph = nx.DiGraph()
    graph.add_node(0)  # the root, from which every tree grows
    for a in range(int(first), int(stop)):
        graph.add_nodes_from((int(head[a]), int(dependent[a])))
        if scores[a] == -np.inf:  # forbidden: no edge
            continue
        graph.add_edge(int(head[a]), int(dependent[a]), weight=float(scores[a]), arc=a)
    return graph


def _best(graph: nx.DiGraph, single_root: bool) -> list[int] | None:
    """Return the arc into every token of the best tree; None if there is no tree."""
    if not single_root:
        return _spanning(graph)
    best, answer = -np.inf, None
    for child in list(graph.successors(0)):
        inside = graph.copy()
        inside.remove_edges_from([(0, v) for v in graph.successors(0) if v != child])
        tree = _spanning(inside)
        if tree is not None:
            chosen = set(tree)
            value = sum(e["weight"] for _, _, e in graph.edges(data=True) if e["arc"] in chosen)
            if value > best:
                best, answer = value, tree
    return answer


def _spanning(graph: nx.DiGraph) -> list[int] | None:
    # maximum_spanning_arborescence of networkx 3.6 finds none in some sparse graphs that have one:
    # its shift of the weights is too small for a branching to be worth an arc more
    weights = [weight for _, _, weight in graph.edges(data="weight")]
    shift = (len(graph) + 1) * (1.0 + max(weights, default=0.0) - min(weights, default=0.0))
    _check_spread(weights, shift)
    shifted = nx.DiGraph()
    shifted.add_nodes_from(graph)
    for u, v, weight in graph.edges(data="weight"):
        shifted.add_edge(u, v, weight=weight - min(weights) + shift)
    tree = nx.maximum_branching(shifted, attr="weight")
    if tree.number_of_edges() < len(graph) - 1:
        return None
    return _by_token(tree, graph)


def _check_spread(weights: list[float], total: float) -> None:
    if not total < np.inf:
        raise InvalidInputError(
            f"Arcs score from {min(weights):g} to {max(weights):g}: too far apart for sums of them."
        )


def decreasing(graph: nx.DiGraph, single_root: bool) -> Iterator[list[int]]:
    """Yield the arcs of every tree, by token, best first."""
    # the same fault of networkx, which ends an iteration early: where weights differ by little, a
    # branching gains most by an arc more
    weights = [weight for _, _, weight in graph.edges(data="weight")]
    spread = max(weights, default=0.0) - min(weights, default=0.0)
    _check_spread(weights, len(graph) * spread)
    close = nx.DiGraph()
    close.add_nodes_from(graph)
    for u, v, weight in graph.edges(data="weight"):
        share = (weight - min(weights)) / spread if spread else 0.0
        close.add_edge(u, v, weight=share / len(graph))
    try:
        trees = iter(nx.ArborescenceIterator(close, minimum=False))
    except nx.NetworkXException:  # there is none
        return
    for tree in trees:
        if not single_root or tree.out_degree(0) == 1:
            yield _by_token(tree, graph)


def _by_token(tree: nx.DiGraph, graph: nx.DiGraph) -> list[int]:
    arcs = {v: graph.edges[u, v]["arc"] for u, v in tree.edges}
    return [arcs[v] for v in sorted(arcs)]
