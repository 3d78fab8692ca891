r"""Krylov polish: from an active set that has settled to a solution, without a factorisation.

T(z) shows which columns are free (strictly within their bounds) and which rows are held (an
equation, or a multiplier that is not 0). Where both sets are those of the last restart up to 5%,
all that is left is linear,

    A_HF dx = sides - A x   on the rows held,        A_HF' dy = q + P x - A'y   on the columns free,

two least-squares problems for CGLS in a linear programme; with P they are one symmetric system, for
MINRES. The point is kept if its error is at most half; many solves then end near 1e-12. At most a
third of all products goes to this.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import minres

from structopt.arrays import Floats
from structopt.backends.extragradient.polish_kernels import least_squares
from structopt.backends.extragradient.scaling import parts
from structopt.master.program import Program

NEAR, SHARE, LEAST = 0.05, 0.5, 50
"""Share of changes in the active set that counts as none; products of the polish for one of the
steps; products that a try gets at least."""

Point = tuple[Floats, Floats, Floats, Floats]
"""x, y, A x, P x of the scaled problem."""


def copied(point: Point) -> Point:
    """Return copies of all four."""
    x, y, ax, px = point
    return x.copy(), y.copy(), ax.copy(), px.copy()


class Polish:
    """The active set at the last restart, and the products spent.

    Parameters
    ----------
    problem : Program
        Scaled.
    """

    def __init__(self, problem: Program, At: Any) -> None:
        self.problem, self._At = problem, At
        self._matrices = parts(problem.A), parts(At)
        self._equation = problem.lower == problem.upper
        self._free = self._held = np.zeros(0, dtype=bool)
        self.spent = 0

    def polished(self, point: Point, products: float) -> Point | None:
        """Return the solution on the active set of ``point``; None while that is changing."""
        p = self.problem
        x, y = point[0], point[1]
        free = (x > p.lb) & (x < p.ub) & ((p.l1 == 0) | (x != 0))
        held = (y != 0) | self._equation
        before, self._free = self._free, free
        changes = np.inf
        if len(before):
            changes = np.sum(free != before) + np.sum(held != self._held)
        self._held = held
        if changes > NEAR * (len(x) + len(y)) or SHARE * products <= self.spent:
            return None
        left = SHARE * products - self.spent
        budget = int(max(LEAST, min(left, 20 * (len(x) + len(y)))))
        return self._saddle(point, budget) if p.P.nnz else self._both(point, budget)

    def _sides(self, y: Floats) -> Floats:
        p = self.problem
        return np.where(self._equation | (y > 0), p.lower, p.upper)

    def _slope(self, x: Floats, y: Floats, Px: Floats) -> Floats:
        p = self.problem
        return np.asarray(p.q + Px + np.sign(x) * p.l1 - self._At @ y)

    def _both(self, point: Point, budget: int) -> Point:
        """Two least-squares problems: first x, then y."""
        p, (A, At) = self.problem, self._matrices
        free, held = self._free, self._held
        x, y, Ax, Px = point
        dx, dy = np.zeros(len(x)), np.zeros(len(y))
        short = np.where(held, self._sides(y) - Ax, 0.0)
        self.spent += least_squares(A, At, held, free, short, dx, budget, 1e-10)
        x = np.clip(x + dx, p.lb, p.ub)
        slope = np.where(free, self._slope(x, y, Px), 0.0)
        self.spent += least_squares(At, A, free, held, slope, dy, budget, 1e-10)
        self.spent += 2
        return x, self._signed(y + dy, y), p.A @ x, Px

    def _saddle(self, point: Point, budget: int) -> Point:
        """Both at once: [P -A'; -A 0] (dx, dy) = (A'y - q - P x, A x - sides)."""
        p = self.problem
        free, held = np.flatnonzero(self._free), np.flatnonzero(self._held)
        x, y, Ax, Px = point
        B, P = p.A[held][:, free], p.P[free][:, free]
        matrix = sp.csr_array(sp.block_array([[P, -B.T], [-B, None]])) if len(held) else P
        right = np.concatenate([-self._slope(x, y, Px)[free], (Ax - self._sides(y))[held]])
        calls: list[None] = []
        step = minres(
            matrix, right, rtol=1e-12, maxiter=max(10, budget // 3),
            callback=lambda _: calls.append(None),
        )[0]  # fmt: skip
        self.spent += 3 * len(calls) + 3
        x, moved = x.copy(), y.copy()
        x[free] += step[: len(free)]
        moved[held] += step[len(free) :]
        x = np.clip(x, p.lb, p.ub)
        return x, self._signed(moved, y), p.A @ x, p.P @ x

    def _signed(self, y: Floats, before: Floats) -> Floats:
        kept = np.where(before > 0, np.maximum(y, 0.0), np.minimum(y, 0.0))
        return np.where(self._equation, y, np.where(before == 0, 0.0, kept))
