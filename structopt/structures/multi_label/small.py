"""A tiny random problem of sets of labels."""

from __future__ import annotations

from itertools import compress, product
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.structures.base.small import Small, chosen, numbers
from structopt.structures.losses.contingency import ErrorRate, FScore
from structopt.structures.multi_label.structure import MultiLabel
from structopt.structures.subset.small import measured


def small(rng: np.random.Generator) -> Small:
    """Return up to four rows with one to four labels, by one of two losses."""
    n, d, whole = int(rng.integers(1, 5)), int(rng.integers(1, 3)), bool(rng.integers(2))
    labels = [f"y{k}" for k in rng.permutation(int(rng.integers(1, 5)))]
    kind = int(rng.integers(2))
    masks = list(product((0, 1), repeat=len(labels)))
    every = [frozenset(compress(labels, mask)) for mask in masks]

    def features(x: Any, y: Any) -> Floats:
        return np.concatenate([x if label in y else 0.0 * x for label in labels])

    def paid(gold: Any, y: Any) -> float:
        return measured(kind, *([int(k in part) for k in labels] for part in (gold, y)))

    structure = MultiLabel(labels, (ErrorRate(), FScore())[kind])
    Y = [chosen(rng, every) for _ in range(n)]
    return Small(structure, list(numbers(rng, whole, n, d)), Y, lambda x: every, features, paid)
