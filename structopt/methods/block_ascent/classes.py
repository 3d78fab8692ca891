r"""Blocks of single rows: one class each, many of them in play at once.

With a_k the multiplier of class k of row i, m its margins and s = sum_k a_k <= c, the block's dual

    max  m . a - 1/2 |x|^2 (s^2 + |a|^2) - a . (what other rows say)

is the projection on a simplex, by sorting. So a visit solves its block exactly over the classes
that the row keeps, and a full pass takes up every class that the solution could need. The weights
that are looked at are those of multipliers averaged over the cheap epochs: a mean of feasible ones
is feasible, and its primal value is the better.

What rows keep stands in one array, row after row in the order in which a pass visited them: most
rows keep one class or two, a few keep dozens.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.methods.block_ascent import class_kernels as kernels
from structopt.methods.block_ascent.columns import Columns
from structopt.methods.block_ascent.limits import ratio, recovered

_EPOCHS, _SHARE, _FEW, _FADE = 9, 0.2, 0.6, 0.7
"""Cheap epochs after a pass at most, the share of its gap at which they end earlier, the share of
the mean gap below which a row is left out of every second one, and how fast the mean of the
multipliers forgets."""


class Planes(NamedTuple):
    """The classes that rows keep, and their multipliers.

    Attributes
    ----------
    first, count : arrays of int
        Where each row's classes begin, and how many there are.
    kept, alpha : arrays
        The classes, with 16 bits each, and their multipliers.
    """

    first: Any
    count: Any
    kept: Any
    alpha: Floats

    @classmethod
    def room(cls, n_rows: int, n_planes: int) -> Self:
        """Return rows that keep nothing, and room for so many classes: no memory until used."""
        return cls(
            np.zeros(n_rows, np.int64), np.zeros(n_rows, np.int32), np.empty(n_planes, np.uint16),
            np.empty(n_planes),
        )  # fmt: skip


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
        Each row's duality gap, as its last visit met it.
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
        self._columns, self._cost, self.limit, self._n_labels = columns, cost, limit, n_labels
        self._gold, self.gaps, self.dual = gold.astype(np.int32), np.zeros(len(gold)), 0.0
        self._planes = Planes.room(len(gold), 0)
        self._mean = self._planes.alpha
        self._weights = np.zeros((len(columns.scale), n_labels))

    def __len__(self) -> int:
        """Return how many classes are kept."""
        return int(self._planes.count.sum())

    def resume(self, other: Any) -> None:
        """Go on with the multipliers of other blocks, if limits differ by one factor."""
        factor = ratio(self.limit, other.limit) if isinstance(other, ClassBlocks) else None
        if factor is not None:
            before = other._planes
            self._planes = before._replace(alpha=factor * before.alpha)
            self._mean, self._weights = self._planes.alpha, factor * other._weights
            self.dual = recovered(factor, other.dual, kernels.gain(self._cost, *before))

    def full_pass(self, order: Ints) -> int:
        """Visit rows with all classes, return how many; those that are left out keep nothing."""
        before, others = self._planes, self._n_labels - 1
        most = min(len(self) + kernels.NEW * len(order), others * len(order))
        self._mean = before.alpha  # the memory of the mean is free before there is more
        self._planes = room = Planes.room(len(self._gold), most)
        self._mean = room.alpha  # now: what a second Ctrl-C leaves must be feasible
        used, gained = kernels.full_pass(order, self.gaps, *self._given(), *before, *room)
        self._planes = room._replace(kept=room.kept[:used], alpha=room.alpha[:used])
        self._mean = self._planes.alpha
        self.dual += gained
        return len(order)

    def cheap_epochs(self, gap: float, seed: int) -> int:
        """Visit rows over what they keep until its gap is a share of the given; return visits."""
        planes = self._planes
        active = np.flatnonzero(planes.count).astype(np.int32)
        self._mean = planes.alpha.copy()
        visits, gained = kernels.cheap_epochs(
            _EPOCHS, _SHARE * gap, _FEW, _FADE, active, self._mean, self.gaps, seed, *self._given(),
            *planes,
        )  # fmt: skip
        self.dual += gained
        return int(visits)

    def summed(self, rows: Any, place: Any, width: int) -> tuple[Floats, Floats, float]:
        """Return weights [column, label], those of transitions, and the gain of the multipliers.

        ``place`` says which of ``width`` columns each of the rows' becomes.
        """
        weights, gain = kernels.summed(
            rows.indptr, rows.indices, rows.data, place, width, self._gold, self._cost,
            self._n_labels, self.limit, *self._planes._replace(alpha=self._mean),
        )  # fmt: skip
        return weights, np.zeros(0), float(gain)

    def _given(self) -> tuple[Any, ...]:
        c = self._columns
        return (
            c.indptr, c.indices, c.data, self._gold, self._cost, c.own, self._weights, self.limit,
            c.square,
        )  # fmt: skip
