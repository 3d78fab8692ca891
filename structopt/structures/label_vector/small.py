"""A tiny random problem of label vectors with a legal set."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.structures.base.small import Small, chosen, numbers
from structopt.structures.label_vector.structure import LabelVector


def small(rng: np.random.Generator) -> Small:
    """Return three vectors of one to three components, legal or free."""
    size, n_labels, d = int(rng.integers(1, 4)), int(rng.integers(2, 4)), int(rng.integers(1, 3))
    every = list(product(range(n_labels), repeat=size))
    legal = None
    if rng.integers(2):
        kept = rng.choice(len(every), int(rng.integers(1, len(every) + 1)), replace=False)
        legal = [every[k] for k in sorted(kept)]
    X = list(numbers(rng, bool(rng.integers(2)), 3, size, d))

    def features(x: Any, y: Any) -> Floats:
        table = np.zeros((size, n_labels, d))
        table[np.arange(size), list(y)] = x
        return table.ravel()

    def loss(gold: Any, y: Any) -> float:
        return float(sum(a != b for a, b in zip(gold, y, strict=True)))

    listed = every if legal is None else legal
    structure = LabelVector(legal, labels=list(range(n_labels)))
    return Small(structure, X, [chosen(rng, listed) for _ in X], lambda x: listed, features, loss)
