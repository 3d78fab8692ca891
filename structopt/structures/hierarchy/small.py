"""A tiny random problem of labelled trees."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.structures.base.small import Small, numbers
from structopt.structures.hierarchy.inputs import Tree, stack_trees
from structopt.structures.hierarchy.structure import Hierarchy
from structopt.structures.losses.hamming import Hamming


def small(rng: np.random.Generator) -> Small:
    """Return three forests, with features on edges, types of nodes and class weights or not."""
    whole, sparse, on_edges, typed, weighted = (bool(b) for b in rng.integers(2, size=5))
    labels, d = list("dcba"[: int(rng.integers(1, 5))]), int(rng.integers(1, 4))
    most, n = {1: 6, 2: 6, 3: 4, 4: 3}[len(labels)], len(labels)
    e = int(rng.integers(1, 3)) if on_edges else 0
    few = [labels[k] for k in rng.permutation(n)[: int(rng.integers(1, n + 1))]]
    steps = [0.5, 1.0, 3.0] if whole else [0.3, 1.0, 1.7]
    cost = dict(zip(labels, rng.choice(steps, n).tolist(), strict=True))
    decoder = "compiled" if rng.integers(4) else "networkx"

    def draw() -> Tree:
        size = int(rng.integers(1, most + 1))
        name = rng.permutation(size)  # parents need not come first, and there may be several roots
        parents = np.empty(size, dtype=int)
        for place, v in enumerate(name):
            free = place == 0 or rng.random() < 0.15
            parents[v] = -1 if free else name[int(rng.integers(place))]
        nodes = numbers(rng, whole, size, d)
        edges = numbers(rng, whole, size, e) if e else None
        types = rng.choice(["few", "any"], size).tolist()
        return Tree(sp.csr_matrix(nodes) if sparse else nodes, parents, edges, types)

    def may(x: Tree, v: int) -> list[str]:
        limited = typed and x.types is not None and x.types[v] == "few"
        return [k for k in labels if not limited or k in few]

    def outputs(x: Tree) -> list[list[str]]:
        order = stack_trees([x]).order.tolist()
        every = map(list, product(*(may(x, v) for v in range(len(x.parents)))))
        return sorted(every, key=lambda y: [labels.index(y[v]) for v in order])

    def features(x: Tree, y: Any) -> Floats:
        nodes, codes = x.nodes.toarray() if sparse else x.nodes, [labels.index(k) for k in y]
        W, E = np.zeros((n, d)), np.zeros((n, n, max(e, 1)))
        for v, u in enumerate(x.parents):
            W[codes[v]] += nodes[v]
            if u >= 0:
                E[codes[u], codes[v]] += x.edges[v] if x.edges is not None else 1
        return np.concatenate([W.ravel(), E.ravel()])

    def loss(gold: Any, y: Any) -> float:
        wrong = (a for a, b in zip(gold, y, strict=True) if a != b)
        return float(sum(cost[a] if weighted else 1.0 for a in wrong))

    X = [draw() for _ in range(3)]
    Y = [[str(rng.choice(may(x, v))) for v in range(len(x.parents))] for x in X]
    allowed = {"few": few} if typed else None
    structure = Hierarchy(labels, Hamming(cost) if weighted else None, allowed, decoder)
    return Small(structure, X, Y, outputs, features, loss, ordered="best")
