"""A tiny random problem of sequences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.structures.base.small import Small, chosen, numbers
from structopt.structures.chain.structure import Chain
from structopt.structures.losses.hamming import Hamming


def small(rng: np.random.Generator) -> Small:
    """Return three sequences; labels are not in their natural order, ties follow the one given."""
    whole, boundaries, weighted, sparse = (bool(b) for b in rng.integers(2, size=4))
    labels, d = list("edcbaf"[: int(rng.integers(1, 7))]), int(rng.integers(1, 4))
    longest = {1: 6, 2: 5, 3: 4, 4: 3, 5: 3, 6: 2}[len(labels)]
    dense = [numbers(rng, whole, int(rng.integers(1, longest + 1)), d) for _ in range(3)]
    # which label may follow which, the start and the end last; the first label may always stand
    allowed = rng.random((len(labels) + 1, len(labels) + 1)) < rng.choice([0.6, 1.0])
    allowed[0, [0, -1]] = allowed[-1, 0] = True
    steps = [0.5, 1.0, 3.0] if whole else [0.3, 1.0, 1.7]
    cost = dict(zip(labels, rng.choice(steps, len(labels)).tolist(), strict=True))
    decoder = "compiled" if rng.integers(4) else "networkx"

    def may(y: Sequence[Any]) -> bool:
        codes = [len(labels), *(labels.index(k) for k in y), len(labels)]
        return all(allowed[pair] for pair in pairwise(codes))

    def outputs(x: Any) -> list[list[Any]]:
        every = (list(y) for y in product(labels, repeat=x.shape[0]) if may(y))
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

    given = None if allowed.all() else allowed
    structure = Chain(labels, Hamming(cost) if weighted else None, boundaries, decoder, given)
    Y = [chosen(rng, outputs(x)) for x in dense]
    X = [sp.csr_matrix(x) for x in dense] if sparse else dense
    return Small(structure, X, Y, outputs, features, loss, ordered="all")
