r"""A Newton step over all multipliers in use, for a dual ascent whose blocks follow each other slowly.

Where multipliers are positive, and the sums of groups at their cap stay there, the dual is a
quadratic: with s the slopes and G the products of the planes (those of a group at its cap less the
group's largest), the best step d solves ``G d = s``. Multipliers that it would push below 0 are held
at 0, and let go where that holds them down wrongly, a few times over (block principal pivoting):
with X = G^-1 E for the held ones,

    d = G^-1 s - X mu,      E'X mu = E'G^-1 s + alpha_held,      held wrongly: mu > 0.

What then still misses a bound is cut off, and the step is taken only if the dual gains.
"""

from __future__ import annotations


import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from structopt.structures.parts import Floats, Ints

_PIVOTS = 8
"""Times that multipliers are held or let go at most; where it ends at all, four mostly suffice."""
_HALVINGS = 3
"""Lengths tried: 1, 1/2, 1/4."""
_RIDGE = 1e-9
"""Of the mean diagonal of G, for planes that depend on each other."""


class Products:
    """Products of planes, kept from step to step: most planes in use stay so.

    Planes go by a number that `keep` changes when some are deleted.
    """

    def __init__(self) -> None:
        self._planes, self._gram = np.zeros(0, np.int64), np.zeros((0, 0))

    def keep(self, which: Ints, count: int) -> None:
        """Renumber: plane ``which[k]`` of ``count`` becomes plane k, the others are gone."""
        number = np.full(max(count, int(self._planes.max(initial=-1)) + 1), -1, dtype=np.int64)
        number[which] = np.arange(len(which))
        planes = number[self._planes]
        left = planes >= 0
        self._planes, self._gram = planes[left], self._gram[np.ix_(left, left)]

    def among(self, planes: Ints, rows: Floats) -> Floats:
        """Return all products of ``planes``, whose scaled rows are given."""
        place = np.full(int(max(planes.max(), self._planes.max(initial=-1))) + 1, -1)
        place[self._planes] = np.arange(len(self._planes))
        place = place[planes]
        old, new = np.flatnonzero(place >= 0), np.flatnonzero(place < 0)
        gram = np.empty((len(planes), len(planes)))
        gram[np.ix_(old, old)] = self._gram[np.ix_(place[old], place[old])]
        fresh = rows[new] @ rows.T
        gram[new], gram[:, new] = fresh, fresh.T
        self._planes, self._gram = planes, gram
        return gram


def face_step(
    alpha: Floats, slope: Floats, gram: Floats, group: Ints, cap: Floats
) -> Floats | None:
    """Return better multipliers than ``alpha`` > 0, or None.

    ``cap`` bounds the sum over each plane's group; infinity for planes without a slack.
    """
    lead, room = _leaders(group, alpha, cap)
    moved = np.flatnonzero(lead != np.arange(len(alpha)))
    tied = np.flatnonzero(lead[moved] >= 0)
    leaders = lead[moved[tied]]
    block, reduced = gram[moved], slope[moved]
    block[tied] -= gram[leaders]
    lead_columns = block[:, leaders]
    block = block[:, moved]
    block[:, tied] -= lead_columns
    reduced[tied] -= slope[leaders]
    d = np.zeros(len(alpha))
    d[moved] = _pivoted(block, reduced, alpha[moved], np.where(np.isfinite(cap), group, -1)[moved], room)
    np.subtract.at(d, leaders, d[moved[tied]])
    for k in range(_HALVINGS):
        better = _fitted(alpha + 0.5**k * d, group, cap)
        change = better - alpha
        if slope @ change - 0.5 * change @ (gram @ change) > 0.0:
            return better
    return None


def _pivoted(gram: Floats, slope: Floats, alpha: Floats, group: Ints, room: Floats) -> Floats:
    """Return the best step with ``alpha + step >= 0`` and sums over groups up to their room.

    Group -1 has no limit. Where pivots do not end, the last step is returned.
    """
    n, soft = len(alpha), group >= 0
    if n == 0:
        return alpha
    gram[np.diag_indices(n)] += _RIDGE * np.trace(gram) / n
    factor = cho_factor(gram, overwrite_a=True, check_finite=False)
    members = np.where(soft, group, len(room))

    def left(d: Floats) -> Floats:
        """Return what is left to each bound: of the multipliers, then of the groups."""
        return np.concatenate([alpha + d, room - np.bincount(members, d, len(room) + 1)[:-1]])

    newton = cho_solve(factor, slope, check_finite=False)
    size = np.concatenate([alpha, room])
    d, held, mu = newton, np.zeros(0, dtype=np.int64), np.zeros(0)
    normals = columns = np.zeros((n, 0))
    for _ in range(_PIVOTS):
        below = np.setdiff1d(np.flatnonzero(left(d) < -1e-9 * size), held)
        stays = mu <= 0.0
        if len(below) == 0 and np.all(stays):
            break
        own = below < n
        added = np.zeros((n, len(below)))
        added[below[own], np.flatnonzero(own)] = 1.0
        added[:, ~own] = -1.0 * (group[:, None] == below[~own] - n)
        held = np.concatenate([held[stays], below])
        normals = np.concatenate([normals[:, stays], added], axis=1)
        solved = cho_solve(factor, added, check_finite=False)
        columns = np.concatenate([columns[:, stays], solved], axis=1)
        try:
            mu = np.linalg.solve(normals.T @ columns, left(newton)[held])
        except np.linalg.LinAlgError:
            break
        d = newton - columns @ mu
    return d


def _leaders(group: Ints, alpha: Floats, cap: Floats) -> tuple[Ints, Floats]:
    """Return for each plane in a group at its cap the group's largest, -1 elsewhere.

    Also how far the sum over each group's other planes may rise.
    """
    finite = np.isfinite(cap)
    load = np.bincount(group, np.where(finite, alpha, 0.0))
    full = finite & (load[group] >= (1.0 - 1e-9) * cap)
    order = np.lexsort((alpha, full, group))  # a group's full ones last, the largest at the end
    largest = np.zeros(len(load), dtype=np.int64)
    largest[group[order]] = order
    room = np.zeros(len(load))
    room[group[finite]] = (cap - load[group])[finite]
    room[group[full]] = alpha[largest[group[full]]]
    return np.where(full, largest[group], -1), room


def _fitted(alpha: Floats, group: Ints, cap: Floats) -> Floats:
    """Cut multipliers off at 0 and scale groups down to their cap."""
    alpha = np.maximum(alpha, 0.0)
    finite = np.isfinite(cap)
    load = np.bincount(group, np.where(finite, alpha, 0.0))[group]
    over: NDArray[np.bool_] = finite & (load > cap)
    return alpha * np.where(over, np.where(over, cap, 1.0) / np.where(over, load, 1.0), 1.0)
