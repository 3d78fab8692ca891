"""A tiny random problem of sets of items."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.structures.base.small import Small, chosen, numbers
from structopt.structures.losses.contingency import ErrorRate, FScore, Precision
from structopt.structures.subset.structure import Subset


def small(rng: np.random.Generator) -> Small:
    """Return three batches of one to four items, by one of three losses, of a fixed size or not."""
    d, whole, kind = int(rng.integers(1, 3)), bool(rng.integers(2)), int(rng.integers(3))
    sized = kind == 2 or not rng.integers(3)  # else precision is 0 for some sets that are not gold
    size = int(rng.integers(1, 3)) if sized else None
    X = [numbers(rng, whole, int(rng.integers(size or 1, 5)), d) for _ in range(3)]

    def outputs(x: Any) -> list[tuple[int, ...]]:
        every = list(product((0, 1), repeat=len(x)))
        return [y for y in every if size is None or sum(y) == size]

    def features(x: Any, y: Any) -> Floats:
        return np.asarray(np.asarray(y, dtype=np.float64) @ x)

    loss = (ErrorRate(), FScore(), Precision())[kind]
    Y = [chosen(rng, outputs(x)) for x in X]
    return Small(Subset(loss, size), X, Y, outputs, features, lambda g, y: measured(kind, g, y))


def measured(kind: int, gold: Any, y: Any) -> float:
    """Return the loss of a 0/1 vector: error rate, F1 and precision."""
    pairs = list(zip(gold, y, strict=True))
    right = sum(g and p for g, p in pairs)
    if kind == 0:
        return sum(bool(g) != bool(p) for g, p in pairs) / len(pairs)
    if kind == 1:
        below = sum(gold) + sum(y)
        return 1.0 - 2.0 * right / below if below else 0.0
    if not sum(y):
        return 1.0 if sum(gold) else 0.0
    return float(1.0 - right / sum(y))
