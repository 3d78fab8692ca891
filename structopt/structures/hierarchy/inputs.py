r"""Trees with features on nodes and edges, stacked: parents before children, edges by kind.

>>> import networkx as nx, numpy as np
>>> graph = nx.DiGraph([("table", "row"), ("row", "cell")])
>>> nx.set_node_attributes(graph, {v: [float(len(v))] for v in graph}, "features")
>>> tree = as_tree(graph)
>>> tree.nodes, tree.parents
([[5.0], [3.0], [4.0]], [-1, 0, 1])
>>> forest = stack_trees([tree, (np.ones((2, 1)), [1, -1])])
>>> forest.stacked.offsets, forest.parent, forest.order
(array([0, 3, 5]), array([-1,  0,  1,  4, -1]), array([0, 1, 2, 4, 3]))
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from structopt.arrays import (
    Ints,
    Stacked,
    as_matrix,
    base_matrix,
    check_columns,
    first_not_finite,
    stack_sequences,
)
from structopt.errors import InvalidInputError
from structopt.structures.hierarchy.kernels import top_down


class Tree(NamedTuple):
    """An input: features of the nodes (n, d), the parent of each (-1 for a root), and perhaps
    features of the edge to the parent (n, e) and a type of each node.
    """  # noqa: D205

    nodes: Any
    parents: Any
    edges: Any = None
    types: Any = None


class Forest(NamedTuple):
    """Stacked trees: tree i has the nodes ``offsets[i] .. offsets[i + 1] - 1``."""

    stacked: Stacked
    """The nodes of all trees."""
    parent: Ints
    order: Ints
    kind: Ints
    """Which of ``edges`` the edge to a node's parent has."""
    edges: Any
    """The distinct rows of edge features."""
    types: list[list[Any] | None]

    def base(self) -> Any:
        """Return the rows of nodes and then those of the kinds of edges, as kernels read them."""
        nodes, edges = self.stacked.matrix, self.edges
        if edges.shape == (1, 1) and edges[0, 0] == 1.0:  # counted: the stack ends with that row
            return self.stacked.base()
        blocks = [sp.csr_array(nodes), sp.csr_array(edges)]
        for block in blocks:
            block.resize(block.shape[0], max(nodes.shape[1], edges.shape[1]))
        return base_matrix(sp.vstack(blocks, format="csr"))


def as_tree(x: Any, *, example: int | None = None) -> Tree:
    """Return an input as a :class:`Tree`; nodes of a graph are in the graph's order.

    A directed graph points from parents to children; a component of an undirected one hangs on its
    first node. Nodes have the attribute "features" and may have "type", edges may have "features".
    """
    where = "The input" if example is None else f"The input of example {example}"
    if not hasattr(x, "is_directed"):
        if not isinstance(x, tuple) or not 2 <= len(x) <= 4:
            raise InvalidInputError(
                f"{where} is a {type(x).__name__}: give (nodes, parents), (nodes, parents, edges), "
                "(nodes, parents, edges, types) or a networkx graph.",
                example=example,
            )
        return Tree(*x)
    place = {v: i for i, v in enumerate(x)}
    parents = [-1] * len(place)
    for u, v in _downward(x):
        if parents[place[v]] >= 0 or x.is_multigraph():
            raise InvalidInputError(
                f"{where} is no forest: the node {v!r} is reached by more than one edge.",
                example=example,
            )
        parents[place[v]] = place[u]
    nodes = [x.nodes[v].get("features") for v in x]
    lacking = next((v for v, f in zip(x, nodes, strict=True) if f is None), None)
    if lacking is not None:
        raise InvalidInputError(
            f"{where}: the node {lacking!r} has no attribute 'features'.", example=example
        )
    names = list(x)
    found = {
        v: x.edges[names[parents[v]], names[v]].get("features")
        for v in range(len(names))
        if parents[v] >= 0
    }
    edges = None
    if any(f is not None for f in found.values()):
        bare = next((v for v, f in found.items() if f is None), None)
        if bare is not None:
            raise InvalidInputError(
                f"{where}: some edges have an attribute 'features', the edge to {names[bare]!r} "
                "has none.",
                example=example,
            )
        width = len(next(iter(found.values())))
        edges = [found.get(v, [0.0] * width) for v in range(len(names))]
    types = [x.nodes[v].get("type") for v in x]
    return Tree(_rows(nodes), parents, edges, None if types.count(None) else types)


def _downward(graph: Any) -> list[tuple[Any, Any]]:
    """Return the edges of a graph from parents to children."""
    if graph.is_directed():
        return list(graph.edges())
    import networkx as nx

    edges = [e for part in nx.connected_components(graph)
             for e in nx.bfs_edges(graph, next(v for v in graph if v in part))]  # fmt: skip
    # an edge that closes a cycle is no tree edge, and reaches its node once more
    return edges + [e for e in graph.edges() if e not in set(edges) and e[::-1] not in set(edges)]


