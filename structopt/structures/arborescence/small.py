"""A tiny random problem of dependency trees."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.structures.arborescence.projective_reference import crossing
from structopt.structures.arborescence.structure import Arborescence
from structopt.structures.base.small import Small, chosen, numbers


def is_tree(heads: Any, single_root: bool) -> bool:
    """Return whether every token reaches the root, by walking up."""
    heads = [int(h) for h in heads]
    for m in range(1, len(heads) + 1):
        for _ in heads:
            m = heads[m - 1] if m else 0
        if m:
            return False
    return not single_root or heads.count(0) == 1


def small(rng: np.random.Generator) -> Small:
    """Return three sentences of up to four tokens, with some or all candidate arcs."""
    whole, single_root, sparse = (bool(b) for b in rng.integers(2, size=3))
    d = int(rng.integers(1, 4))
    decoder, projective = "compiled" if rng.integers(4) else "networkx", bool(rng.integers(2))

    def fits(y: Any) -> bool:
        return is_tree(y, single_root) and not (projective and crossing(y))

    def draw() -> tuple[Any, list[int]]:
        length, share = int(rng.integers(1, 5)), rng.choice([0.0, 0.5, 1.0])
        every = product(range(length + 1), repeat=length)
        gold = chosen(rng, [y for y in every if fits(y)])
        pairs = [(h, m) for h in range(length + 1) for m in range(1, length + 1) if h != m]
        arcs = [(h, m) for h, m in pairs if gold[m - 1] == h or rng.random() < share]
        rows = numbers(rng, whole, len(arcs), d)
        return (np.array(arcs), sp.csr_matrix(rows) if sparse else rows), list(gold)

    def outputs(x: Any) -> list[list[int]]:
        arcs, length = {tuple(a) for a in x[0].tolist()}, int(x[0][:, 1].max())
        heads = [[h for h in range(length + 1) if (h, m) in arcs] for m in range(1, length + 1)]
        return [list(y) for y in product(*heads) if fits(y)]

    def features(x: Any, y: Any) -> Floats:
        rows, place = x[1].toarray() if sparse else x[1], {tuple(a): r for r, a in enumerate(x[0])}
        return np.asarray(sum(rows[place[h, m]] for m, h in enumerate(y, 1)))

    def loss(gold: Any, y: Any) -> float:
        return float(sum(a != b for a, b in zip(gold, y, strict=True)))

    X, Y = zip(*(draw() for _ in range(3)), strict=True)
    structure = Arborescence(single_root, decoder, projective=projective)
    return Small(structure, X, Y, outputs, features, loss)
