r"""0-1 programmes with too many rows to write: cuts are added when an answer breaks them.

    max  s . z    over the 0/1 points of some rows that break no cut  sum_{j in J} z_j <= r.

Every answer to the rows known so far bounds the true optimum from above, so that who runs out of
time still knows how far a feasible point can be from it. Cuts hold for every objective, and stay.

>>> from structopt.structures.base.integer.rows import LinearRows
>>> one = np.ones(1)
>>> rows = linear_rows(LinearRows(np.array([0, 0]), np.array([0, 1]), np.ones(2), one, 2 * one), 2)
>>> lazy = LazyProgram(rows, lambda z: [([0, 1], 1.0)] if z.sum() > 1 else [])
>>> lazy.maximize(np.array([2.0, 3.0]), fallback=None).point, lazy.n_cuts
(array([0., 1.]), 1)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.errors import OracleError
from structopt.structures.base.integer.rows import LinearRows, Rows
from structopt.structures.base.integer.solver import Best, IntegerProgram

Cut = tuple[Sequence[int], float]
"""Columns, and how many of them may be 1."""


class LazyProgram:
    """Rows, and a function that names the cuts that a 0/1 point breaks.

    Parameters
    ----------
    rows : Rows
    broken : callable point -> list of Cut
    gap : float
        Relative gap at which branch and bound may stop; what is left open is in `Best.excess`.
    time_limit : float, optional
        Seconds that one question may take, with all its cuts.
    """

    def __init__(
        self,
        rows: Rows,
        broken: Callable[[Floats], list[Cut]],
        *,
        gap: float = 0.0,
        time_limit: float | None = None,
    ) -> None:
        self.rows, self.broken, self.gap, self.time_limit = rows, broken, gap, time_limit
        self.n_cuts = 0
        self._known: set[tuple[int, ...]] = set()
        self._program = IntegerProgram(rows, gap=gap, time_limit=time_limit)

    def maximize(
        self, scores: Floats, *, fallback: Callable[[Floats], Floats] | None
    ) -> Best | None:
        """Return the best point that breaks no cut; None if there is none.

        ``fallback(scores)`` is a feasible point for when time runs out.
        """
        began = time.monotonic()
        while True:
            try:
                best = self._program.maximize(scores)
            except OracleError:  # no point in time
                if fallback is None:
                    raise
                return self._short_of(fallback(scores), scores)
            if best is None:
                return None
            cuts = self.broken(best.point)
            new = [cut for cut in cuts if tuple(sorted(cut[0])) not in self._known]
            if not cuts:
                return best
            if not new:
                raise OracleError("HiGHS gave a point that breaks a row that it was given.")
            late = self.time_limit is not None and time.monotonic() - began > self.time_limit
            if late and fallback is not None:
                bound = float(scores @ best.point) + best.excess
                return self._short_of(fallback(scores), scores, bound)
            self._add(new)

    def _short_of(self, point: Floats, scores: Floats, bound: float | None = None) -> Best:
        """Return a feasible point with how far the best may be: a bound, or the relaxation's."""
        if bound is None:
            relaxed = self._program.relax(scores)
            bound = np.inf if relaxed is None else relaxed.bound
        return Best(point, max(0.0, bound - float(scores @ point)))

    def _add(self, cuts: list[Cut]) -> None:
        self._known |= {tuple(sorted(columns)) for columns, _ in cuts}
        self.n_cuts += len(cuts)
        rows = self.rows
        more = sp.lil_array((len(cuts), rows.A.shape[1]))
        for r, (columns, _) in enumerate(cuts):
            more[r, list(columns)] = 1.0
        self.rows = Rows(
            sp.csr_array(sp.vstack([rows.A, more])),
            np.concatenate([rows.lower, np.full(len(cuts), -np.inf)]),
            np.concatenate([rows.upper, [most for _, most in cuts]]),
            rows.lb, rows.ub, rows.integer, rows.parts,
        )  # fmt: skip
        self._program = IntegerProgram(self.rows, gap=self.gap, time_limit=self.time_limit)


def linear_rows(rows: LinearRows, parts: int) -> Rows:
    """Return rows over 0/1 parts and nothing else."""
    shape = (len(rows.lower), parts)
    matrix: Any = sp.csr_array((rows.value, (rows.row, rows.column)), shape=shape)
    return Rows(
        matrix, rows.lower, rows.upper, np.zeros(parts), np.ones(parts),
        np.ones(parts, dtype=bool), parts,
    )  # fmt: skip
