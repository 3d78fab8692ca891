"""A tiny random problem of paths through graphs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.structures.base.small import Small, chosen, numbers
from structopt.structures.lattice.structure import Lattice
from structopt.structures.losses.part_costs import PartCosts


def every_path(graph: Any) -> list[Any]:
    """Return all paths in the order of the tie rule, by depth-first search."""
    source, sink = graph.graph["source"], graph.graph["sink"]
    keys = {"keys": True} if graph.is_multigraph() else {}
    order = {edge: k for k, edge in enumerate(graph.edges(**keys))}

    def extend(node: Any) -> Any:
        if node == sink:
            yield ()
        for edge in graph.out_edges(node, **keys):
            for rest in extend(edge[1]):
                yield (edge, *rest)

    return sorted(extend(source), key=lambda path: [order[edge] for edge in path[::-1]])


def random_lattice(
    rng: np.random.Generator, *, multi: bool, whole: bool, d: int, convention: str
) -> Any:
    """Return a graph of up to six nodes, with nodes off the way and edges without features."""
    n = int(rng.integers(2, 7))
    graph = (nx.MultiDiGraph if multi else nx.DiGraph)()
    names = [f"n{k}" for k in rng.permutation(n)]  # the topological order is not the natural one

    def features(given: Floats | None = None) -> dict[str, Any]:
        value = numbers(rng, whole, d) if given is None else given
        if given is None and rng.random() < 0.1:
            return {}
        if convention == "named":
            return {"features": {f"f{j}": value[j] for j in range(d)}}
        return {"features": sp.csr_array(value[None]) if convention == "sparse" else value}

    for _ in range(int(rng.integers(1, 12))):
        u, v = sorted(rng.choice(n, size=2, replace=False).tolist())
        graph.add_edge(names[u], names[v], **features())
    backbone = np.flatnonzero(rng.random(n) < 0.5).tolist()
    for u, v in pairwise(sorted({0, *backbone, n - 1})):
        graph.add_edge(names[u], names[v], **features())
    graph.add_edge(names[0], "dead end", **features())
    graph.add_edge("nowhere", names[n - 1], **features())
    graph.graph.update(source=names[0], sink=names[n - 1])
    graph.edges[next(iter(graph.edges))].update(features(np.ones(d)))  # one that tells d
    return graph


def small(rng: np.random.Generator) -> Small:
    """Return three lattices; parallel edges, named, sparse or dense features."""
    whole, multi, d = bool(rng.integers(2)), bool(rng.integers(2)), int(rng.integers(1, 4))
    convention = str(rng.choice(["dense", "sparse", "named"]))
    X = [
        random_lattice(rng, multi=multi, whole=whole, d=d, convention=convention) for _ in range(3)
    ]
    extra, missed = (float(cost) for cost in rng.choice([0.5, 1.0, 2.0], 2))
    decoder = "compiled" if rng.integers(4) else "networkx"

    def features(x: Any, y: Any) -> Floats:
        total = np.zeros(d)
        for edge in y:
            value = x.edges[edge].get("features")
            if isinstance(value, dict):
                value = [value[f"f{j}"] for j in range(d)]
            elif sp.issparse(value):
                value = value.toarray()[0]
            total += 0.0 if value is None else value
        return total

    def loss(gold: Any, y: Any) -> float:
        return extra * len(set(y) - set(gold)) + missed * len(set(gold) - set(y))

    Y = [chosen(rng, every_path(x)) for x in X]
    structure = Lattice(loss=PartCosts(extra, missed), decoder=decoder)
    return Small(structure, X, Y, every_path, features, loss, ordered="all")
