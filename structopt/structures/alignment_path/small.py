"""A tiny random problem of alignments of two sequences."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.structures.alignment_path.structure import AlignmentPath
from structopt.structures.base.small import Small, chosen, numbers
from structopt.structures.losses.part_costs import PartCosts


def every_alignment(n: int, m: int) -> list[Any]:
    """Return all sets of matches that grow together."""
    return [
        frozenset(zip(first, second, strict=True))
        for size in range(min(n, m) + 1)
        for first in combinations(range(n), size)
        for second in combinations(range(m), size)
    ]


def gap_counts(y: Any, n: int, m: int, local: bool) -> tuple[list[int], list[int], list[int]]:
    """Return what is left out of either sequence, and how many gaps of each kind are opened."""
    left: tuple[list[int], list[int]] = ([], [])
    opened, before = [0, 0], (-1, -1)
    for place, match in enumerate([*sorted(y), (n, m)]):
        outside = local and (place == 0 or place == len(y))
        for side in range(2):
            gap = list(range(before[side] + 1, match[side]))
            if gap and not outside:
                left[side].extend(gap)
                opened[side] += 1
        before = match
    return (*left, opened)


def small(rng: np.random.Generator) -> Small:
    """Return three pairs of sequences of up to three symbols, or of features of their pairs."""
    whole, local, lettered = (bool(b) for b in rng.integers(2, size=3))
    d = int(rng.integers(1, 3))
    extra, missed = (float(cost) for cost in rng.choice([0.5, 1.0, 2.0], 2))

    def draw() -> Any:
        n, m = (int(size) for size in rng.integers(1, 4, 2))
        if lettered:
            return tuple("".join(rng.choice(list("ab"), size)) for size in (n, m))
        return numbers(rng, whole, n, m, d)

    def sizes(x: Any) -> tuple[int, int]:
        return (len(x[0]), len(x[1])) if lettered else x.shape[:2]

    def outputs(x: Any) -> list[Any]:
        return every_alignment(*sizes(x))

    def features(x: Any, y: Any) -> Floats:
        *left, opened = gap_counts(y, *sizes(x), local)
        if lettered:
            match: Floats = np.zeros((2, 2))
            gaps: Floats = np.zeros((2, 2))
            for i, j in y:
                match["ab".index(x[0][i]), "ab".index(x[1][j])] += 1
            for side in range(2):
                for place in left[side]:
                    gaps[side, "ab".index(x[side][place])] += 1
        else:
            match, gaps = np.zeros(d), np.array([float(len(one)) for one in left])
            for i, j in y:
                match += x[i, j]
        return np.concatenate([match.ravel(), gaps.ravel(), opened])

    def loss(gold: Any, y: Any) -> float:
        return extra * len(y - gold) + missed * len(gold - y)

    X = [draw() for _ in range(3)]
    symbols = "ab" if lettered else None
    structure = AlignmentPath(local, symbols, PartCosts(extra, missed))
    Y = [chosen(rng, outputs(x)) for x in X]
    return Small(structure, X, Y, outputs, features, loss)
