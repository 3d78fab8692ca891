"""Graphs with inputs on nodes and edges, checked and as arrays.

>>> import networkx as nx
>>> x = nx.Graph([("b", "a"), ("a", "c")])
>>> nx.set_node_attributes(x, {v: [float(ord(v))] for v in x}, "x")
>>> net = read_net(x, "x", "x", 1, 1, 0)
>>> net.nodes, net.edges.tolist(), net.forest
(['b', 'a', 'c'], [[0, 1], [1, 2]], True)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np

from structopt.arrays import Floats, Ints
from structopt.errors import InvalidInputError


@dataclass(frozen=True)
class Net:
    """One graph: inputs of nodes and edges, edges as pairs of node numbers, and its shape.

    Nodes are numbered in the order of a search from the roots, so that in a forest every node has
    at most one neighbour before it; ``given`` holds them in the order of the user's graph.
    """

    given: list[Any]
    nodes: list[Any]
    node_inputs: Floats
    edges: Ints
    edge_inputs: Floats
    forest: bool

    def order(self) -> Ints:
        """Return where each node stands in the user's graph."""
        place = {node: s for s, node in enumerate(self.given)}
        return np.array([place[node] for node in self.nodes], dtype=np.int64)

    def incidence(self) -> tuple[Ints, Ints, Ints]:
        """Return for each node (as CSR) its edges, and on which side of them it stands."""
        m = len(self.edges)
        node = self.edges.T.ravel()
        order = np.argsort(node, kind="stable")
        count = np.bincount(node, minlength=len(self.nodes))
        ptr = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
        edge, side = np.tile(np.arange(m), 2), np.repeat([0, 1], m)
        return ptr, edge[order].astype(np.int64), side[order].astype(np.int64)


def read_net(x: Any, node: str, edge: str, n_inputs: int, n_edge_inputs: int, example: int) -> Net:
    """Return a checked graph as arrays, nodes in the order of a search from the roots."""
    plain = x.to_undirected(as_view=True)
    nodes: dict[Any, None] = {}
    for root in plain.nodes:
        if root not in nodes:
            nodes[root] = None
            nodes.update(dict.fromkeys(v for _, v in nx.bfs_edges(plain, root)))
    number = {name: s for s, name in enumerate(nodes)}
    edges = np.array([[number[u], number[v]] for u, v in x.edges], dtype=np.int64).reshape(-1, 2)
    inputs = node_inputs(x, nodes, node, example), edge_inputs(x, edge, n_edge_inputs, example)
    for what, rows, expected in zip(
        ("nodes", "edges"), inputs, (n_inputs, n_edge_inputs), strict=True
    ):
        if rows.shape[1] != expected:
            raise InvalidInputError(
                f"The {what} of example {example} have {rows.shape[1]} inputs; expected "
                f"{expected}.",
                example=example,
            )
    return Net(list(x.nodes), list(nodes), inputs[0], edges, inputs[1], is_forest(x))


def node_inputs(x: Any, nodes: Iterable[Any], attribute: str, example: int) -> Floats:
    """Return the inputs of nodes, a row each."""
    return _vectors([(v, x.nodes[v]) for v in nodes], attribute, "node", example)


def edge_inputs(x: Any, attribute: str, n_inputs: int, example: int) -> Floats:
    """Return the inputs of edges, a row each: 1 where no edge has any."""
    listed = [((u, v), data) for u, v, data in x.edges(data=True)]
    if not listed:
        return np.zeros((0, n_inputs))
    if not any(attribute in data for _, data in listed):
        return np.ones((len(listed), 1))
    return _vectors(listed, attribute, "edge", example)


def _vectors(items: Any, attribute: str, kind: str, example: int) -> Floats:
    """Return the attribute of nodes or edges as the rows of a matrix."""
    rows: list[Floats] = []
    for name, data in items:
        try:
            row = np.atleast_1d(np.asarray(data[attribute], dtype=np.float64))
        except (KeyError, TypeError, ValueError):
            row = np.zeros(0)
        if row.ndim != 1 or not len(row) or not np.all(np.isfinite(row)):
            raise InvalidInputError(
                f"The {kind} {name!r} of example {example} needs the attribute {attribute!r}, "
                f"a vector of finite numbers; it has {data.get(attribute)!r}.",
                example=example,
            )
        if rows and len(row) != len(rows[0]):
            raise InvalidInputError(
                f"The {kind} {name!r} of example {example} has {len(row)} inputs, another "
                f"{kind} has {len(rows[0])}.",
                example=example,
            )
        rows.append(row)
    return np.stack(rows)


def is_forest(x: Any) -> bool:
    """Return whether a graph has no cycle, whatever the directions of its edges."""
    # edges in both directions between two nodes are a cycle to message passing
    plain = x.to_undirected(as_view=True)
    return bool(plain.number_of_edges() == x.number_of_edges() and nx.is_forest(plain))


def check_graph(x: Any, example: int) -> Any:
    """Return the graph; refuse what is none, and loops."""
    if not isinstance(x, nx.Graph) or x.is_multigraph():
        raise InvalidInputError(
            f"Example {example} is a {type(x).__name__}: give a networkx Graph or DiGraph.",
            example=example,
        )
    if x.number_of_nodes() == 0:
        raise InvalidInputError(f"The graph of example {example} has no nodes.", example=example)
    loop = next(nx.selfloop_edges(x), None)
    if loop is not None:
        raise InvalidInputError(
            f"The graph of example {example} has the edge {loop!r}, from a node to itself.",
            example=example,
        )
    return x


def labels_of(x: Any, y: Any, example: int) -> list[Any]:
    """Return the labels of y in the order of the graph's nodes."""
    check_graph(x, example)
    try:
        labels = [y[node] for node in x.nodes] if isinstance(y, Mapping) else list(y)
    except (KeyError, TypeError):
        labels = []
    if len(labels) != x.number_of_nodes() or len(y) != len(labels):
        raise InvalidInputError(
            f"The output of example {example} must give a label to each of its "
            f"{x.number_of_nodes()} nodes, as a mapping or in the order of the nodes; got {y!r}.",
            example=example,
        )
    return labels
