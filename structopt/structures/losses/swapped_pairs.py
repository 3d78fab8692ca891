r"""The loss of rankings by swapped pairs: one minus the area under the ROC curve.

    loss(gold, y) = sum over swapped pairs of (r_i - r_j) / sum over all pairs of |r_i - r_j|,

with r the relevances; where they are 0 and 1, the share of pairs of a relevant and an irrelevant
item that are in the wrong order. A pair is worth swapping if s_i - s_j < (r_i - r_j) P / Z, with Z
the sum of all differences and P the number of pairs: to sort by s - r P / Z is the loss-augmented
order.

>>> import numpy as np
>>> SwappedPairs().of(np.array([1.0, 0.0, 0.0]), np.array([1, 0, 2]))
0.5

Notes
-----
Joachims (2005), "A support vector method for multivariate performance measures", section 4.3
(ROCArea).
"""

from __future__ import annotations

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.parameters import Parameters
from structopt.structures.base.orders import pair_count


class SwappedPairs(Parameters):
    """The share of pairs in the wrong order, weighted by the difference of their relevance."""

    def of(self, relevance: Floats, order: Ints) -> float:
        """Return the loss of an order."""
        n = len(order)
        right = _weighted(np.sort(relevance)[::-1], n)  # Z: no pair is swapped
        return float((right - _weighted(relevance[order], n)) / (2.0 * right))

    def order(self, scores: Floats, relevance: Floats) -> Ints:
        """Return the order with the largest loss plus score."""
        n = len(scores)
        total = _weighted(np.sort(relevance)[::-1], n)
        raised = scores - relevance * (pair_count(relevance, n) / total)
        return np.argsort(-raised, kind="stable")


def _weighted(by_rank: Floats, n: int) -> float:
    """Return the sum of r_i - r_j over all i above j."""
    return float(by_rank @ (n - 1 - 2.0 * np.arange(n)))
