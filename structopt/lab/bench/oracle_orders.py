"""Loss-augmented orders and sets beside references: an assignment by networkx, tables in Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np

from structopt.lab.bench.oracle_case import OURS, REFERENCE, Case, Contender, case
from structopt.structures.base.oracles import loss_augmented
from structopt.structures.losses.average_precision import AveragePrecision
from structopt.structures.losses.contingency import FScore
from structopt.structures.losses.discounted_gain import NDCG
from structopt.structures.ranking.structure import Ranking
from structopt.structures.subset.structure import Subset


@case("ranking")
def ranking_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield 5 lists of 20 items, by NDCG and by average precision; a part is an item."""
    X = [rng.standard_normal((20, 1)) for _ in range(5)]
    Y = [(rng.random(20) < 0.3).astype(float) for _ in X]
    for y in Y:
        y[:2] = 0.0, 1.0
    weights = np.ones(1)
    by_gain, by_precision = (Ranking(loss).fitted(X, Y) for loss in (NDCG(), AveragePrecision()))
    shard = by_gain.encode(X, Y)
    pairs = [int(y.sum() * (20 - y.sum())) for y in Y]
    gold = sum(float(by_gain.joint_features(x, y).sum()) for x, y in zip(X, Y, strict=True))

    def value(answers: Any) -> float:
        return float(answers.loss.sum() - answers.score.sum()) + gold

    def assigned() -> float:
        total = 0.0
        for x, y, count in zip(X, Y, pairs, strict=True):
            discount = 1.0 / np.log2(2.0 + np.arange(20))
            along = (19 - 2.0 * np.arange(20)) / (2.0 * count)
            best = np.sort(y)[::-1] @ discount
            table = np.outer(x[:, 0], along) - np.outer(y, discount / best)
            graph = nx.Graph()
            graph.add_weighted_edges_from(
                (("item", i), ("rank", r), table[i, r]) for i in range(20) for r in range(20)
            )
            chosen = nx.max_weight_matching(graph, maxcardinality=True)
            total += 1.0 + sum(graph.edges[edge]["weight"] for edge in chosen)
            # pairs of one relevance count in the assignment, and not in the score
            for grade in (0.0, 1.0):
                own = np.sort(x[y == grade, 0])[::-1]
                total -= float(own @ (len(own) - 1 - 2.0 * np.arange(len(own)))) / (2.0 * count)
        return total

    yield Case("ranking", "NDCG, loss-augmented", 100, {
        OURS: Contender(lambda: shard.ask(loss_augmented, weights), value),
        REFERENCE: Contender(assigned, float),
    })  # fmt: skip
    other = by_precision.encode(X, Y)
    yield Case("ranking", "average precision, loss-augmented", 100, {
        OURS: Contender(lambda: other.ask(loss_augmented, weights), value)
    })  # fmt: skip


@case("subset")
def subset_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield a batch of 300 items, a tenth of them positive, by F1."""
    X, Y = [rng.standard_normal((300, 1))], [(np.arange(300) < 30).astype(int)]
    shard, weights = Subset(FScore()).fitted(X, Y).encode(X, Y), np.ones(1)
    scores = X[0][:, 0]

    def value(answers: Any) -> float:
        return float(answers.loss.sum() - answers.score.sum())

    def plainly() -> float:
        good, bad = (sorted(scores[Y[0] == kind].tolist(), reverse=True) for kind in (1, 0))
        best, above = -np.inf, 0.0
        for a in range(len(good) + 1):
            total = above
            for b in range(len(bad) + 1):
                best = max(best, total + 1.0 - 2.0 * a / (len(good) + a + b))
                total += bad[b] if b < len(bad) else 0.0
            above += good[a] if a < len(good) else 0.0
        return float(best - sum(good))

    yield Case("subset", "F1, loss-augmented", 300, {
        OURS: Contender(lambda: shard.ask(loss_augmented, weights), value),
        "python": Contender(plainly, float),
    })  # fmt: skip
