"""A tiny random problem of matchings in graphs with odd circles."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np

from structopt.arrays import Floats
from structopt.structures.base.small import Small, chosen, numbers
from structopt.structures.graph_matching.structure import GraphMatching
from structopt.structures.losses.part_costs import PartCosts


def small(rng: np.random.Generator) -> Small:
    """Return three graphs of three to five nodes, a triangle in each."""
    whole = bool(rng.integers(2))
    more, less = (float(cost) for cost in rng.choice([0.5, 1.0, 1.5], 2))

    def draw() -> nx.Graph:
        nodes = int(rng.integers(3, 6))
        every = list(combinations(range(nodes), 2))
        kept = [e for e in every if max(e) < 3 or rng.integers(2)]
        graph = nx.Graph()
        for edge, row in zip(kept, numbers(rng, whole, len(kept), 2), strict=True):
            graph.add_edge(*edge, features=row)
        return graph

    def outputs(x: nx.Graph) -> list[Any]:
        edges, found = list(x.edges), []
        for size in range(len(x) // 2 + 1):
            for some in combinations(edges, size):
                if len({node for edge in some for node in edge}) == 2 * size:
                    found.append(frozenset(some))
        return found

    def features(x: nx.Graph, y: Any) -> Floats:
        return np.asarray(sum((x.edges[edge]["features"] for edge in y), np.zeros(2)))

    def loss(gold: Any, y: Any) -> float:
        return more * len(y - gold) + less * len(gold - y)

    X = [draw() for _ in range(3)]
    Y = [chosen(rng, outputs(x)) for x in X]
    return Small(GraphMatching(PartCosts(more, less)), X, Y, outputs, features, loss)
