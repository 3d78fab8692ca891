r"""Multipliers with room to spare, which repairs move towards.

    max t <= 1   s.t.  floor + t p <= q - pull - S's <= ceiling - t p,   s >= t,   z - t e in K*,

with p the columns' own prices, without cuts, or with the multipliers of some where a master is
unbounded without any. What no multipliers at all satisfy with room (a sum of the k largest of k
terms prices each of them fully) is found by giving every row a t of its own, and is then kept as
the equality that it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from structopt.arrays import Floats, Ints
from structopt.master.cones import Cones
from structopt.master.interior import solve
from structopt.master.program import Program

_ROOM = 1e-7
"""The least t that counts as room: some hundred times what the solver leaves."""

_TRIED = 1e-3
"""Room that each row is offered while those without any are looked for."""


@dataclass(frozen=True)
class Anchor:
    """Multipliers well inside: of the static rows, r with them, and what those of cuts gain."""

    static: Floats
    reduced: Floats
    gain: float


@dataclass(frozen=True)
class Dual:
    """What multipliers s of a programme's static rows must satisfy.

    Attributes
    ----------
    floor, ceiling : arrays
        Where ``q - pull - S's`` must lie, column by column.
    sign : array
        1 for rows whose multipliers must be >= 0, -1 for <= 0, 0 for others.
    zero : array of bool
        Rows whose multipliers can only be 0.
    """

    program: Program
    floor: Floats
    ceiling: Floats
    sign: Floats
    zero: NDArray[np.bool_]

    @classmethod
    def of(cls, program: Program, floor: Floats, ceiling: Floats) -> Dual:
        """Return the conditions without any room looked for."""
        lower, upper = np.isfinite(program.lower), np.isfinite(program.upper)
        linear = 1.0 * (lower & ~upper) - 1.0 * (upper & ~lower)
        sign = np.r_[linear, np.zeros(len(program.cones))]
        return cls(program, floor, ceiling, sign, np.zeros(len(sign), dtype=bool))

    def off(self, columns: NDArray[np.bool_]) -> Dual:
        """Return the conditions without those on some columns."""
        floor = np.where(columns, -np.inf, self.floor)
        return replace(self, floor=floor, ceiling=np.where(columns, np.inf, self.ceiling))

    @cached_property
    def flat(self) -> Ints:
        """The columns with a condition."""
        return np.flatnonzero(np.isfinite(self.floor) | np.isfinite(self.ceiling))

    @cached_property
    def block(self) -> Any:
        """The static rows over these columns."""
        return sp.csc_array(self.program.static[:, self.flat])


@dataclass(frozen=True)
class Found:
    """Static multipliers and those of rows of cuts, the conditions they satisfy, and the room."""

    dual: Dual
    static: Floats
    cuts: Floats
    room: float

    @property
    def deep(self) -> bool:
        """Whether there is room."""
        return self.room >= _ROOM


def find_anchor(dual: Dual, cuts: Any, touched: NDArray[np.bool_] | None = None) -> Found | None:
    """Return multipliers, of rows of cuts too, with the most room; None if there are none.

    With ``touched``, the columns that some cut may touch, conditions on the others that leave no
    room are first made the equalities that they are.
    """
    if touched is not None:
        tightened = _Phase(dual.off(touched), cuts).tightened()
        if tightened is None:
            return None
        dual = replace(
            tightened,
            floor=np.where(touched, dual.floor, tightened.floor),
            ceiling=np.where(touched, dual.ceiling, tightened.ceiling),
        )
    found = _Phase(dual, cuts).solved()
    if found is None:
        return None
    m = dual.program.static.shape[0]
    return Found(dual, found[0][:m], np.maximum(found[0][m:], 0.0), found[1])


class _Phase:
    """The programme in (s, y, t)."""

    def __init__(self, dual: Dual, cuts: Any) -> None:
        self.dual = dual
        p, flat, S = dual.program, dual.flat, dual.block
        self.m, self.k = S.shape[0], cuts.shape[0]
        price = np.abs(p.q[flat])
        price = np.where(price > 0, price, max(float(price.max(initial=0.0)), 1e-6))
        moved = np.diff(S.indptr) + np.diff(sp.csc_array(cuts[:, flat]).indptr) > 0
        margin = np.where(moved & (dual.floor < dual.ceiling)[flat], price, 0.0)
        low, high = p.q[flat] - dual.ceiling[flat], p.q[flat] - dual.floor[flat]
        self.below = np.flatnonzero(np.isfinite(low))
        self.above = np.flatnonzero(np.isfinite(high) & (low < high))
        self.equal = (low == high)[self.below]
        self.signs = np.flatnonzero((dual.sign != 0) & ~dual.zero)
        columns = sp.hstack([S.T, cuts[:, flat].T], format="csr")
        signed = sp.diags_array(dual.sign, format="csr")[self.signs]
        signed = sp.hstack([signed, sp.csr_array((len(self.signs), self.k))])
        # every row reads  rows @ (s, y) - margin * t >= sides
        self.rows = sp.vstack([columns[self.below], -columns[self.above], signed], format="csr")
        self.margin = np.r_[margin[self.below], margin[self.above], np.ones(len(self.signs))]
        self.sides = np.r_[low[self.below], -high[self.above], np.zeros(len(self.signs))]

    def solved(self) -> tuple[Floats, float] | None:
        """Return multipliers and the largest t; None if no multipliers satisfy the conditions."""
        found = self._solve(sp.csr_array(-self.margin[:, None]), np.ones(1))
        return None if found is None else (found[:-1], float(found[-1]))

    def tightened(self) -> Dual | None:
        """Return the conditions with those that leave no room as equalities."""
        n = len(self.sides)
        ones = np.full(n + self.dual.program.is_conic, _TRIED)
        own = sp.csr_array(sp.diags_array(-self.margin))
        own = sp.hstack([own, sp.csr_array((n, len(ones) - n))], format="csr")
        found = self._solve(own, ones)
        if found is None:
            return None
        tight = (found[self.m + self.k :][:n] < 1e-2 * _TRIED) & (self.margin > 0)
        return self._tightened(tight)

    def _tightened(self, tight: NDArray[np.bool_]) -> Dual:
        dual = self.dual
        floor, ceiling, zero = dual.floor.copy(), dual.ceiling.copy(), dual.zero.copy()
        b, a = len(self.below), len(self.below) + len(self.above)
        at_ceiling = dual.flat[self.below[tight[:b]]]
        at_floor = dual.flat[self.above[tight[b:a]]]
        floor[at_ceiling], ceiling[at_floor] = ceiling[at_ceiling], floor[at_floor]
        zero[self.signs[tight[a:]]] = True
        return replace(dual, floor=floor, ceiling=ceiling, zero=zero)

    def _solve(self, margins: Any, most: Floats) -> Floats | None:
        p, size = self.dual.program, self.m + self.k + len(most)
        cones, conic = p.cones, Cones.none(size)
        if p.is_conic:
            before, after = len(p.lower), self.k + len(most) - 1
            inner = sp.hstack([
                sp.csr_array((len(cones), before)), cones.dual_map,
                sp.csr_array((len(cones), after)), -cones.centre[:, None],
            ])  # fmt: skip
            conic = replace(cones, matrix=sp.csr_array(inner), side=np.zeros(len(cones)))
        free, t = np.full(self.m, np.inf), len(most)
        ends = np.where(self.dual.zero, 0.0, free)
        upper = np.full(len(self.sides), np.inf)
        upper[: len(self.equal)][self.equal] = self.sides[: len(self.equal)][self.equal]
        found = solve(
            Program(
                # a little curvature keeps multipliers that nothing bounds
                P=sp.diags_array(np.r_[np.full(self.m + self.k, 1e-6), np.zeros(t)], format="csc"),
                q=np.r_[np.zeros(self.m + self.k), -np.ones(t)],
                l1=np.zeros(size),
                A=sp.csr_array(sp.hstack([self.rows, margins])),
                lower=self.sides,
                upper=upper,
                lb=np.r_[-ends, np.zeros(self.k + t)],
                ub=np.r_[ends, np.full(self.k, np.inf), most],
                cones=conic,
            )
        )
        fine = found.status in ("optimal", "inaccurate") and np.all(np.isfinite(found.x))
        return found.x if fine else None
