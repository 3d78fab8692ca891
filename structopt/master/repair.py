r"""Static multipliers that a solver left slightly wrong, repaired.

A lower bound needs ``r = q - pull - S's`` within ``floor <= r <= ceiling`` on every column without
curvature, multipliers of linear rows of the right sign, and those of the cones in K*. Two steps:

1. least squares: with each multiplier, and each distance of r to its end, free to move in
   proportion to its size, the smallest move that brings r back;
2. a move towards an *anchor*, multipliers that satisfy everything with room to spare, just far
   enough (:mod:`structopt.master.anchor`). Columns whose floor is their ceiling are brought back
   before, by themselves: no move towards an anchor does that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from structopt.arrays import Floats
from structopt.master.anchor import Anchor, Dual
from structopt.master.lagrangian_kernels import step_to_rest
from structopt.master.program import ROUNDING

_SMALL = 1e-6
"""Share of the largest multiplier by which any may move: zeros must not be stuck."""

_REFINEMENTS = 3
"""Least-squares steps: each gains some ten digits."""

_BISECTIONS = 50
"""Halvings of the way to the anchor: to the last digit of a double."""


def rounding_of(*given: Floats) -> float:
    """Return what counts as zero among numbers that such multipliers make."""
    return ROUNDING * max(1.0, *(float(np.abs(each).max(initial=0.0)) for each in given))


class Repair:
    """Repairs the static multipliers of one programme."""

    def __init__(self, dual: Dual) -> None:
        self._program, self._floor, self._ceiling = dual.program, dual.floor, dual.ceiling
        self._flat, self._block, self._sign = dual.flat, dual.block, dual.sign
        self._zero = dual.zero

    # ------------------------------------------------------------------ back to rest
    def overshoot(self, reduced: Floats) -> float:
        """Return by how much the columns without curvature miss their rest."""
        below, above = self._floor - reduced, reduced - self._ceiling
        return float(max(0.0, below.max(initial=0.0), above.max(initial=0.0)))

    def restored(
        self, static: Floats, reduced: Floats, *, level: bool = False
    ) -> tuple[Floats, Floats]:
        """Return multipliers, and r with them, at which the flat columns rest as far as can be.

        With ``level`` only those that rest at one value.
        """
        return self._restored(self._program.static, static, self._zero, reduced, level=level)

    def settled(self, extra: Any, static: Floats, y: Floats, reduced: Floats) -> Floats:
        """Return multipliers y of cuts, moved together with the static ones as `restored` does.

        ``extra`` has the cuts' rows beside the weights. Columns that a cut and static rows share,
        and that rest at one value, need both: where a free slack stands in a variance, only the sum
        of all cuts' multipliers brings it to rest.
        """
        rows = sp.csr_array(sp.vstack([self._program.static, extra]))
        both, zero = np.concatenate([static, y]), np.concatenate([self._zero, y == 0])
        return self._restored(rows, both, zero, reduced)[0][len(static) :]

    def _restored(
        self, rows: Any, static: Floats, zero: Any, reduced: Floats, *, level: bool = False
    ) -> tuple[Floats, Floats]:
        flat = self._flat
        S = self._block if rows is self._program.static else sp.csc_array(rows[:, flat])
        floor, ceiling = self._floor[flat], self._ceiling[flat]
        equal = floor == ceiling
        judged = equal if level else np.ones(len(flat), dtype=bool)
        if not S.nnz or not np.any(judged):
            return static, reduced
        reduced = reduced + rows.T @ np.where(zero, static, 0.0)
        static = np.where(zero, 0.0, static)
        size = np.abs(static)
        largest = max(float(size.max(initial=0.0)), _SMALL)
        r = reduced[flat]
        room = np.minimum(np.abs(r - floor), np.abs(ceiling - r))
        room = np.where((r < floor) | (r > ceiling), 0.0, room / largest)
        room = np.where(equal, 0.0, np.maximum(room, 1.0 if level else _SMALL))
        weight = np.where(zero, 1e-30, np.maximum(size / largest, _SMALL))
        untouched = np.diff(S.indptr) == 0
        system = sp.block_array(
            [[sp.diags_array(-1.0 / weight), S], [S.T, sp.diags_array(room + untouched + 1e-14)]],
            format="csc",
        )
        try:
            factor = splu(system)
        except RuntimeError:  # singular
            return static, reduced

        def missed(reduced: Floats) -> Floats:
            r = reduced[flat]
            return np.where(judged, r - np.clip(r, floor, ceiling), 0.0)

        missing = missed(reduced)
        best, least = (static, reduced), float(np.abs(missing).max())
        for _ in range(_REFINEMENTS):
            missing = np.where(untouched, 0.0, missing)
            step = factor.solve(np.concatenate([np.zeros(len(static)), missing]))[: len(static)]
            step = np.where(zero, 0.0, step)
            static = static + step
            reduced = reduced - rows.T @ step
            missing = missed(reduced)
            found = float(np.abs(missing).max())
            if not np.all(np.isfinite(step)) or found >= least:
                break
            best, least = (static, reduced), found
        return best

    # ------------------------------------------------------------------ towards the inside
    def step(self, anchor: Anchor, static: Floats, reduced: Floats) -> float:
        """Return the largest t in [0, 1] at which anchor + t (given - anchor) satisfies all."""
        slack = rounding_of(self._program.q, static)
        start = anchor.reduced
        t = float(step_to_rest(start, start - reduced, self._floor, self._ceiling, slack))
        a, b = self._sign * anchor.static, self._sign * static
        wrong = b < 0
        if np.any(wrong):
            t = min(t, float((a[wrong] / (a[wrong] - b[wrong])).min()))
        rows, cones = len(self._program.lower), self._program.cones
        low, high = 0.0, t
        z_a, z = anchor.static[rows:], static[rows:]
        if not cones.contain_dual(z_a + high * (z - z_a)):
            for _ in range(_BISECTIONS):
                middle = 0.5 * (low + high)
                inside = cones.contain_dual(z_a + middle * (z - z_a))
                low, high = (middle, high) if inside else (low, middle)
            t = low
        return t if t == 1.0 else t * (1.0 - 1e-15)

    def inside(self, static: Floats, reduced: Floats) -> bool:
        """Return whether multipliers satisfy everything as they are."""
        calm = self.overshoot(reduced) <= rounding_of(self._program.q, static)
        signed = not np.any(self._sign * static < 0)
        conic = static[len(self._program.lower) :]
        return calm and signed and self._program.cones.contain_dual(conic)
