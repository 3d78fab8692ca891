r"""Exact answers on graphs of bounded tree-width, by a junction tree.

The nodes of a graph are covered by *bags* that form a tree: every edge lies in some bag, and the
bags of a node hang together. With the scores of nodes and edges each written into one bag that
holds them, messages from the leaves to a root and back leave at every bag

    belief_b(y_b) = max (or log sum exp) over all other labels of score(y),

which answers every question about bags, edges and nodes. Tables have K^(width + 1) entries. The
bags come from networkx' heuristics, so that `width` may be more than the true tree-width.

>>> import numpy as np
>>> tree = JunctionTree.of(3, np.array([[0, 1], [1, 2], [0, 2]]), 2, 2)
>>> tree.bags, JunctionTree.of(3, np.array([[0, 1], [1, 2], [0, 2]]), 2, 1)
([(0, 1, 2)], None)
>>> apart = np.tile([[0.0, 1.0], [1.0, 0.0]], (3, 1, 1))      # neighbours like to differ
>>> tree.best(np.array([[0.5, 0.0], [0.0, 0.0], [0.0, 0.2]]), apart)
array([0, 0, 1])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import networkx as nx
import numpy as np
from networkx.algorithms.approximation import treewidth_min_degree, treewidth_min_fill_in

from structopt.arrays import Floats, Ints
from structopt.errors import InvalidInputError

MOST_ENTRIES = 2**24
"""Numbers in the table of one bag, 128 MiB."""
FEW_NODES = 300
"""Nodes up to which the slower and better of networkx' heuristics is tried as well."""

Reduce = Callable[[Any, tuple[int, ...]], Any]


