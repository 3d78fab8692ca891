r"""Blocks of sequences: a few label sequences each, 16 bits a label.

With planes (m_k, delta_k), multipliers a_k >= 0 and sum_k a_k <= c, the block's dual is

    max  m . a - 1/2 a' G a - a . (what other examples say),        G_kl = delta_k . delta_l,

and G, kept with the planes, is all that pairwise steps need. Only rows in which some plane leaves
gold are scored in a cheap visit. The weights that are looked at are those of multipliers averaged
over the cheap epochs: a mean of feasible ones is feasible, and its primal value is the better.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.methods.block_ascent import chain_kernels as kernels
from structopt.methods.block_ascent.columns import Columns
from structopt.methods.block_ascent.limits import ratio, recovered
from structopt.methods.labels import Labels

_ROOM, _STEPS, _OLDEST = 8, 10, 0
"""Planes that an example can keep at first (doubled for all when some need more), pairwise steps a
visit, and passes that an unused plane outlives."""
_EPOCHS, _SHARE, _FEW, _FADE = 6, 0.4, 0.6, 0.7
"""Cheap epochs after a pass at most, the share of its gap at which they end earlier, the share of
the mean gap below which an example is left out of every second one, and how fast the mean of the
multipliers forgets."""


class ChainBlocks:
    """Planes and multipliers of every sequence, and the weights that they make.

    Parameters
    ----------
    columns : Columns
    labels : Labels
        With offsets.
    limit : array
        What the multipliers of each example add up to at most.

    Attributes
    ----------
    gaps : array
        Each example's duality gap, as the last full pass met it.
    dual : float
        The dual value, from the gains of all visits: rounding may have gathered in it.
    """

    near = 1.5
    """Multiple of the gap that is wanted at which a certificate is tried first: means come after
    the cheap epochs, and are better than the pass could know."""
    whole = 4
    """Rounds after which all sequences are decoded again. Words of letters need 15 passes in all
    where each round decodes all of them 22, at no more time; Spanish sentences 9 for 16."""
    finest = 1e-4
    """Tolerance down to which this is the faster way: to 1e-3 it takes two thirds of the time of
    cutting planes on 100 dense sequences, to 1e-5 twice as long."""

    def __init__(self, columns: Columns, labels: Labels, limit: Floats) -> None:
        given = labels.given
        assert given.offsets is not None, "sequences"
        n, K, width = len(limit), given.n_labels, len(columns.scale)
        self._columns, self.limit, self._given = columns, limit, given
        self._labels = labels
        self._gold, self._cost = (
            given.gold.astype(np.uint16),
            given.cost.reshape(len(given.gold), -1),
        )
        self._offsets = given.offsets.astype(np.int32)
        self._planes = np.zeros((_ROOM, len(given.gold)), np.uint16)
        self._count, self._age = np.zeros(n, np.int32), np.zeros((n, _ROOM), np.uint8)
        self._alpha, self._loss = np.zeros((n, _ROOM)), np.zeros((n, _ROOM))
        self._gram = np.zeros((n, _ROOM, _ROOM))
        self._weights, self._work = np.zeros((width, K)), np.zeros((width, K))
        self._steps, self._work_steps = np.zeros((K + 1, K + 1)), np.zeros((K + 1, K + 1))
        if given.allowed is not None:
            self._steps[~given.allowed] = -np.inf
        self._mean, self.gaps, self.dual = self._alpha, np.zeros(n), 0.0

    def __len__(self) -> int:
        """Return how many planes are kept."""
        return int(self._count.sum())

    def resume(self, other: Any) -> None:
        """Go on with the planes and multipliers of other blocks, if limits differ by one factor."""
        factor = ratio(self.limit, other.limit) if isinstance(other, ChainBlocks) else None
        if factor is not None:
            for name in ("_planes", "_count", "_age", "_loss", "_gram"):
                setattr(self, name, getattr(other, name).copy())  # the other run may go on
            self._alpha, self._weights = factor * other._alpha, factor * other._weights
            forbidden = np.isneginf(other._steps)
            self._steps = np.where(
                forbidden, -np.inf, factor * np.where(forbidden, 0, other._steps)
            )
            self.dual = recovered(factor, other.dual, float(np.vdot(other._alpha, other._loss)))
            self._mean = self._alpha

    def full_pass(self, order: Ints) -> int:
        """Decode every sequence, take up what is found, settle; return how many."""
        c = self._columns
        self._mean = self._alpha  # now: what a second Ctrl-C leaves must be feasible
        crowded, gained = kernels.full_pass(
            order, _OLDEST, _STEPS, self._offsets, self._gold, self._cost, self._given.boundaries,
            c.indptr, c.indices, c.data, c.own, self._weights, self._steps, self.limit,
            self._planes, self._count, self._alpha, self._loss, self._age, self._gram, self.gaps,
            self._work, self._work_steps,
        )  # fmt: skip
        self.dual += gained
        if crowded:
            self._make_room()
        return len(order)

    def cheap_epochs(self, gap: float, seed: int) -> int:
        """Visit sequences over their planes until their gap is a share of the given."""
        active = np.flatnonzero(self._count).astype(np.int32)
        c, self._mean = self._columns, self._alpha.copy()
        visits, gained = kernels.cheap_epochs(
            _EPOCHS, _SHARE * gap, _FEW, _FADE, active, self._mean, seed, _STEPS, self._offsets,
            self._gold, self._given.boundaries, c.indptr, c.indices, c.data, c.own, self._weights,
            self._steps, self.limit, self._planes, self._count, self._alpha, self._loss,
            self._gram, self.gaps.copy(),
        )  # fmt: skip
        self.dual += gained
        return int(visits)

    def summed(self, rows: Any, place: Any, width: int) -> tuple[Floats, Floats, float]:
        """Return weights [column, label], those of transitions, and the gain of the multipliers.

        ``place`` says which of ``width`` columns each of the rows' becomes.
        """
        fits = np.minimum(1.0, self.limit / np.maximum(self._mean.sum(axis=1), 1e-300))
        alpha, given = fits[:, None] * self._mean, self._given
        weights, steps = kernels.summed(
            self._offsets, self._gold, given.boundaries, rows.indptr, rows.indices, rows.data,
            place, width, given.n_labels, self._planes, self._count, alpha,
        )  # fmt: skip
        return weights, self._labels.flat(steps), float(np.vdot(alpha, self._loss))

    def _make_room(self) -> None:
        more = self._planes.shape[0]
        self._planes = np.pad(self._planes, ((0, more), (0, 0)))
        wide = ((0, 0), (0, more))
        self._alpha, self._loss = np.pad(self._alpha, wide), np.pad(self._loss, wide)
        self._age, self._gram = np.pad(self._age, wide), np.pad(self._gram, (*wide, (0, more)))
        self._mean = self._alpha
