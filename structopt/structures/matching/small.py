"""A tiny random problem of bipartite matchings."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.structures.base.small import Small, chosen, numbers
from structopt.structures.losses.part_costs import PartCosts
from structopt.structures.matching.inputs import CandidateEdges
from structopt.structures.matching.structure import Matching


def matchings(edges: Any, left: Any, right: Any) -> list[frozenset[tuple[int, int]]]:
    """Return every subset of edges that keeps the limits of both sides."""
    found = []
    for keep in product([False, True], repeat=len(edges)):
        taken = np.asarray(edges).reshape(-1, 2)[np.array(keep, dtype=bool)]
        counts = (np.bincount(taken[:, s], minlength=len(b)) for s, b in enumerate((left, right)))
        if all(np.all(c <= b) for c, b in zip(counts, (left, right), strict=True)):
            found.append(frozenset((int(i), int(j)) for i, j in taken))
    return found


def small(rng: np.random.Generator) -> Small:
    """Return three pairs of up to three by three words, limits 0 to 3 and missing edges."""
    whole = bool(rng.integers(2))
    more, less = (float(cost) for cost in rng.choice([0.5, 1.0, 1.5], 2))
    decoder = "compiled" if rng.integers(4) else "networkx"

    def draw() -> CandidateEdges:
        shape = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        every = list(product(range(shape[0]), range(shape[1])))
        kept = rng.choice(len(every), int(rng.integers(1, len(every) + 1)), replace=False)
        most = 2 if rng.integers(2) else 4
        limits = tuple(rng.integers(most // 2 - 1, most, size=n).tolist() for n in shape)
        return CandidateEdges(
            [every[k] for k in kept], numbers(rng, whole, len(kept), 2), shape, limits
        )

    def outputs(x: CandidateEdges) -> list[Any]:
        left, right = x.fertility or ((), ())
        return matchings(x.edges, left, right)

    def features(x: CandidateEdges, y: Any) -> Floats:
        place = {tuple(edge): r for r, edge in enumerate(x.edges)}
        rows = np.asarray(x.features)
        return np.asarray(sum((rows[place[edge]] for edge in y), np.zeros(2)))

    def loss(gold: Any, y: Any) -> float:
        return more * len(y - gold) + less * len(gold - y)

    X = [draw() for _ in range(3)]
    Y = [chosen(rng, outputs(x)) for x in X]
    structure = Matching(PartCosts(more, less), decoder=decoder)
    return Small(structure, X, Y, outputs, features, loss)
