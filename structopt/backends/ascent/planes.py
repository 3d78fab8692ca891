"""The planes of a dual ascent: rows on one side, in order of arrival and sorted by group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Floats, Ints
from structopt.master.cuts import Cuts
from structopt.structures.base.parts import Directions


@dataclass
class Planes:
    """One-sided rows ``coef-scaled direction . w + xi_group >= rhs``, in order of arrival."""

    row: Ints
    sign: Floats
    weight: Floats  # divided into alpha to give the row's multiplier
    group: Ints
    soft: NDArray[np.bool_]  # whether the row has a slack
    rhs: Floats
    directions: Directions  # coefficients already scaled
    alpha: Floats
    before: Floats  # alpha one sweep ago

    def take(self, which: Ints) -> Planes:
        """Return some of the planes."""
        return Planes(
            self.row[which], self.sign[which], self.weight[which], self.group[which],
            self.soft[which], self.rhs[which], self.directions.take(which), self.alpha[which],
            self.before[which],
        )  # fmt: skip

    def plus(self, other: Planes) -> Planes:
        """Return these planes followed by others."""
        return Planes(
            row=np.concatenate([self.row, other.row]),
            sign=np.concatenate([self.sign, other.sign]),
            weight=np.concatenate([self.weight, other.weight]),
            group=np.concatenate([self.group, other.group]),
            soft=np.concatenate([self.soft, other.soft]),
            rhs=np.concatenate([self.rhs, other.rhs]),
            directions=Directions.concatenate([self.directions, other.directions]),
            alpha=np.concatenate([self.alpha, other.alpha]),
            before=np.concatenate([self.before, other.before]),
        )


def planes_of(
    rows: Cuts, which: Ints, bound: Floats, sign: float, slack_of: Ints, n_slacks: int
) -> Planes:
    """Return some rows, on the side of ``bound``, as planes; ``slack_of`` numbers slack columns."""
    entries = np.diff(rows.extra.indptr)
    group = np.full(len(rows), -1, dtype=np.int64)
    group[entries == 1] = slack_of[rows.extra.indices]
    weight = np.ones(len(rows))
    weight[entries == 1] = np.abs(rows.extra.data)
    soft = group >= 0
    # any group will do for a hard row; its example's shares the most parts with it
    owner = rows.example[~soft]
    group[~soft] = np.where(owner < n_slacks, owner, n_slacks + owner)
    directions = rows.directions.take(which)
    factor = sign * (rows.factor / weight)[which]
    scaled = Directions(
        directions.ptr, directions.source, directions.offset,
        directions.coef * np.repeat(factor, np.diff(directions.ptr)),
    )  # fmt: skip
    return Planes(
        which.copy(), np.full(len(which), sign), weight[which], group[which], soft[which],
        sign * (bound / weight)[which], scaled, np.zeros(len(which)), np.zeros(len(which)),
    )  # fmt: skip


@dataclass(frozen=True)
class Layout:
    """Planes sorted by group, their distinct parts, and the groups' plane products."""

    fresh: bool
    order: Ints
    groups: Ints
    planes: tuple[NDArray[np.generic], ...]
    rhs: Floats
    soft: NDArray[np.bool_]
    parts: tuple[Ints, ...]
    gram: tuple[Ints, Floats]
    place: Ints  # of each plane's row in the flat gram, in order of arrival
    width: Ints  # of each plane's column in its group

    def stale(self) -> Layout:
        """Return a layout to refresh, of which the products stand."""
        return self.taken(np.arange(len(self.place)))

    def taken(self, which: Ints) -> Layout:
        """Return a layout to refresh, of which the products of some planes stand."""
        which = which[which < len(self.place)]
        return Layout(
            False, self.order, self.groups, self.planes, self.rhs, self.soft, self.parts,
            self.gram,
            self.place[which], self.width[which],
        )  # fmt: skip


def arrange(planes: Planes, base: Any, inverse: Floats, old: Layout | None) -> Layout:
    """Sort planes by group and compute parts and products, except those that ``old`` has."""
    from structopt.backends.ascent import kernels

    order = np.argsort(planes.group, kind="stable")
    groups, counts = np.unique(planes.group[order], return_counts=True)
    group_ptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    d = planes.directions.take(order)
    local, *parts = kernels.index_parts(group_ptr, d.ptr, d.source, d.offset)
    place, width = np.full(len(order), -1), np.zeros(len(order), np.int64)
    old_gram = np.zeros(0)
    if old is not None:
        known = order < len(old.place)
        place[known], width[known] = old.place[order[known]], old.width[order[known]]
        old_gram = old.gram[1]
    gram = kernels.grow_gram(
        group_ptr, d.ptr, local, d.coef, *parts, base.indptr, base.indices, base.data, inverse,
        place, width, old_gram,
    )  # fmt: skip
    inside = np.arange(len(order)) - np.repeat(group_ptr[:-1], counts)
    new_place, new_width = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    new_place[order] = np.repeat(gram[0][:-1], counts) + inside * np.repeat(counts, counts)
    new_width[order] = inside
    return Layout(
        True, order, groups, (group_ptr, d.ptr, local, d.coef), planes.rhs[order],
        planes.soft[order], tuple(parts), gram, new_place, new_width,
    )  # fmt: skip
