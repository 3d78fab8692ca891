"""A tiny random problem of decisions."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.structures.base.small import Small, chosen, numbers
from structopt.structures.decision.assignments import Assignments
from structopt.structures.decision.base import DecisionSet
from structopt.structures.decision.grid import GridPaths
from structopt.structures.decision.knapsack import Knapsack
from structopt.structures.decision.paths import ShortestPaths
from structopt.structures.decision.priced import Priced
from structopt.structures.decision.structure import Decision
from structopt.structures.decision.trees import SpanningTrees


def sets(rng: np.random.Generator) -> DecisionSet:
    """Return a set of a few decisions."""
    every: list[DecisionSet] = [
        GridPaths(2, 3),
        ShortestPaths([(0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (0, 3)], 0, 3),
        Assignments(2, 3),
        Knapsack(rng.integers(1, 5, 4).astype(float), 6.0),
        SpanningTrees([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]),
    ]
    return every[int(rng.integers(len(every)))]


def members(of: DecisionSet) -> list[tuple[int, ...]]:
    """Return every 0/1 decision of a small set."""
    points = np.array(list(product((0, 1), repeat=of.n_parts)), dtype=np.float64)
    return [tuple(row) for row in points[of.contains(points)].astype(int).tolist()]


def small(rng: np.random.Generator) -> Small:
    """Return three examples; half of the problems have costs, half features for each part."""
    of, whole, priced = sets(rng), bool(rng.integers(2)), bool(rng.integers(2))
    scale, outputs, p = float(rng.choice([1.0, 2.0])), members(of), int(rng.integers(1, 3))
    by_part, intercept = bool(rng.integers(2)), bool(rng.integers(2))
    X = list(numbers(rng, whole, 3, *([of.n_parts] if by_part else []), p))
    Y: list[Any] = [chosen(rng, outputs) for _ in X]
    if priced:
        costs = rng.standard_normal((3, of.n_parts))
        best = [min(outputs, key=lambda y, c=c: float(c @ np.array(y))) for c in costs]  # type: ignore[misc]
        Y = [Priced(y, c) for y, c in zip(best, costs, strict=True)]

    def features(x: Any, y: Any) -> Floats:
        z = np.array(y, dtype=np.float64)
        x = np.concatenate([x, np.ones((*x.shape[:-1], 1))], axis=-1) if intercept else x
        return np.asarray(-scale * (z @ x if by_part else np.outer(z, x).ravel()))

    def loss(gold: Any, y: Any) -> float:
        if isinstance(gold, Priced):
            return float(gold.costs @ (np.array(y) - np.array(gold.y)))
        return float(np.sum(np.array(gold) != np.array(y)))

    structure = Decision(of, scale=scale, intercept=intercept)
    return Small(structure, X, Y, lambda x: outputs, features, loss)
