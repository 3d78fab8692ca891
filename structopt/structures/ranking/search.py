r"""The best orders of one list, one after the other.

Every order but the best has two neighbours that stand against their scores, and putting them right
costs nothing:

    score(best) - score(y) = (1 / P) sum over pairs (i, j) that y swaps of (s_i - s_j) >= 0.

So all orders hang on the best one by swaps of neighbours none of which gains, and a queue that goes
on from the best order found so far meets them by decreasing score. Items of like relevance may
change places freely: what counts is one list of runs of them, each in the order of scores.

>>> [order.tolist() for order in k_best(np.array([0.0, 2.0, 1.5]), None, 3)]
[[1, 2, 0], [2, 1, 0], [1, 0, 2]]
>>> [order.tolist() for order in k_best(np.array([0.0, 2.0, 1.5]), np.array([0, 1, 1]), 9)]
[[1, 2, 0], [1, 0, 2], [2, 0, 1], [0, 1, 2]]
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import groupby

import numpy as np

from structopt.arrays import Floats, Ints

Items = tuple[int, ...]
"""Numbered by falling score."""


def k_best(scores: Floats, relevance: Floats | None, k: int) -> list[Ints]:
    """Return the k best orders, fewer if there are fewer; equals by the items from the top.

    Orders that differ in items of like relevance only are one.
    """
    best = np.argsort(-scores, kind="stable")
    values = scores[best].tolist()
    grades = list(range(len(best))) if relevance is None else relevance[best].tolist()
    first = _settled(range(len(best)), grades)
    queue: list[tuple[float, Items]] = [(0.0, first)]
    seen = {first}
    found: list[Ints] = []
    while queue and len(found) < k:
        lost, order = heapq.heappop(queue)
        found.append(best[list(order)])
        for upper, lower, swapped in _swaps(order, grades):
            if swapped not in seen:
                seen.add(swapped)
                heapq.heappush(queue, (lost + values[upper] - values[lower], swapped))
    return found


def _swaps(order: Items, grades: list[float]) -> Iterator[tuple[int, int, Items]]:
    """Yield two items of unlike relevance that can be neighbours, and the order with them swapped.

    Only pairs that stand in the order of scores: of two neighbouring runs, any item of the upper
    and any of the lower.
    """
    ends = [p for p in range(1, len(order)) if grades[order[p]] != grades[order[p - 1]]]
    bounds = [0, *ends, len(order)]
    for a, b, c in zip(bounds, bounds[1:], bounds[2:], strict=False):
        for upper in order[a:b]:
            for lower in order[b:c]:
                if upper < lower:
                    above = [item for item in order[a:b] if item != upper]
                    below = [item for item in order[b:c] if item != lower]
                    changed = [*order[:a], *above, lower, upper, *below, *order[c:]]
                    yield upper, lower, _settled(changed, grades)


def _settled(items: list[int] | range, grades: list[float]) -> Items:
    """Return an order with every run of items of like relevance in the order of scores."""
    runs = groupby(items, key=lambda item: grades[item])
    return tuple(item for _, run in runs for item in sorted(run))
