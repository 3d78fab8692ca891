r"""The loss of rankings by average precision.

    loss(gold, y) = 1 - (1 / R) sum_k  k / (k + n_k(y)),

where n_k irrelevant items stand above the k-th of R relevant ones. In the loss-augmented order both
kinds are sorted by their scores; to put the j-th irrelevant item above relevant item k gains

    ( k / (k + j - 1) - k / (k + j) ) / R - (s_k - s_j) / (R N),

whatever the others do, and less for a later j: so each irrelevant item, by itself, goes above those
relevant ones for which the sum of its gains is largest.

>>> import numpy as np
>>> AveragePrecision().of(np.array([1.0, 0.0, 1.0]), np.array([1, 0, 2])).__round__(4)
0.4167

Notes
-----
Yue, Finley, Radlinski and Joachims (2007), "A support vector method for optimizing average
precision", algorithm 1.
"""

from __future__ import annotations

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.errors import InvalidInputError
from structopt.parameters import Parameters

BLOCK = 1 << 20
"""Gains that are looked at at once: 8 MB."""


class AveragePrecision(Parameters):
    """One minus average precision; relevances are 0 and 1."""

    def check(self, relevance: Floats, example: int | None = None) -> None:
        """Refuse relevances other than 0 and 1."""
        odd = relevance[(relevance != 0) & (relevance != 1)]
        if len(odd):
            where = "" if example is None else f" of example {example}"
            raise InvalidInputError(
                f"Average precision{where} needs relevances 0 and 1; got {odd[0]:g}. Use "
                "so.losses.NDCG or so.losses.SwappedPairs for grades.",
                example=example,
            )

    def of(self, relevance: Floats, order: Ints) -> float:
        """Return the loss of an order."""
        self.check(relevance)
        ranks = 1.0 + np.flatnonzero(relevance[order] == 1)
        return float(1.0 - np.mean((1.0 + np.arange(len(ranks))) / ranks))

    def order(self, scores: Floats, relevance: Floats) -> Ints:
        """Return the order with the largest loss plus score."""
        by_score = np.argsort(-scores, kind="stable")
        good, bad = by_score[relevance[by_score] == 1], by_score[relevance[by_score] == 0]
        n_good, n_bad = len(good), len(bad)
        k, above = 1.0 + np.arange(n_good), np.empty(n_bad, dtype=np.int64)
        step = max(1, BLOCK // n_good)
        for first in range(0, n_bad, step):
            own = bad[first : first + step]
            j = 1.0 + first + np.arange(len(own))[:, None]
            gain = (k / (k + j - 1.0) - k / (k + j)) / n_good
            gain -= (scores[good] - scores[own][:, None]) / (n_good * n_bad)
            # the sum over the relevant items from each one on, nothing behind the last
            total = np.zeros((len(own), n_good + 1))
            total[:, :-1] = np.cumsum(gain[:, ::-1], axis=1)[:, ::-1]
            above[first : first + step] = np.argmax(total, axis=1)
        above = np.maximum.accumulate(above)  # up to rounding it is increasing
        place = np.concatenate([np.arange(n_good) + 0.5, above])
        return np.concatenate([good, bad])[np.argsort(place, kind="stable")]
