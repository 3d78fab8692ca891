r"""A Newton step over all multipliers in use, for a dual ascent whose blocks creep.

Block by block, multipliers of different groups follow each other slowly. Where they are positive,
and the sums of groups at their cap stay there, the dual is a quadratic: with s the slopes and G the
products of the planes (those of a group at its cap less the group's largest), the best step solves
``G d = s``. The limits on it, multipliers >= 0 and sums of groups up to their cap, read
``N d + e >= 0``. Those that the step breaks are held, and let go where that is wrong, a few times
over (block principal pivoting); with the rows E of N that are held and X = G^-1 E',

    d = G^-1 s - X mu,      E X mu = E G^-1 s + e_E,      held wrongly: mu > 0.

What then still misses a limit is cut off, and the step is taken only if the dual gains.

>>> step = face_step(np.array([1.0, 1.0]), np.array([1.0, -3.0]), np.eye(2),
...                  np.array([0, 1]), np.array([1.5, np.inf]), 0.0)
>>> step.round(6)  # without limits: 2 and -2
array([1.5, 0. ])
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from structopt.arrays import Floats, Ints

_PIVOTS = 8
"""Times that multipliers are held or let go at most; where it ends at all, four mostly suffice."""
_HALVINGS = 3
"""Lengths tried: 1, 1/2, 1/4."""
RIDGES = (1e-9, 1e-2)
"""The least and the largest ridge. On chains of the synthetic CRF, more planes than features are in
use, and nearly all steps fail with 1e-9 to 1e-4; with 1e-2 all of 174 gain."""


class Products:
    """Planes in use as dense rows, and their products, kept from step to step: most stay in use.

    Planes go by a number that `keep` changes when some are deleted.
    """

    def __init__(self) -> None:
        self._planes = np.zeros(0, dtype=np.int64)
        self._rows = self._gram = np.zeros((0, 0))

    def keep(self, which: Ints, count: int) -> None:
        """Renumber: plane ``which[k]`` of ``count`` becomes plane k, the others are gone."""
        number = np.full(count + 1, -1, dtype=np.int64)
        number[which] = np.arange(len(which))
        self._planes = number[self._planes]  # -1, the last entry, for those that are gone

    def of(self, planes: Ints, expand: Callable[[Ints], Floats]) -> tuple[Floats, Floats]:
        """Return rows and products of ``planes``; ``expand`` makes the rows of those not known."""
        here = np.flatnonzero(self._planes >= 0)
        place = np.full(int(max(planes.max(), self._planes.max(initial=-1))) + 1, -1)
        place[self._planes[here]] = here
        place = place[planes]
        old, new = np.flatnonzero(place >= 0), np.flatnonzero(place < 0)
        if len(new) == 0 and len(old) == len(self._planes) and np.all(np.diff(place) == 1):
            return self._rows, self._gram
        added = expand(planes[new])
        rows = np.empty((len(planes), added.shape[1]))
        rows[new] = added
        gram = np.empty((len(planes), len(planes)))
        if len(old):
            rows[old] = self._rows.take(place[old], 0)
            gram[np.ix_(old, old)] = self._gram.take(place[old], 0).take(place[old], 1)
        fresh = added @ rows.T
        gram[new], gram[:, new] = fresh, fresh.T
        self._planes, self._rows, self._gram = planes, rows, gram
        return rows, gram


def face_step(
    alpha: Floats, slope: Floats, gram: Floats, group: Ints, cap: Floats, ridge: float
) -> Floats | None:
    """Return better multipliers than ``alpha`` > 0, or None.

    ``cap`` bounds the sum over each plane's group; infinity for planes without a slack. ``ridge``
    times its mean goes on the diagonal of G: planes in use may depend on each other.
    """
    lead, room = _leaders(group, alpha, cap)
    moved = np.flatnonzero(lead != np.arange(len(alpha)))
    tied = np.flatnonzero(lead[moved] >= 0)
    leaders = lead[moved[tied]]
    block, reduced = gram.take(moved, 0), slope[moved]
    block[tied] -= gram.take(leaders, 0)
    reach = block.take(leaders, 1)
    block = block.take(moved, 1)
    block[:, tied] -= reach
    reduced[tied] -= slope[leaders]
    d = np.zeros(len(alpha))
    limited = np.where(np.isfinite(cap), group, -1)[moved]
    try:
        block[np.diag_indices(len(block))] += ridge * np.trace(block) / max(1, len(block))
        d[moved] = _pivoted(block, reduced, alpha[moved], limited, room)
    except np.linalg.LinAlgError:  # planes that depend on each other beyond what the ridge mends
        return None
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
    n, soft = len(alpha), np.flatnonzero(group >= 0)
    if n == 0:
        return alpha
    factor = cho_factor(gram, overwrite_a=True, check_finite=False)
    # limits: normals @ step + ends >= 0
    row = np.concatenate([np.arange(n), n + group[soft]])
    column = np.concatenate([np.arange(n), soft])
    sign = np.repeat([1.0, -1.0], [n, len(soft)])
    normals = sp.csr_array((sign, (row, column)), shape=(n + len(room), n))
    ends = np.concatenate([alpha, room])
    newton = cho_solve(factor, slope, check_finite=False)
    at_newton = normals @ newton + ends
    d, held, mu, columns = newton, np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((n, 0))
    for _ in range(_PIVOTS):
        broken = normals @ d + ends < -1e-9 * ends
        broken[held] = False
        stays, new = mu <= 0.0, np.flatnonzero(broken)
        if len(new) == 0 and np.all(stays):
            break
        added = cho_solve(factor, normals[new].toarray().T, check_finite=False)
        held = np.concatenate([held[stays], new])
        columns = np.concatenate([columns[:, stays], added], axis=1)
        mu = np.linalg.solve(normals[held] @ columns, at_newton[held])
        d = newton - columns @ mu
    return np.asarray(d)


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
