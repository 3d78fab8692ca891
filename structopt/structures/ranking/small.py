"""A tiny random problem of rankings."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.structures.base.orders import Order
from structopt.structures.base.small import Small, numbers
from structopt.structures.losses.average_precision import AveragePrecision
from structopt.structures.losses.discounted_gain import NDCG
from structopt.structures.losses.swapped_pairs import SwappedPairs
from structopt.structures.ranking.structure import Ranking


def small(rng: np.random.Generator) -> Small:
    """Return three lists of two to four items, with two grades or more, by one of three losses."""
    d, whole, kind = int(rng.integers(1, 4)), bool(rng.integers(2)), int(rng.integers(3))
    loss = (SwappedPairs(), AveragePrecision(), NDCG())[kind]
    X, Y, grades = [], [], {}
    for _ in range(3):
        n = int(rng.integers(2, 5))
        relevance = rng.integers(0, 2 if kind == 1 else 4, n).astype(np.float64)
        relevance[:2] = (0.0, 1.0) if rng.integers(2) else (1.0, 0.0)  # two grades at least
        X.append(numbers(rng, whole, n, d))
        Y.append(Order.best(relevance))
        grades[X[-1].tobytes()] = relevance

    def outputs(x: Any) -> list[Order]:
        relevance = grades[x.tobytes()]
        found: list[Order] = []
        for items in permutations(range(len(x))):
            order = Order(items, relevance)
            if order not in found:
                found.append(order)
        return found

    def features(x: Any, y: Any) -> Floats:
        relevance = grades[x.tobytes()]
        pairs = [
            (i, j) for r, i in enumerate(y) for j in y[r + 1 :] if relevance[i] != relevance[j]
        ]
        total = sum((x[i] - x[j] for i, j in pairs), np.zeros(d))
        return np.asarray(total / (2 * len(pairs)))

    def paid(gold: Any, y: Any) -> float:
        relevance = np.array(gold.relevance)
        by_rank = [float(relevance[i]) for i in y]
        if kind == 0:
            every = [(a, b) for r, a in enumerate(by_rank) for b in by_rank[r + 1 :]]
            return sum(max(0.0, b - a) for a, b in every) / sum(abs(a - b) for a, b in every)
        if kind == 1:
            ranks = [r for r, a in enumerate(by_rank, 1) if a]
            return 1.0 - sum(k / r for k, r in enumerate(ranks, 1)) / len(ranks)
        gains = [sum((2**a - 1) / np.log2(r + 1) for r, a in enumerate(values, 1))
                 for values in (by_rank, sorted(by_rank, reverse=True))]  # fmt: skip
        return float(1.0 - gains[0] / gains[1])

    return Small(Ranking(loss), X, Y, outputs, features, paid, any_gold=False)
