"""A tiny random problem of sequences."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.structures.base.small import Small, numbers
from structopt.structures.chain.structure import Chain
from structopt.structures.losses.hamming import Hamming


def small(rng: np.random.Generator) -> Small:
    """Return three sequences; labels are not in their natural order, ties follow the one given."""
    whole, boundaries, weighted, sparse = (bool(b) for b in rng.integers(2, size=4))
    labels, d = list("edcbaf"[: int(rng.integers(1, 7))]), int(rng.integers(1, 4))
    longest = {1: 6, 2: 5, 3: 4, 4: 3, 5: 3, 6: 2}[len(labels)]
    dense = [numbers(rng, whole, int(rng.integers(1, longest + 1)), d) for _ in range(3)]
    Y = [[labels[k] for k in rng.integers(len(labels), size=len(x))] for x in dense]
    steps = [0.5, 1.0, 3.0] if whole else [0.3, 1.0, 1.7]
    cost = dict(zip(labels, rng.choice(steps, len(labels)).tolist(), strict=True))
    decoder = "compiled" if rng.integers(4) else "networkx"

    def outputs(x: Any) -> list[list[Any]]:
        every = map(list, product(labels, repeat=x.shape[0]))
        return sorted(every, key=lambda y: [labels.index(k) for k in y[::-1]])

    def features(x: Any, y: Any) -> Floats:
        inputs, codes = x.toarray() if sp.issparse(x) else x, [labels.index(k) for k in y]
        n = len(labels)
        W, T, ends = np.zeros((n, d)), np.zeros((n, n)), np.zeros((2, n))
        np.add.at(W, codes, inputs)
        for pair in pairwise(codes):
            T[pair] += 1
        ends[0, codes[0]] += 1
        ends[1, codes[-1]] += 1
        return np.concatenate([W.ravel(), T.ravel(), ends.ravel() if boundaries else []])

    def loss(gold: Any, y: Any) -> float:
        wrong = (a for a, b in zip(gold, y, strict=True) if a != b)
        return float(sum(cost[a] if weighted else 1.0 for a in wrong))

    structure = Chain(labels, Hamming(cost) if weighted else None, boundaries, decoder)
    X = [sp.csr_matrix(x) for x in dense] if sparse else dense
    return Small(structure, X, Y, outputs, features, loss, ordered="all")
