"""A tiny random problem of labelled graphs."""

from __future__ import annotations

from itertools import combinations, permutations, product
from typing import Any

import networkx as nx
import numpy as np

from structopt.arrays import Floats
from structopt.structures.base.small import Small, numbers
from structopt.structures.markov_net.structure import MarkovNet


def small(rng: np.random.Generator) -> Small:
    """Return two graphs, forests or with cycles: relaxed, branched on, or of bounded width."""
    whole, directed, forest, branch = (bool(b) for b in rng.integers(2, size=4))
    K, d_edge = int(rng.integers(1, 4)), int(rng.integers(1, 3))

    def draw() -> Any:
        n = int(rng.integers(2, 5 if K > 2 else 6))
        x = nx.DiGraph() if directed else nx.Graph()
        x.add_nodes_from(rng.permutation(n).tolist())
        every = list((permutations if directed else combinations)(range(n), 2))
        if forest:
            edges = [(v, int(rng.integers(v))) for v in range(1, n) if v == 1 or rng.integers(2)]
        else:
            edges = [every[k] for k in rng.integers(len(every), size=int(rng.integers(1, 8)))]
        for u, v in edges:
            x.add_edge(u, v, x=np.append(1.0, numbers(rng, whole, d_edge - 1)))
        for v in x.nodes:
            x.nodes[v]["x"] = numbers(rng, whole, 1)
        return x

    def outputs(x: Any) -> list[dict[Any, int]]:
        return [dict(zip(x.nodes, y, strict=True)) for y in product(range(K), repeat=len(x))]

    def features(x: Any, y: Any) -> Floats:
        codes = list(product(range(K), repeat=2) if directed else _pairs(K))
        nodes, edges = np.zeros((K, 1)), np.zeros((len(codes), d_edge))
        for v, given in x.nodes(data="x"):
            nodes[y[v]] += given
        for u, v, given in x.edges(data="x"):
            pair = (y[u], y[v]) if directed else (min(y[u], y[v]), max(y[u], y[v]))
            edges[codes.index(pair)] += given
        return np.concatenate([nodes.ravel(), edges.ravel()])

    def loss(gold: Any, y: Any) -> float:
        return float(sum(gold[v] != y[v] for v in gold))

    X = [draw() for _ in range(2)]
    Y = [{v: int(rng.integers(K)) for v in x.nodes} for x in X]
    width = int(rng.choice([1, 1, 4]))
    structure = MarkovNet(labels=list(range(K)), branch=branch, width=width)
    exact = branch or width == 4 or all(nx.is_forest(nx.Graph(x)) for x in X)
    return Small(structure, X, Y, outputs, features, loss, exact=exact, tol=1e-7)


def _pairs(K: int) -> list[tuple[int, int]]:
    return [(a, b) for a in range(K) for b in range(a, K)]
