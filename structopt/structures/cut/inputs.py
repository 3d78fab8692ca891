r"""Graphs with features on nodes and edges: what users hand in, read and checked.

An example is ``(edges, node_features)`` or ``(edges, node_features, edge_features)``, where edges
is an array (E, 2) of node numbers or a networkx graph; or a networkx graph alone, whose nodes (and
edges, or none) have the attribute ``features``.

>>> import numpy as np
>>> x = read_graph(([(0, 1), (1, 2)], np.ones((3, 4))), None, None)
>>> x.edges.tolist(), x.node_features.shape, x.edge_features.tolist()
([[0, 1], [1, 2]], (3, 4), [[1.0], [1.0]])
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import scipy.sparse as sp

from structopt.arrays import Ints, as_matrix, check_columns, first_not_finite
from structopt.errors import InvalidInputError


class LabelledGraph(NamedTuple):
    """A checked example."""

    edges: Ints
    node_features: Any
    edge_features: Any
    names: list[Any] | None
    """The nodes of a networkx graph; None where nodes are numbers."""


def read_graph(
    x: Any, n_node: int | None, n_edge: int | None, example: int | None = None
) -> LabelledGraph:
    """Read one example; the numbers are the columns expected of node and edge features."""
    where = "The input" if example is None else f"Input of example {example}"
    if isinstance(x, nx.Graph):
        x = _attributes(x, where, example)
    if not isinstance(x, tuple | list) or len(x) not in (2, 3):
        raise InvalidInputError(
            f"{where} is a {type(x).__name__}: give (edges, node_features[, edge_features]) or a "
            "networkx graph with the attribute features at its nodes.",
            example=example,
        )
    graph, nodes, own = (*x, None)[:3]
    node_features = _features(nodes, n_node, f"{where} (node features)", example)
    n_nodes, names = node_features.shape[0], None
    if n_nodes == 0:
        raise InvalidInputError(f"{where} has no nodes: leave it out.", example=example)
    if isinstance(graph, nx.Graph):
        names = list(graph.nodes)
        place = {node: k for k, node in enumerate(names)}
        graph = [(place[u], place[v]) for u, v in graph.edges()]
        if len(names) != n_nodes:
            raise InvalidInputError(
                f"{where} has {len(names)} nodes but {n_nodes} rows of node features.",
                example=example,
            )
    edges = _edges(graph, n_nodes, where, example)
    given = np.ones((len(edges), 1)) if own is None else own
    if len(edges) == 0 and n_edge is not None:
        given = np.zeros((0, n_edge))
    edge_features = _features(given, n_edge, f"{where} (edge features)", example)
    if edge_features.shape[0] != len(edges):
        raise InvalidInputError(
            f"{where} has {len(edges)} edges but {edge_features.shape[0]} rows of edge features.",
            example=example,
        )
    values = edge_features.data if sp.issparse(edge_features) else edge_features
    if values.size and values.min() < 0:
        raise InvalidInputError(
            f"{where} has an edge feature of {values.min()}: they must be >= 0, so that an edge "
            "rewards agreement whatever the (nonnegative) weights are.",
            example=example,
        )
    return LabelledGraph(edges, node_features, edge_features, names)


def labels_of(graph: LabelledGraph, y: Any, example: int | None = None) -> list[Any]:
    """Return y as a list with one label per node; a mapping is read by node name."""
    where = "The output" if example is None else f"The output of example {example}"
    n_nodes = graph.node_features.shape[0]
    if isinstance(y, Mapping):
        names = range(n_nodes) if graph.names is None else graph.names
        missing = [node for node in names if node not in y]
        if missing:
            raise InvalidInputError(
                f"{where} has no label for node {missing[0]!r}.", example=example
            )
        y = [y[node] for node in names]
    labels = y.ravel().tolist() if isinstance(y, np.ndarray) else None
    if labels is None:
        try:
            labels = list(y)
        except TypeError:
            raise InvalidInputError(
                f"{where} is {y!r}: give one label per node.", example=example
            ) from None
    if len(labels) != n_nodes:
        raise InvalidInputError(
            f"{where} has {len(labels)} labels; its graph has {n_nodes} nodes.", example=example
        )
    return labels


def _features(given: Any, columns: int | None, name: str, example: int | None) -> Any:
    matrix = as_matrix(given, name=name, example=example)
    check_columns(
        matrix, matrix.shape[1] if columns is None else columns, name=name, example=example
    )
    bad = first_not_finite(matrix)
    if bad is not None:
        raise InvalidInputError(
            f"{name}: row {bad[0]}, column {bad[1]} holds {bad[2]}: replace or drop what is not "
            "finite.",
            example=example,
        )
    return matrix


def _edges(given: Any, n_nodes: int, where: str, example: int | None) -> Ints:
    array = np.asarray(given)
    if array.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise InvalidInputError(
            f"{where}: edges has shape {array.shape} and type {array.dtype}; expected integers of "
            "shape (E, 2).",
            example=example,
        )
    edges: Ints = array.astype(np.int64)
    if edges.min() < 0 or edges.max() >= n_nodes:
        raise InvalidInputError(
            f"{where} has an edge between nodes {edges.min()} .. {edges.max()}, but there are "
            f"{n_nodes} rows of node features: number nodes from 0.",
            example=example,
        )
    loops = np.flatnonzero(edges[:, 0] == edges[:, 1])
    if len(loops):
        raise InvalidInputError(
            f"{where} has an edge from node {edges[loops[0], 0]} to itself: leave it out.",
            example=example,
        )
    return edges


def _attributes(graph: Any, where: str, example: int | None) -> tuple[Any, ...]:
    nodes = [attributes.get("features") for _, attributes in graph.nodes(data=True)]
    edges = [attributes.get("features") for _, _, attributes in graph.edges(data=True)]
    some = [f is not None for f in edges]
    if any(f is None for f in nodes) or (any(some) and not all(some)):
        raise InvalidInputError(
            f"{where} is a networkx graph: all its nodes need the attribute features, and its "
            "edges all or none.",
            example=example,
        )
    return graph, nodes, edges if any(some) else None
