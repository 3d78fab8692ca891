"""The planes of a dual ascent: rows on one side, in order of arrival and sorted by group."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Floats, Ints
from structopt.master.cuts import Cuts
from structopt.master.growing import Growing, GrowingDirections
from structopt.master.pool import CutPool
from structopt.structures.base.parts import Directions

_PLANE = np.dtype(
    [
        ("row", np.int64),
        ("sign", np.float64),
        ("weight", np.float64),  # divided into alpha to give the row's multiplier
        ("scale", np.float64),  # of the row's direction
        ("group", np.int64),
        ("soft", np.bool_),  # whether the row has a slack
        ("rhs", np.float64),
        ("alpha", np.float64),
        ("before", np.float64),  # alpha one sweep ago
    ],
    align=True,
)


class Planes:
    """One-sided rows ``scale * direction . w + xi_group >= rhs``, in order of arrival.

    Parameters
    ----------
    pool : CutPool, optional
        Which has the directions of all rows, by their number; without one they are kept here.
    """

    def __init__(self, pool: CutPool | None = None) -> None:
        self._each, self._pool, self._own = Growing(_PLANE), pool, GrowingDirections()

    def __len__(self) -> int:
        return len(self._each.values)

    @property
    def each(self) -> NDArray[Any]:
        """All but the directions, by the names of `_PLANE`; a view."""
        return self._each.values

    @property
    def directions(self) -> Directions:
        """The directions, not scaled; views where every row is one plane."""
        if self._pool is None:
            return self._own.since(0)
        return self._pool.directions.take(self.each["row"])

    def scaled(self, which: Ints) -> Directions:
        """Return the directions of some planes, scaled."""
        d = self.directions.take(which)
        scale = np.repeat(self.each["scale"][which], np.diff(d.ptr))
        return Directions(d.ptr, d.source, d.offset, d.coef * scale)

    def keep(self, which: Ints) -> None:
        """Keep only some of the planes."""
        self._each.keep(which)
        if self._pool is None:
            self._own.keep(which)

    def extend(self, rows: Cuts, first: int, slack_of: Ints, n_slacks: int) -> None:
        """Add rows, the first of them number ``first``; ``slack_of`` numbers slack columns."""
        entries = np.diff(rows.extra.indptr)
        group = np.full(len(rows), -1, dtype=np.int64)
        group[entries == 1] = slack_of[rows.extra.indices]
        weight = np.ones(len(rows))
        weight[entries == 1] = np.abs(rows.extra.data)
        soft = group >= 0
        # any group will do for a hard row; its example's shares the most parts with it
        owner = rows.example[~soft]
        group[~soft] = np.where(owner < n_slacks, owner, n_slacks + owner)
        for bound, sign in ((rows.lower, 1.0), (rows.upper, -1.0)):
            which = np.flatnonzero(np.isfinite(bound))
            new = np.zeros(len(which), _PLANE)
            new["row"], new["sign"], new["weight"] = first + which, sign, weight[which]
            new["group"], new["soft"] = group[which], soft[which]
            new["rhs"] = sign * (bound / weight)[which]
            new["scale"] = sign * (rows.factor / weight)[which]
            self._each.extend(new)
            if self._pool is None:
                self._own.extend(rows.directions.take(which))


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
        return replace(
            self, fresh=False, planes=(), parts=(), place=self.place[which], width=self.width[which]
        )


def arrange(planes: Planes, base: Any, inverse: Floats, old: Layout | None) -> Layout:
    """Sort planes by group and compute parts and products, except those that ``old`` has."""
    from structopt.backends.ascent import plane_kernels as kernels

    each = planes.each
    order = np.argsort(each["group"], kind="stable")
    groups, counts = np.unique(each["group"][order], return_counts=True)
    group_ptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    d = planes.directions
    ordered, parts = kernels.index_parts(
        group_ptr, order, d.ptr, d.source, d.offset, d.coef, each["scale"].copy()
    )
    place, width = np.full(len(order), -1), np.zeros(len(order), np.int64)
    old_gram = np.zeros(0)
    if old is not None:
        known = order < len(old.place)
        place[known], width[known] = old.place[order[known]], old.width[order[known]]
        old_gram = old.gram[1]
    gram = kernels.grow_gram(
        group_ptr, *ordered, *parts, base.indptr, base.indices, base.data, inverse,
        place, width, old_gram,
    )  # fmt: skip
    inside = np.arange(len(order)) - np.repeat(group_ptr[:-1], counts)
    new_place, new_width = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    new_place[order] = np.repeat(gram[0][:-1], counts) + inside * np.repeat(counts, counts)
    new_width[order] = inside
    return Layout(
        True, order, groups, (group_ptr, *ordered), each["rhs"][order],
        each["soft"][order], parts, gram, new_place, new_width,
    )  # fmt: skip
