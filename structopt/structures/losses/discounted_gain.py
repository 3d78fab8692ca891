r"""Losses of rankings that are sums over ranks: discounted gains, and precision at k.

    loss(gold, y) = 1 - sum_i g(r_i) d(rank of i in y) / (the largest such sum).

NDCG has the gain 2^r - 1 and the discount 1 / log2(1 + rank), up to rank k; precision at k the gain
r and the discount 1 up to rank k (without k, up to the number of relevant items). Where items of
one relevance are sorted by their scores, which they are in the best answers, the score of an order
is, up to a constant, also a sum over ranks, sum_i s_i (n + 1 - 2 rank_i) / (2 P): the
loss-augmented order is an assignment of items to ranks.

>>> import numpy as np
>>> relevance, order = np.array([2.0, 0.0, 1.0]), np.array([2, 0, 1])
>>> round(NDCG().of(relevance, order), 4), NDCG(k=1).of(relevance, order).__round__(4)
(0.2033, 0.6667)
>>> PrecisionAt(2).of(np.array([1.0, 0.0, 1.0]), np.array([1, 0, 2]))
0.5
>>> PrecisionAt(None).of(np.array([1.0, 0.0, 1.0]), np.array([0, 1, 2]))  # the break-even point
0.5

Notes
-----
Chapelle, Le and Smola (2007), "Large margin optimization of ranking measures"; Le and Smola (2007),
"Direct optimization of ranking measures" (the assignment).
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from scipy.optimize import linear_sum_assignment

from structopt.arrays import Floats, Ints
from structopt.errors import InvalidInputError
from structopt.parameters import Count, Parameters
from structopt.structures.base.orders import pair_count


class RankSum(Parameters):
    """Base of the losses that are sums over ranks of a gain times a discount.

    The oracle is an assignment, in time that grows as n^3 with the items of an example.
    """

    checked_in = "discounts"

    @abstractmethod
    def gains(self, relevance: Floats) -> Floats:
        """Return what each item brings."""

    @abstractmethod
    def discounts(self, relevance: Floats) -> Floats:
        """Return what is left of it at each rank: not increasing, at least 0."""

    def check(self, relevance: Floats, example: int | None = None) -> None:
        """Refuse relevances that bring nothing, or less, and ranks that are none."""
        gains, _ = self.gains(relevance), self.discounts(relevance)
        if gains.min() < 0 or not gains.max() > 0 or not np.isfinite(gains).all():
            where = "" if example is None else f" of example {example}"
            raise InvalidInputError(
                f"{type(self).__name__} needs relevances >= 0{where}, one of them positive, of "
                f"finite gain; got {relevance.min():g} to {relevance.max():g}.",
                example=example,
            )

    def of(self, relevance: Floats, order: Ints) -> float:
        """Return the loss of an order."""
        self.check(relevance)
        found, best = self.gains(relevance)[order], np.sort(self.gains(relevance))[::-1]
        discounts = self.discounts(relevance)
        return max(0.0, 1.0 - float(found @ discounts) / float(best @ discounts))

    def order(self, scores: Floats, relevance: Floats) -> Ints:
        """Return the order with the largest loss plus score."""
        n, gains = len(scores), self.gains(relevance)
        discounts = self.discounts(relevance)
        best = float(np.sort(gains)[::-1] @ discounts)
        along = (n - 1 - 2.0 * np.arange(n)) / (2.0 * pair_count(relevance, n))
        # score minus what is gained: the loss falls by it
        value = np.outer(scores, along) - np.outer(gains, discounts / best)
        items, ranks = linear_sum_assignment(value, maximize=True)
        order = np.empty(n, dtype=np.int64)
        order[ranks] = items
        return order


class NDCG(RankSum):
    """One minus the normalised discounted cumulative gain.

    Parameters
    ----------
    k : int, optional
        Ranks that count; by default all.
    """

    def __init__(self, k: Count | None = None) -> None:
        self.k = k

    def gains(self, relevance: Floats) -> Floats:
        """Return 2^r - 1."""
        with np.errstate(over="ignore"):  # `check` refuses what is not finite
            return np.exp2(relevance) - 1.0

    def discounts(self, relevance: Floats) -> Floats:
        """Return 1 / log2(1 + rank), 0 behind rank k."""
        n = len(relevance)
        counted = np.arange(n) < (n if self.k is None else self.k)
        return np.where(counted, 1.0 / np.log2(2.0 + np.arange(n)), 0.0)


class PrecisionAt(RankSum):
    """One minus the share of the k best places that hold what is relevant, of what could.

    Parameters
    ----------
    k : int or None
        None: as many as are relevant, where precision is recall: one minus the precision/recall
        break-even point.
    """

    def __init__(self, k: Count | None = 10) -> None:
        self.k = k

    def gains(self, relevance: Floats) -> Floats:
        """Return the relevance."""
        return relevance

    def discounts(self, relevance: Floats) -> Floats:
        """Return 1 up to rank k."""
        k = np.count_nonzero(relevance) if self.k is None else self.k
        return np.where(np.arange(len(relevance)) < k, 1.0, 0.0)
