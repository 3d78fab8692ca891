r"""Blocks of examples of any structure: a few outputs each, kept as the parts they are made of.

With planes (m_k, delta_k), multipliers a_k >= 0 and sum_k a_k <= c, the block's dual is

    max  m . a - 1/2 a' G a - a . (what other examples say),        G_kl = delta_k . delta_l.

Planes of an example share most of their parts. Each of these is kept once, as two integers, with
its coefficient in every plane, so that a visit looks at the features of a part once, for all planes
together. A plane that finds no room takes the place of one that is not used, or else the two that
are used least are replaced by their mean, which changes neither weights nor dual.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.methods.block_ascent import part_kernels as kernels
from structopt.methods.block_ascent.limits import ratio, recovered
from structopt.methods.frank_wolfe.planes import Planes

if TYPE_CHECKING:
    from structopt.methods.block_ascent.parts import Parts

_ROOM, _STEPS, _OLDEST = 12, 10, 0
"""Planes that an example can keep, pairwise steps a visit, and passes that an unused plane
outlives. Room for 8 or 24 changes times by less than a tenth."""
_EPOCHS, _SHARE, _FEW, _FADE = 30, 0.5, 0.6, 0.7
"""Cheap epochs after a pass at most, the share of its gap at which they end earlier, the share of
the mean gap below which an example is left out of every second one, and how fast the mean of the
multipliers forgets."""


class PartBlocks:
    """Multipliers of every example, and the weights that they make.

    Parameters
    ----------
    parts : Parts
    limit : array
        What the multipliers of each example add up to at most.

    Attributes
    ----------
    gaps : array
        Each example's duality gap, as the last full pass met it, over the planes known by then.
    dual : float
        The dual value, from the gains of all visits: rounding may have gathered in it.
    """

    near = 1.5
    """Multiple of the gap that is wanted at which a certificate is tried first."""
    whole = 1
    """Rounds after which all examples are decoded again: runs are asked as a whole."""
    finest = 1e-3
    """Tolerance down to which this is the faster way."""

    def __init__(self, parts: Parts, limit: Floats) -> None:
        n, base = len(limit), parts.data.base
        self._parts, self.limit = parts, limit
        self._base = base.indptr, base.indices, base.data
        self._first, self._size = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self._space, self._used = np.zeros(n, np.int64), 0
        self._heap = _heap(0)
        self._count, self._age = np.zeros(n, np.int32), np.zeros((n, _ROOM), np.uint8)
        self._alpha, self._loss = np.zeros((n, _ROOM)), np.zeros((n, _ROOM))
        self._gram = np.zeros((n, _ROOM, _ROOM))
        self._table, self._now = _hash_table(64), 0
        self._weights: Floats = np.zeros(parts.data.n_features)
        self._work: Floats = np.zeros(parts.data.n_features)
        self._mean, self.gaps, self.dual = self._alpha, np.zeros(n), 0.0

    def __len__(self) -> int:
        """Return how many planes are kept."""
        return int(self._count.sum())

    def resume(self, other: Any) -> None:
        """Go on with the planes and multipliers of other blocks, if limits differ by one factor."""
        factor = ratio(self.limit, other.limit) if isinstance(other, PartBlocks) else None
        if factor is not None:
            for name in ("_first", "_size", "_space", "_count", "_age", "_loss", "_gram"):
                setattr(self, name, getattr(other, name).copy())  # the other run may go on
            self._heap = tuple(values.copy() for values in other._heap)
            self._used = other._used
            self._alpha, self._weights = factor * other._alpha, factor * other._weights
            self.dual = recovered(factor, other.dual, float(np.vdot(other._alpha, other._loss)))
            self._mean = self._alpha

    def full_pass(self, order: Ints) -> int:
        """Ask about every run, or recall what was found; settle; return how many were asked."""
        self._mean = self._alpha  # now: what a second Ctrl-C leaves must be feasible
        recalled = self._parts.recalled()
        runs = self._parts.runs if recalled is None else self._parts.shards
        run_of = np.searchsorted([run.first for run in runs], order, side="right") - 1
        _, met = np.unique(run_of, return_index=True)
        for number in run_of[np.sort(met)].tolist():
            if recalled is None:
                planes = self._parts.planes(runs[number], self._weights)
            else:
                planes = recalled[number]
            self._absorb(order[run_of == number], planes)
        return len(order) if recalled is None else 0

    def _absorb(self, order: Ints, planes: Planes) -> None:
        """Visit the blocks of some examples with the planes that were found."""
        d, first = planes.directions, int(order.min())
        place = np.full(int(order.max()) + 1 - first, -1, np.int64)
        place[planes.examples - first] = np.arange(len(planes))
        grown = self._size[planes.examples] + np.diff(d.ptr)
        self._see_to_room(2 * int(grown.sum()), 2 * int(grown.max(initial=0)))
        self._used, self._now, gained = kernels.absorb(
            order, place[order - first], d.ptr, d.source, d.offset, d.coef, planes.margins, _OLDEST,
            _STEPS, self._used, self._first, self._size, self._space, *self._heap, self._count,
            self._alpha, self._loss, self._age, self._gram, self.limit, self.gaps, self._table,
            self._now, self._work, *self._base, self._weights,
        )  # fmt: skip
        self.dual += gained

    def cheap_epochs(self, gap: float, seed: int) -> int:
        """Visit examples over their planes until their gap is a share of the given."""
        active = np.flatnonzero(self._count).astype(np.int32)
        self._mean = self._alpha.copy()
        visits, gained = kernels.cheap_epochs(
            _EPOCHS, _SHARE * gap, _FEW, _FADE, active, self._mean, seed, _STEPS, self._first,
            self._size, *self._heap, self._count, self._alpha, self._loss, self._gram, self.limit,
            self.gaps.copy(), *self._base, self._weights,
        )  # fmt: skip
        self.dual += gained
        return int(visits)

    def summed(self) -> tuple[Floats, float]:
        """Return weights and the gain of the multipliers, from nothing."""
        fits = np.minimum(1.0, self.limit / np.maximum(self._mean.sum(axis=1), 1e-300))
        alpha = fits[:, None] * self._mean
        weights = kernels.summed(
            self._first, self._size, *self._heap, self._count, alpha, *self._base,
            len(self._weights),
        )  # fmt: skip
        return weights, float(np.vdot(alpha, self._loss))

    def _see_to_room(self, parts: int, slots: int) -> None:
        """Make the heap, and the table, large enough for what may come."""
        if len(self._table[0]) < slots:
            self._table, self._now = _hash_table(slots), 0
        if self._used + parts <= len(self._heap[0]):
            return
        ptr = np.concatenate([[0], np.cumsum(self._size)])
        where = np.repeat(self._first - ptr[:-1], self._size) + np.arange(ptr[-1])
        old, used = self._heap, int(ptr[-1])
        self._heap = _heap(max(len(old[0]), 3 * (used + parts) // 2))
        for new, values in zip(self._heap, old, strict=True):
            new[:used] = values[where]
        self._first, self._space, self._used = ptr[:-1], self._size.copy(), used


def _heap(length: int) -> tuple[Any, ...]:
    """Return room for so many parts: source, offset, and the coefficient in each plane."""
    return np.zeros(length, np.int32), np.zeros(length, np.int32), np.zeros((length, _ROOM))


def _hash_table(least: int) -> tuple[Any, ...]:
    """Return an empty table of parts: keys, place, and when each was last used."""
    size = 1 << max(int(least) - 1, 1).bit_length()
    return tuple(np.zeros(size, np.int64) for _ in range(4))
