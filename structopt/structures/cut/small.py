"""A tiny random problem of two-way labellings of graphs."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.structures.base.small import Small, numbers
from structopt.structures.cut.structure import GraphCut
from structopt.structures.losses.hamming import Hamming


def small(rng: np.random.Generator) -> Small:
    """Return three graphs of up to five nodes, bipartite or not; an edge may come twice."""
    whole, bipartite, weighted = (bool(b) for b in rng.integers(2, size=3))
    decoder = "compiled" if rng.integers(4) else "networkx"

    def draw() -> Any:
        n = int(rng.integers(2, 6))
        pairs = [(i, j) for i in range(n) for j in range(i) if not bipartite or (i + j) % 2]
        edges = [pairs[k] for k in rng.integers(len(pairs), size=int(rng.integers(1, 8)))]
        between = np.abs(numbers(rng, whole, len(edges), 2))
        return edges, numbers(rng, whole, n, 2), between

    def outputs(x: Any) -> list[list[int]]:
        return [list(y) for y in product([0, 1], repeat=len(x[1]))]

    def features(x: Any, y: Any) -> Floats:
        """Sum the inputs of nodes labelled 1; edges count, negated, where they are cut."""
        edges, nodes, between = x
        same = sum((between[e] for e, (u, v) in enumerate(edges) if y[u] != y[v]), np.zeros(2))
        return np.concatenate([np.array(y) @ nodes, -same])

    def loss(gold: Any, y: Any) -> float:
        cost = {0: 1.0, 1: 1.5 if weighted else 1.0}
        return float(sum(cost[a] for a, b in zip(gold, y, strict=True) if a != b))

    X = [draw() for _ in range(3)]
    Y = [rng.integers(2, size=len(x[1])).tolist() for x in X]
    structure = GraphCut(loss=Hamming({1: 1.5}) if weighted else None, decoder=decoder)
    return Small(structure, X, Y, outputs, features, loss, tol=1e-8)