class JunctionTree:
    """The bags of one graph, parents before children.

    Parameters
    ----------
    bags : list of tuples
        Node numbers, increasing.
    parent : list of int
        The bag above each; -1 for the root.
    n_nodes, n_labels : int
    edges : array of int, shape (m, 2)
    """

    def __init__(
        self, bags: list[tuple[int, ...]], parent: list[int], n_nodes: int, edges: Ints,
        n_labels: int,
    ) -> None:  # fmt: skip
        self.bags, self.parent, self.n_labels = bags, parent, n_labels
        home = {v: b for b, bag in reversed(list(enumerate(bags))) for v in bag}
        self._nodes = [(home[v], self._axes(home[v], (v,))) for v in range(n_nodes)]
        self._edges = [self._edge(u, v) for u, v in edges.tolist()]
        self._children: list[list[int]] = [[] for _ in bags]
        self._shared: list[tuple[int, ...]] = [()] * len(bags)
        for b, above in enumerate(parent):
            if above >= 0:
                self._children[above].append(b)
                self._shared[b] = tuple(sorted(set(bags[b]) & set(bags[above])))

    @classmethod
    def of(
        cls, n_nodes: int, edges: Ints, n_labels: int, width: int, example: int | None = None
    ) -> JunctionTree | None:
        """Return a tree whose bags have at most width + 1 nodes; None if none is found."""
        found = decomposed(n_nodes, edges, width)
        if found is None:
            return None
        largest = max(map(len, found[0]))
        if n_labels**largest > MOST_ENTRIES:
            most = int(np.log(MOST_ENTRIES) / np.log(n_labels)) - 1
            raise InvalidInputError(
                f"The junction tree of example {example} has a table of {n_labels}^{largest} "
                f"numbers: with {n_labels} labels width= may be at most {most}.",
                example=example,
            )
        return cls(*found, n_nodes, edges, n_labels)

    # ------------------------------------------------------------------ questions
    def best(self, unary: Floats, pair: Floats) -> Ints:
        """Return the labels of the highest score; unary may be -inf where one is forbidden."""
        tables = self._tables(unary, pair)
        self._collect(tables, np.max)
        labels = np.full(len(unary), -1)
        for bag, table in zip(self.bags, tables, strict=True):
            known = tuple(int(labels[v]) if labels[v] >= 0 else slice(None) for v in bag)
            open_ = [v for v in bag if labels[v] < 0]
            if open_:
                left = table[known]
                labels[open_] = np.unravel_index(int(np.argmax(left)), left.shape)
        return labels

    def best_other(self, unary: Floats, pair: Floats, gold: Ints) -> Ints | None:
        """Return the best labels that are not gold; None if there are no others.

        They differ from gold somewhere: at the node and label of the highest max-marginal.
        """
        found = self._next(unary, pair, gold)
        return None if found is None else self.best(_fixed(unary, *found[1:]), pair)

    def k_best(self, unary: Floats, pair: Floats, k: int) -> list[Ints]:
        """Return the k best labellings, best first (fewer if there are fewer).

        Sets of labellings are split at the node and label that tell their second best from their
        best (Nilsson 1998; Yanover and Weiss 2004): two passes for each answer.
        """
        first = self.best(unary, pair)
        answers, sets = [first], [(unary, first, self._next(unary, pair, first))]
        while len(answers) < k:
            values = [-np.inf if s[2] is None else s[2][0] for s in sets]
            at = int(np.argmax(values))
            own, labels, split = sets[at]
            if split is None:
                break
            _, v, label = split
            inside, outside = _fixed(own, v, label), own.copy()
            outside[v, label] = -np.inf
            answers.append(self.best(inside, pair))
            sets[at] = (outside, labels, self._next(outside, pair, labels))
            sets.append((inside, answers[-1], self._next(inside, pair, answers[-1])))
        return answers

    def marginals(self, unary: Floats, pair: Floats) -> tuple[Floats, Floats, float]:
        """Return the probabilities of labels at nodes and of pairs at edges, and log Z."""
        beliefs = self._calibrated(unary, pair, log_sum)
        log_z = float(log_sum(beliefs[0], tuple(range(beliefs[0].ndim))))
        nodes = np.exp(self._of_nodes(beliefs, log_sum) - log_z)
        pairs = np.zeros((len(self._edges), self.n_labels, self.n_labels))
        for e, (b, axes, turned) in enumerate(self._edges):
            found = log_sum(beliefs[b], _others(beliefs[b].ndim, axes))
            pairs[e] = np.exp((found.T if turned else found) - log_z)
        return nodes, pairs, log_z

    # ------------------------------------------------------------------ messages
    def _next(self, unary: Floats, pair: Floats, labels: Ints) -> tuple[float, int, int] | None:
        """Return the score, a node and its label of the best labelling that is not this one."""
        values = self._of_nodes(self._calibrated(unary, pair, np.max), np.max)
        values[np.arange(len(values)), labels] = -np.inf
        v, label = np.unravel_index(int(np.argmax(values)), values.shape)
        value = float(values[v, label])
        return None if value == -np.inf else (value, int(v), int(label))

    def _tables(self, unary: Floats, pair: Floats) -> list[Any]:
        """Return each bag's own scores."""
        tables: list[Any] = [np.zeros((self.n_labels,) * len(bag)) for bag in self.bags]
        for scores, (b, axes) in zip(unary, self._nodes, strict=True):
            tables[b] += _spread(scores, axes, tables[b].ndim)
        for both, (b, axes, turned) in zip(pair, self._edges, strict=True):
            tables[b] += _spread(both.T if turned else both, axes, tables[b].ndim)
        return tables

    def _collect(self, tables: list[Any], reduce: Reduce) -> list[Any]:
        """Send messages from the leaves to the root; return that of each bag."""
        sent: list[Any] = [None] * len(self.bags)
        for b in range(len(self.bags) - 1, 0, -1):
            axes = self._axes(b, self._shared[b])
            sent[b] = reduce(tables[b], _others(tables[b].ndim, axes))
            tables[self.parent[b]] += self._above(b, sent[b])
        return sent

    def _calibrated(self, unary: Floats, pair: Floats, reduce: Reduce) -> list[Any]:
        """Return the belief of each bag, with the messages of all others."""
        own = self._tables(unary, pair)
        tables = [table.copy() for table in own]
        sent = self._collect(tables, reduce)
        for b in range(len(self.bags)):  # own[b] holds what came from above by now
            children = self._children[b]
            # what a child hears leaves out what it said; sums from both ends and no differences,
            # since minus infinity has none
            after = [np.zeros_like(own[b])]
            for c in reversed(children):
                after.append(after[-1] + self._above(c, sent[c]))
            before = own[b].copy()
            for i, c in enumerate(children):
                heard = before + after[len(children) - 1 - i]
                down = reduce(heard, _others(heard.ndim, self._axes(b, self._shared[c])))
                own[c] += _spread(down, self._axes(c, self._shared[c]), own[c].ndim)
                before += self._above(c, sent[c])
            own[b] = before
        return own

    def _of_nodes(self, beliefs: list[Any], reduce: Reduce) -> Floats:
        rows = [reduce(beliefs[b], _others(beliefs[b].ndim, axes)) for b, axes in self._nodes]
        return np.array(rows)

    def _above(self, b: int, message: Any) -> Any:
        above = self.parent[b]
        return _spread(message, self._axes(above, self._shared[b]), len(self.bags[above]))

    def _axes(self, b: int, nodes: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(self.bags[b].index(v) for v in nodes)

    def _edge(self, u: int, v: int) -> tuple[int, tuple[int, ...], bool]:
        """Return a bag that holds an edge, its axes there, and whether they are turned round."""
        low, high = min(u, v), max(u, v)
        b = max(self._nodes[low][0], self._nodes[high][0])  # the lower of their topmost bags
        return b, self._axes(b, (low, high)), u > v


def log_sum(values: Any, axes: tuple[int, ...]) -> Any:
    """Return log sum exp over some axes; minus infinity of nothing."""
    top = np.max(values, axis=axes, keepdims=True)
    safe = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        found = np.log(np.sum(np.exp(values - safe), axis=axes, keepdims=True)) + safe
    return np.squeeze(found, axis=axes)


def decomposed(
    n_nodes: int, edges: Ints, width: int
) -> tuple[list[tuple[int, ...]], list[int]] | None:
    """Return bags of at most width + 1 nodes and the parent of each; None if none are found."""
    graph = _graph(n_nodes, edges)
    if max(nx.core_number(graph).values()) > width:
        return None  # the tree-width is at least the greatest least degree of a subgraph
    for found, tree in _decompositions(graph):
        if found <= width:
            root = next(iter(tree.nodes))
            above = {child: bag for bag, child in nx.bfs_edges(tree, root)}
            order = [root, *above]
            place = {bag: b for b, bag in enumerate(order)}
            parent = [-1, *(place[above[bag]] for bag in order[1:])]
            return [tuple(sorted(bag)) for bag in order], parent
    return None


def width_found(n_nodes: int, edges: Ints) -> int:
    """Return the least width for which bags are found.

    >>> width_found(4, np.array([[0, 1], [1, 2], [2, 3], [3, 0]]))
    2
    """
    return min(found for found, _ in _decompositions(_graph(n_nodes, edges)))


def _graph(n_nodes: int, edges: Ints) -> Any:
    graph = nx.Graph()
    graph.add_nodes_from(range(n_nodes))
    graph.add_edges_from(edges.tolist())
    return graph


def _decompositions(graph: Any) -> Iterator[tuple[int, Any]]:
    """Yield what networkx' heuristics find, the faster one first."""
    yield treewidth_min_degree(graph)
    if len(graph) <= FEW_NODES:
        yield treewidth_min_fill_in(graph)


def _fixed(unary: Floats, v: int, label: int) -> Floats:
    held = unary.copy()
    held[v] = np.where(np.arange(held.shape[1]) == label, held[v], -np.inf)
    return held


def _others(ndim: int, axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(a for a in range(ndim) if a not in axes)


def _spread(values: Any, axes: tuple[int, ...], ndim: int) -> Any:
    """Return an array over some axes, in order, as one over all of a table's."""
    shape = [1] * ndim
    for axis, size in zip(axes, np.shape(values), strict=True):
        shape[axis] = size
    return np.reshape(values, shape)
