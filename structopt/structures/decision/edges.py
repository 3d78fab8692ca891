"""Edges of graphs as users give them: networkx graphs, or lists of pairs.

>>> edges_of([("a", "b"), ("b", "c")], directed=True)
([('a', 'b'), ('b', 'c')], True)
>>> edges_of(nx.path_graph(3), directed=True)
([(0, 1), (1, 2)], False)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx

from structopt.errors import InvalidInputError

Edge = tuple[Any, Any]


def edges_of(graph: Any, *, directed: bool) -> tuple[list[Edge], bool]:
    """Return the edges in order, and whether they have a direction; lists have it if ``directed``.

    Edges of a networkx graph come in the order of ``graph.edges``.
    """
    if isinstance(graph, nx.Graph):
        found, way = [(u, v) for u, v, *_ in graph.edges], graph.is_directed()
    else:
        way = directed
        if not isinstance(graph, Sequence) or isinstance(graph, str):
            raise InvalidInputError(
                f"graph is a {type(graph).__name__}: give a networkx graph or a list of edges."
            )
        try:
            found = [(u, v) for u, v in graph]
            hash(tuple(found))
        except (TypeError, ValueError) as error:
            raise InvalidInputError(
                f"graph is no list of edges (u, v) between nodes: {error}."
            ) from error
    if not found:
        raise InvalidInputError("The graph has no edges: there is nothing to decide.")
    return found, way
