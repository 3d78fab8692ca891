r"""The best set of one example, with and without a loss of its contingency table.

    max over (a, b) of  loss(a, b) + (a highest scores of gold) + (b highest scores of the others).

>>> scores, gold = np.array([1.0, -2.0, 0.5]), np.array([True, True, False])
>>> loss = np.array([[1.0, 1.0], [0.5, 0.8], [0.0, 0.3]])
>>> augmented(scores, gold, loss, None)
array([ True, False,  True])
"""

from __future__ import annotations

import heapq
from itertools import count

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.structures.base.given import Held, Mask


def augmented(scores: Floats, gold: Mask, loss: Floats, size: int | None) -> Mask:
    """Return the set with the largest loss plus score, of ``size`` items if that is given."""
    good, bad, value = _tables(scores, gold)
    return _chosen(good, bad, _sized(loss + value, size), len(scores))


def rescaled(scores: Floats, gold: Mask, loss: Floats, size: int | None) -> Mask:
    """Return the set with the largest loss * (1 - score of gold + score)."""
    good, bad, value = _tables(scores, gold)
    slack = loss * (1.0 - (float(scores[gold].sum()) - value))
    return _chosen(good, bad, _sized(slack, size), len(scores))


def best(scores: Floats, size: int | None, held: Held | None = None) -> Mask | None:
    """Return the set with the highest score that has the parts held; None if there is none."""
    held = np.full(len(scores), -1, dtype=np.int8) if held is None else held
    chosen: Mask = held == 1
    free = np.flatnonzero(held < 0)
    if size is None:
        chosen[free[scores[free] > 0]] = True
        return chosen
    wanted = size - int(chosen.sum())
    if not 0 <= wanted <= len(free):
        return None
    chosen[free[np.argsort(-scores[free], kind="stable")[:wanted]]] = True
    return chosen


def best_sets(scores: Floats, size: int | None, k: int) -> list[Mask]:
    """Return the k best sets, best first: what is left is split at each item of the best (Lawler).

    >>> [y.astype(int).tolist() for y in best_sets(np.array([3.0, -1.0]), None, 5)]
    [[1, 0], [1, 1], [0, 0], [0, 1]]
    """
    n, ticket = len(scores), count()
    found: list[Mask] = []
    queue: list[tuple[float, int, Mask, Held, int]] = []

    def push(held: Held, first: int) -> None:
        mask = best(scores, size, held)
        if mask is not None:
            heapq.heappush(queue, (-float(scores[mask].sum()), next(ticket), mask, held, first))

    push(np.full(n, -1, dtype=np.int8), 0)
    while queue and len(found) < k:
        _, _, mask, held, first = heapq.heappop(queue)
        found.append(mask)
        for p in range(first, n):  # items before p as in this one, p not
            branch = held.copy()
            branch[first:p] = mask[first:p]
            branch[p] = not mask[p]
            push(branch, p + 1)
    return found


def _tables(scores: Floats, gold: Mask) -> tuple[Ints, Ints, Floats]:
    """Return the items of gold and the others by decreasing score, and the score of each table."""
    order = np.argsort(-scores, kind="stable")
    good, bad = order[gold[order]], order[~gold[order]]
    sums = [np.concatenate([[0.0], np.cumsum(scores[part])]) for part in (good, bad)]
    return good, bad, sums[0][:, None] + sums[1][None, :]


def _sized(value: Floats, size: int | None) -> Floats:
    if size is None:
        return value
    a, b = np.arange(value.shape[0])[:, None], np.arange(value.shape[1])
    return np.where(a + b == size, value, -np.inf)


def _chosen(good: Ints, bad: Ints, value: Floats, n: int) -> Mask:
    a, b = np.unravel_index(int(np.argmax(value)), value.shape)
    chosen = np.zeros(n, dtype=bool)
    chosen[good[:a]] = True
    chosen[bad[:b]] = True
    return chosen