def _rows(features: list[Any]) -> Any:
    if any(sp.issparse(f) for f in features):
        return sp.vstack([sp.csr_array(f).reshape(1, -1) for f in features], format="csr")
    return features


def stack_trees(
    X: Any, n_inputs: int | None = None, n_edge_inputs: int | None = None, *, start: int = 0
) -> Forest:
    """Return checked trees in one stack; ``start`` is the number of the first in messages.

    ``n_inputs`` and ``n_edge_inputs`` are the columns expected, by default those of the first tree;
    0 edge columns means that edges have no features.
    """
    if not isinstance(X, list | tuple | np.ndarray):
        raise InvalidInputError(
            f"X is a {type(X).__name__}: give a list with one tree per example."
        )
    trees = [as_tree(x, example=i) for i, x in enumerate(X, start)]
    stacked = stack_sequences([t.nodes for t in trees], n_inputs, start=start)
    offsets = stacked.offsets
    parent, order = np.empty(offsets[-1], np.int64), np.empty(offsets[-1], np.int64)
    blocks, types = [], []
    for i, tree in enumerate(trees):
        a, b = int(offsets[i]), int(offsets[i + 1])
        own, top_down = _checked_parents(tree.parents, b - a, start + i)
        parent[a:b], order[a:b] = np.where(own < 0, -1, own + a), top_down + a
        types.append(_checked_types(tree.types, b - a, start + i))
        block = _checked_edges(tree.edges, b - a, n_edge_inputs, start + i)
        n_edge_inputs = 0 if block is None else block.shape[1]
        blocks.append(block)
    kind, edges = _kinds(blocks, parent, offsets)
    return Forest(stacked, parent, order, kind, edges, types)


def _checked_parents(parents: Any, n: int, example: int) -> tuple[Ints, Ints]:
    """Return parents as integers (-1 for roots), and the nodes, parents first."""
    given = np.asarray(parents)
    if given.shape != (n,) or given.dtype.kind not in "iu":
        raise InvalidInputError(
            f"The parents of example {example} have shape {given.shape} and type {given.dtype}; "
            f"expected {n} integers, the parent of each node or -1.",
            example=example,
        )
    given = given.astype(np.int64)
    if np.any((given < -1) | (given >= n)):
        v = int(np.argmax((given < -1) | (given >= n)))
        raise InvalidInputError(
            f"Node {v} of example {example} has the parent {given[v]}, not one of -1 to {n - 1}.",
            example=example,
        )
    order = top_down(given)
    if len(order) < n:
        v = int(np.setdiff1d(np.arange(n), order)[0])
        raise InvalidInputError(
            f"The parents of example {example} form a cycle that node {v} is on or below.",
            example=example,
        )
    return given, order


def _checked_types(types: Any, n: int, example: int) -> list[Any] | None:
    if types is None:
        return None
    given = types.tolist() if isinstance(types, np.ndarray) else list(types)
    if len(given) != n:
        raise InvalidInputError(
            f"Example {example} has {n} nodes but {len(given)} types.", example=example
        )
    return given


def _checked_edges(edges: Any, n: int, columns: int | None, example: int) -> Any:
    if edges is None and not columns:
        return None
    if edges is None or columns == 0:
        raise InvalidInputError(
            f"Example {example} has {'no ' if edges is None else ''}features on its edges, unlike "
            "those before it.",
            example=example,
        )
    block = as_matrix(edges, name=f"Edge features of example {example}", example=example)
    if block.shape[0] != n:
        raise InvalidInputError(
            f"Example {example} has {n} nodes but {block.shape[0]} rows of edge features: give one "
            "for each node, the edge to its parent (any for a root).",
            example=example,
        )
    check_columns(
        block, columns or block.shape[1], name=f"Edge features of example {example}",
        example=example,
    )  # fmt: skip
    bad = first_not_finite(block)
    if bad is not None:
        raise InvalidInputError(
            f"Edge features of example {example} hold {bad[2]} at node {bad[0]}, column {bad[1]}.",
            example=example,
        )
    return block


def _kinds(blocks: list[Any], parent: Ints, offsets: Ints) -> tuple[Ints, Any]:
    """Return the distinct rows of edge features, and which of them each node has."""
    kind = np.zeros(len(parent), np.int64)
    if blocks[0] is None:
        return kind, sp.csr_array(np.ones((1, 1)))
    rows = base_matrix(sp.vstack([sp.csr_array(b) for b in blocks], format="csr"))
    seen: dict[tuple[bytes, bytes], int] = {}
    first: list[int] = []
    for v in np.flatnonzero(parent >= 0).tolist():
        own = slice(int(rows.indptr[v]), int(rows.indptr[v + 1]))
        key = rows.indices[own].tobytes(), rows.data[own].tobytes()
        if key not in seen:
            seen[key] = len(first)
            first.append(v)
        kind[v] = seen[key]
    return kind, rows[first] if first else sp.csr_array((1, rows.shape[1]))
