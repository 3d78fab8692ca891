r"""Weights moved into the static constraints that hold of them alone.

A solver leaves weights that break ``norm(w) <= 1`` or ``sum(w) == 1`` by its tolerance. Equalities
are restored by the least move; then the weights move towards a point that satisfies inequalities
with room, just far enough: where a convex function is v > 0 here and -m < 0 there, it is at most 0
from ``t = m / (m + v)`` on the way from there. The objective changes by a share of about v / m,
where the nearest point, found by a solver, is off by the root of its tolerance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import lsqr

from structopt.arrays import Floats
from structopt.master.compile import affine_rows, compile_problem
from structopt.master.cones import Cones
from structopt.master.interior import solve
from structopt.master.program import Program


class Retreat:
    """The constraints on weights alone, and a point inside them.

    >>> w = cp.Variable(2)
    >>> retreat = Retreat(w, [cp.norm2(w) <= 1, w[0] == w[1]])
    >>> moved = retreat.moved(np.array([0.8, 0.8 + 1e-9]))
    >>> bool(np.linalg.norm(moved) <= 1), bool(abs(moved[0] - moved[1]) < 1e-15)
    (True, True)
    """

    def __init__(self, weights: Any, constraints: Sequence[Any]) -> None:
        self._w = weights
        kinds = cp.constraints.Equality, cp.constraints.Inequality
        self._equal = [c for c in constraints if isinstance(c, kinds[0])]
        self._other = [c for c in constraints if isinstance(c, kinds[1])]
        self._known = len(self._equal) + len(self._other) == len(constraints)
        columns: Mapping[int, int] = {weights.id: 0}
        rows = [affine_rows(c.args[0] - c.args[1], columns, weights.size) for c in self._equal]
        self._rows = sp.vstack([r for r, _ in rows], format="csr") if rows else None
        self._sides = -np.concatenate([b for _, b in rows] or [np.zeros(0)])
        self._inside = self._levels = None
        if self._known and self._other and (found := _deep(weights, constraints)) is not None:
            self._inside = self._restored(found)
            levels = self._violations(self._inside)
            self._levels = levels if all(np.all(v < 0) for v in levels) else None

    def moved(self, w: Floats) -> Floats:
        """Return weights that satisfy the constraints, as far as a point inside is known."""
        w = self._restored(w)
        if self._levels is None or self._inside is None:
            return w
        t = 1.0
        for there, here in zip(self._levels, self._violations(w), strict=True):
            over = here > 0
            if np.any(over):
                t = min(t, float((there[over] / (there[over] - here[over])).min()))
        return w if t == 1.0 else self._inside + t * (1.0 - 1e-12) * (w - self._inside)

    def _restored(self, w: Floats) -> Floats:
        for _ in range(2):
            if self._rows is not None:
                missing = self._sides - self._rows @ w
                w = w + lsqr(self._rows, missing, atol=1e-15, btol=1e-15)[0]
        return w

    def _violations(self, w: Floats) -> list[Floats]:
        self._w.save_value(w)
        with np.errstate(all="ignore"):
            return [np.ravel(c.args[0].value - c.args[1].value) for c in self._other]


def _deep(weights: Any, constraints: Sequence[Any]) -> Floats | None:
    """Return weights that satisfy the constraints with the most room; None if there are none."""
    p = compile_problem(cp.Constant(0.0) + 0.0 * cp.sum(weights), constraints, [weights])
    n = p.size
    one_sided = np.isfinite(p.lower) != np.isfinite(p.upper)
    margin = np.where(one_sided, np.where(np.isfinite(p.lower), -1.0, 1.0), 0.0)
    open_ended = np.flatnonzero(p.lb < p.ub)
    low, high = open_ended[np.isfinite(p.lb[open_ended])], open_ended[np.isfinite(p.ub[open_ended])]
    eye = sp.eye_array(n, format="csr")
    blocks = [
        sp.hstack([p.A, margin[:, None]]),
        sp.hstack([eye[low], -np.ones((len(low), 1))]),
        sp.hstack([eye[high], np.ones((len(high), 1))]),
    ]
    cones = Cones.none(n + 1)
    if p.is_conic:
        wider = sp.csr_array(sp.hstack([p.cones.matrix, -p.cones.centre[:, None]]))
        cones = Cones(wider, p.cones.side, p.cones.blocks)
    nothing = np.inf
    found = solve(
        Program(
            P=sp.diags_array(np.r_[np.full(n, 1e-6), 0.0], format="csc"),
            q=np.r_[np.zeros(n), -1.0],
            l1=np.zeros(n + 1),
            A=sp.csr_array(sp.vstack(blocks)),
            lower=np.r_[p.lower, p.lb[low], np.full(len(high), -nothing)],
            upper=np.r_[p.upper, np.full(len(low), nothing), p.ub[high]],
            lb=np.r_[p.lb, -nothing],
            ub=np.r_[p.ub, 1.0],
            cones=cones,
        )
    )
    if found.status not in ("optimal", "inaccurate") or not found.x[-1] > 0:
        return None
    start = p.columns[weights.id]
    return np.asarray(found.x[start : start + weights.size])
