"""A tiny random problem of labellings under rules."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from structopt.structures.base.small import Small, chosen, numbers
from structopt.structures.chain.structure import Chain
from structopt.structures.constrain.rules import at_most_one
from structopt.structures.constrain.structure import constrain
from structopt.structures.multiclass.structure import Multiclass


def small(rng: np.random.Generator) -> Small:
    """Return sequences, or sets of rows, in which one label comes at most once."""
    whole, chained = bool(rng.integers(2)), bool(rng.integers(2))
    labels = list("abc"[: int(rng.integers(2, 4))])
    X = [numbers(rng, whole, int(rng.integers(1, 4)), 2) for _ in range(2)]

    def outputs(x: Any) -> list[Any]:
        every = map(list, product(labels, repeat=len(x)))
        return [y for y in every if y.count("b") <= 1]

    def loss(gold: Any, y: Any) -> float:
        return float(sum(a != b for a, b in zip(gold, y, strict=True)))

    inner = Chain(labels) if chained else Multiclass(labels)
    structure = constrain(inner, [at_most_one("b")])
    Y = [chosen(rng, outputs(x)) for x in X]
    return Small(structure, X, Y, outputs, None, loss, tol=1e-7)
