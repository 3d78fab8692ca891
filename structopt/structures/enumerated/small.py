"""A tiny random problem over a list of outputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.structures.base.small import Small, chosen, numbers
from structopt.structures.enumerated.structure import Enumerated

WORDS = ["cat", "cot", "dot", "dog"]


def letters(x: Any, y: str) -> Floats:
    """Return how often c, o and t stand in a word, each times an input."""
    return np.asarray(x) * [y.count("c"), y.count("o"), y.count("t")]


def hamming(gold: str, y: str) -> float:
    """Return in how many letters words differ."""
    return float(sum(a != b for a, b in zip(gold, y, strict=True)))


def small(rng: np.random.Generator) -> Small:
    """Return four inputs for four words."""
    X = list(numbers(rng, bool(rng.integers(2)), 4, 3))
    structure = Enumerated(WORDS, letters, hamming)
    Y = [chosen(rng, WORDS) for _ in X]
    return Small(structure, X, Y, lambda x: WORDS, letters, hamming, ordered="all")
