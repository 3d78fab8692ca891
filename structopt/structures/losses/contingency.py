r"""Losses of sets that depend on the contingency table alone: right and wrong members, counted.

With P items in gold, N that are not, a set has a of the former and b of the latter:

    ErrorRate    (P - a + b) / (P + N)
    FScore       1 - (1 + beta^2) a / (beta^2 P + a + b)
    Precision    1 - a / (a + b)                          Recall    1 - a / P

Of all sets with the same a and b the best has the a highest scores of gold and the b highest of the
others, so that to look at (P + 1) (N + 1) tables is to look at every set: SVM^perf's oracle. With
`Subset(size=k)` only a + b = k is looked at: precision and recall at k.

>>> FScore().table(2, 1)
array([[1.        , 1.        ],
       [0.33333333, 0.5       ],
       [0.        , 0.2       ]])

Notes
-----
Joachims (2005), "A support vector method for multivariate performance measures", section 4.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated

import numpy as np

from structopt.arrays import Floats
from structopt.parameters import Parameters, Range


class TableLoss(Parameters):
    """Base of the losses of contingency tables."""

    checked_in = "table"

    @abstractmethod
    def table(self, positives: int, negatives: int) -> Floats:
        """Return the loss [a, b] of each table: (P + 1, N + 1), at least 0, and 0 at [P, 0]."""


class ErrorRate(TableLoss):
    """The share of items that are wrong."""

    def table(self, positives: int, negatives: int) -> Floats:
        """Return (P - a + b) / (P + N)."""
        a, b = _grid(positives, negatives)
        return (positives - a + b) / (positives + negatives)


class FScore(TableLoss):
    """One minus F_beta; where gold is empty, it is 0 for the empty set and else 1.

    Parameters
    ----------
    beta : float
        How much more recall counts than precision.
    """

    def __init__(self, beta: Annotated[float, Range(0, closed=False, high=1e100)] = 1.0) -> None:
        self.beta = beta

    def table(self, positives: int, negatives: int) -> Floats:
        """Return 1 - (1 + beta^2) a / (beta^2 P + a + b)."""
        a, b = _grid(positives, negatives)
        square = self.beta**2
        below = square * positives + a + b
        right = np.where(below > 0, (1.0 + square) * a, 1.0) / np.where(below > 0, below, 1.0)
        return 1.0 - right


class Precision(TableLoss):
    """One minus the share of chosen items that are right; an empty set is as bad as a wrong one."""

    def table(self, positives: int, negatives: int) -> Floats:
        """Return 1 - a / (a + b)."""
        a, b = _grid(positives, negatives)
        right = a / np.maximum(a + b, 1.0)
        if not positives:
            right[0, 0] = 1.0  # nothing is there to be found
        return 1.0 - right


class Recall(TableLoss):
    """One minus the share of gold that is found."""

    def table(self, positives: int, negatives: int) -> Floats:
        """Return 1 - a / P."""
        a, b = _grid(positives, negatives)
        return (positives - a) / max(positives, 1) + 0.0 * b


def _grid(positives: int, negatives: int) -> tuple[Floats, Floats]:
    return np.arange(positives + 1.0)[:, None], np.arange(negatives + 1.0)[None, :]
