r"""Blocks of single rows: one class each, many of them in play at once.

With a_k the multiplier of class k of row i, m its margins and s = sum_k a_k <= c, the block's dual

    max  m . a - 1/2 |x|^2 (s^2 + |a|^2) - a . (what other rows say)

is the projection on a simplex, by sorting. So a visit solves its block exactly over the classes
that the row keeps, and a full pass takes up every class that the solution could need. The weights
that are looked at are those of multipliers averaged over the cheap epochs: a mean of feasible ones
is feasible, and its primal value is the better.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.methods.block_ascent import class_kernels as kernels
from structopt.methods.block_ascent.columns import Columns
from structopt.methods.block_ascent.limits import ratio, recovered

_ROOM = 8
"""Classes that a row can keep at first; doubled for all when some row wants more."""
_EPOCHS, _SHARE, _FEW, _FADE = 9, 0.2, 0.6, 0.7
"""Cheap epochs after a pass at most, the share of its gap at which they end earlier, the share of
the mean gap below which a row is left out of every second one, and how fast the mean of the
multipliers forgets."""


class ClassBlocks:
    """Multipliers of every row, and the weights that they make.

    Parameters
    ----------
    columns : Columns
    gold : array of int
    cost : array of shape (n, 1) or (n, K)
    limit : array
        What the multipliers of each row add up to at most.
    n_labels : int

    Attributes
    ----------
    gaps : array
        Each row's duality gap, as the last full pass met it.
    dual : float
        The dual value, from the gains of all visits: rounding may have gathered in it.
    """

    near = 2.5
    """Multiple of the gap that is wanted at which a certificate is tried first: means come after
    the cheap epochs, and are better than the pass could know."""
    whole = 1
    """Rounds after which all rows are scored again: a pass costs little more than a cheap epoch."""
    finest = 1e-6
    """Tolerance down to which this is the faster way: digits take half the time of cutting planes
    to 1e-6, which close a gap at once when they have all cuts."""

    def __init__(
        self, columns: Columns, gold: Any, cost: Floats, limit: Floats, n_labels: int
    ) -> None:
        n, room = len(gold), min(_ROOM, n_labels - 1)
        self._columns, self._cost, self.limit, self._n_labels = columns, cost, limit, n_labels
        self._gold = gold.astype(np.int32)
        self._kept, self._alpha = np.zeros((n, room), np.int32), np.zeros((n, room))
        self._count, self.gaps = np.zeros(n, np.int32), np.zeros(n)
        self._mean = self._alpha
        self._weights = np.zeros((len(columns.scale), n_labels))
        self.dual = 0.0
        self._square = np.maximum(columns.square, 1e-300)

    def __len__(self) -> int:
        """Return how many classes are kept."""
        return int(self._count.sum())

    def resume(self, other: Any) -> None:
        """Go on with the multipliers of other blocks, if limits differ by one factor."""
        factor = ratio(self.limit, other.limit) if isinstance(other, ClassBlocks) else None
        if factor is not None:
            self._kept, self._count = other._kept, other._count
            self._alpha, self._weights = factor * other._alpha, factor * other._weights
            self.dual = recovered(factor, other.dual, self._gain(other._alpha))
            self._mean = self._alpha

    def full_pass(self, order: Ints) -> None:
        """Visit rows with all classes."""
        crowded, gained = kernels.full_pass(order, self.gaps, *self._given())
        self.dual += gained
        if crowded:
            wider = min(2 * self._kept.shape[1], self._n_labels - 1) - self._kept.shape[1]
            self._kept = np.pad(self._kept, ((0, 0), (0, wider)))
            self._alpha = np.pad(self._alpha, ((0, 0), (0, wider)))
        self._mean = self._alpha

    def cheap_epochs(self, gap: float, seed: int) -> int:
        """Visit rows over what they keep until its gap is a share of the given; return visits."""
        active = np.flatnonzero(self._count).astype(np.int32)
        gaps, self._mean = self.gaps.copy(), self._alpha.copy()  # gaps of a full pass stay
        visits, gained = kernels.cheap_epochs(
            _EPOCHS, _SHARE * gap, _FEW, _FADE, active, self._mean, gaps, seed, *self._given()
        )
        self.dual += gained
        return int(visits)

    def summed(self, rows: Any, place: Any, width: int) -> tuple[Floats, Floats, float]:
        """Return weights [column, label], those of transitions, and the gain of the multipliers.

        ``place`` says which of ``width`` columns each of the rows' becomes.
        """
        mass = self._mean.sum(axis=1)
        fits = np.minimum(1.0, self.limit / np.maximum(mass, 1e-300))  # whatever roundings did
        alpha = fits[:, None] * self._mean
        weights = kernels.summed(
            rows.indptr, rows.indices, rows.data, place, width, self._gold, self._kept, alpha,
            self._count, self._n_labels,
        )  # fmt: skip
        return weights, np.zeros(0), self._gain(alpha)

    def _gain(self, alpha: Floats) -> float:
        if self._cost.shape[1] == 1:
            return float(self._cost[:, 0] @ alpha.sum(axis=1))
        return float(np.vdot(alpha, np.take_along_axis(self._cost, self._kept, axis=1)))

    def _given(self) -> tuple[Any, ...]:
        c = self._columns
        return (
            c.indptr, c.indices, c.data, self._gold, self._cost, c.own, self._weights, self.limit,
            self._square, self._kept, self._alpha, self._count,
        )  # fmt: skip
