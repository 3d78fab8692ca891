r"""The value at weights w, whatever the other variables are: a small convex programme without cuts.

    V(w) = min over all columns u but w of the objective, s.t. static rows,
           and  extra.u >= side - factor (w . delta)  at the most violated outputs.

Any u that satisfies the rows gives an upper bound on the optimum. The rows are asked for with a
little room, so that what a solver misses leaves u feasible; the objective is then taken at the
variables as they were declared, never from the columns that CVXPY added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from structopt.arrays import Floats
from structopt.master.cones import Cone, Cones
from structopt.master.cuts import Cuts
from structopt.master.interior import settings, solve
from structopt.master.program import Program

ROOM = 1e-9
"""Room that rows are asked for with, as a share of their sides."""

_NEAR = 1e-8
"""Distance from 0, or from an end of its range, at which a column may be meant to be there."""


def needs(rows: Cuts) -> tuple[Floats, Floats]:
    """Return what ``extra.x`` must be at least and at most at the weights that were asked about."""
    spread = np.abs(rows.factor) * rows.excess
    given = rows.factor * rows.score
    return rows.lower - given + spread, rows.upper - given - spread


class Inner:
    """The programme of the columns u at fixed weights.

    Parameters
    ----------
    program : Program
    declared : array of bool
        Columns of declared variables; others count only where they are tied to these.
    fixed : array of bool
        Columns that oracles are asked about.
    """

    def __init__(
        self, program: Program, declared: NDArray[np.bool_], fixed: NDArray[np.bool_]
    ) -> None:
        self._program = program
        blocks = [cone.size for cone in program.cones.blocks]
        block = np.repeat(len(program.lower) + np.arange(len(blocks)), blocks)
        group = np.concatenate([np.arange(len(program.lower)), block]).astype(np.int64)
        n_groups = len(program.lower) + len(blocks)
        rows = sp.coo_array(program.static)
        P = sp.coo_array(program.P)
        # columns that rows, cones or P tie together; w is given and ties nothing
        tie = ~fixed[rows.col]
        both = ~fixed[P.row] & ~fixed[P.col]
        n = program.size
        a = np.concatenate([group[rows.row[tie]] + n, P.row[both]])
        b = np.concatenate([rows.col[tie], P.col[both]])
        graph = sp.coo_array((np.ones(len(a)), (a, b)), shape=(n + n_groups,) * 2)
        _, part = connected_components(graph, directed=False)
        mine = np.unique(part[:n][declared & ~fixed])
        self.columns = np.flatnonzero(np.isin(part[:n], mine) & ~fixed)
        kept = np.isin(part[n:], mine)
        self._rows = np.flatnonzero(kept[: len(program.lower)])
        cones = kept[len(program.lower) :]
        self._cone_rows = np.flatnonzero(np.repeat(cones, blocks))
        self._blocks: tuple[Cone, ...] = tuple(
            cone for cone, keep in zip(program.cones.blocks, cones, strict=True) if keep
        )

    @cached_property
    def _static(self) -> tuple[Any, Any]:
        p = self._program
        return p.A[self._rows], p.cones.matrix[self._cone_rows] if self._blocks else None

    def best(self, x: Floats, lifted: Sequence[Cuts]) -> Floats | None:
        """Return x with the other columns at their best for its weights; None if there are none."""
        for room in (ROOM, 0.0):
            program, _ = self._at(x, lifted, room)
            found = solve(_without_l1(program), settings(1e-10, 1e-10))
            if found.status in ("optimal", "inaccurate") and np.all(np.isfinite(found.x)):
                return self._put(x, found.x)
            if found.status == "unbounded":
                return None
        return None

    def deepest(self, x: Floats, lifted: Sequence[Cuts]) -> tuple[Floats, float] | None:
        """Return x with the other columns where all rows have the most room, and how much."""
        program, equal = self._at(x, lifted, 0.0)
        found = roomiest(program, equal)
        return None if found is None else (self._put(x, found[0]), found[1])

    def violation(self, x: Floats, lifted: Sequence[Cuts]) -> float:
        """Return by how much a point breaks the rows of cuts and its static rows and bounds."""
        p, (A, C) = self._program, self._static
        value, rows = A @ x, self._rows
        parts = [p.lower[rows] - value, value - p.upper[rows], p.lb - x, x - p.ub]
        for cuts in lifted:
            (at_least, at_most), given = needs(cuts), cuts.extra @ x
            parts += [at_least - given, given - at_most]
        worst = max(0.0, *(float(part.max(initial=0.0)) for part in parts))
        if self._blocks:
            side = p.cones.side[self._cone_rows]
            worst = max(worst, -Cones(C, side, self._blocks).depth(C @ x - side))
        return worst

    def broken(self, x: Floats, lifted: Sequence[Cuts]) -> float:
        """Return by how much a point breaks rows of cuts, as a share of their sides."""
        worst = 0.0
        for cuts in lifted:
            (at_least, at_most), given = needs(cuts), cuts.extra @ x
            for over, side in ((at_least - given, at_least), (given - at_most, at_most)):
                share = over / np.maximum(1.0, np.abs(np.where(np.isfinite(side), side, 0.0)))
                worst = max(worst, float(share.max(initial=0.0)))
        return worst

    def at_ends(self, point: Floats) -> Floats:
        """Return a point with what is near 0 or an end of its range there.

        A solver leaves 1e-11 where 0 is meant, and ``xi_1 = xi_2`` is then broken by all of it.
        """
        p, u = self._program, point[self.columns]
        near = _NEAR * (1.0 + np.abs(u).max(initial=0.0))
        lb, ub = p.lb[self.columns], p.ub[self.columns]
        u = np.clip(np.where(np.abs(u) <= near, 0.0, u), lb, ub)
        u = np.where(u - lb <= near, lb, np.where(ub - u <= near, ub, u))
        moved = point.copy()
        moved[self.columns] = u
        return moved

    def _put(self, x: Floats, u: Floats) -> Floats:
        p, point = self._program, x.copy()
        inside = np.clip(u[: len(self.columns)], p.lb[self.columns], p.ub[self.columns])
        point[self.columns] = inside
        return point

    def _at(self, x: Floats, lifted: Sequence[Cuts], room: float) -> tuple[Program, Any]:
        """Return the programme of the other columns at the weights of x; also its equalities."""
        p, u = self._program, self.columns
        bare = x.copy()
        bare[u] = 0.0
        A, C = self._static
        shift = A @ bare
        extras, lower, upper = (
            [A[:, u]],
            [p.lower[self._rows] - shift],
            [p.upper[self._rows] - shift],
        )
        for rows in lifted:
            at_least, at_most = needs(rows)
            rest = rows.extra @ bare
            extras.append(rows.extra[:, u])
            lower.append(at_least - rest)
            upper.append(at_most - rest)
        low, high = np.concatenate(lower), np.concatenate(upper)
        equal = low == high
        give = room * (
            1.0 + np.abs(np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, 0.0)))
        )
        give = np.where(equal | (high - low < 4 * give), 0.0, give)
        cones = Cones.none(len(u))
        if self._blocks:
            side = p.cones.side[self._cone_rows] - C @ bare
            cones = Cones(sp.csr_array(C[:, u]), side, self._blocks)
            cones = replace(cones, side=side + room * cones.centre)
        P = sp.csr_array(p.P)[u]
        program = Program(
            P=sp.csc_array(P[:, u]), q=p.q[u] + P @ bare, l1=p.l1[u],
            A=sp.csr_array(sp.vstack(extras)), lower=low + give, upper=high - give,
            lb=p.lb[u], ub=p.ub[u], cones=cones,
        )  # fmt: skip
        return program, equal


def roomiest(program: Program, equal: NDArray[np.bool_]) -> tuple[Floats, float] | None:
    """Return where all rows but the ``equal`` ones, bounds and cones have the most room; how much.

    It is 1 at most, and negative where no point satisfies all.
    """
    n = program.size
    below = np.isfinite(program.lower) & ~equal
    above = np.isfinite(program.upper) & ~equal
    A = sp.csr_array(
        sp.vstack([
            sp.hstack([program.A, -1.0 * below[:, None]]),
            sp.hstack([program.A[above], np.ones((int(above.sum()), 1))]),
        ])
    )  # fmt: skip
    upper = np.where(above, np.inf, program.upper)
    cones = program.cones
    if len(cones):
        wider = sp.csr_array(sp.hstack([cones.matrix, -cones.centre[:, None]]))
        cones = replace(cones, matrix=wider)
    ends = np.flatnonzero(program.lb < program.ub)
    low = ends[np.isfinite(program.lb[ends])]
    bounds = sp.hstack([sp.eye_array(n, format="csr")[low], -np.ones((len(low), 1))], format="csr")
    found = solve(
        Program(
            P=sp.diags_array(np.r_[np.full(n, 1e-6), 0.0], format="csc"),
            q=np.r_[np.zeros(n), -1.0],
            l1=np.zeros(n + 1),
            A=sp.csr_array(sp.vstack([A, bounds])),
            lower=np.r_[program.lower, np.full(int(above.sum()), -np.inf), program.lb[low]],
            upper=np.r_[upper, program.upper[above], np.full(len(low), np.inf)],
            lb=np.r_[program.lb, -np.inf],
            ub=np.r_[program.ub, 1.0],
            cones=cones if len(cones) else Cones.none(n + 1),
        )
    )
    if found.status not in ("optimal", "inaccurate") or not np.all(np.isfinite(found.x)):
        return None
    return found.x[:-1], float(found.x[-1])


def _without_l1(program: Program) -> Program:
    """Return a programme with epigraphs ``t >= |x|`` in the place of l1 terms, columns first."""
    which = np.flatnonzero(program.l1)
    if not len(which):
        return program
    n, k = program.size, len(which)
    pick = sp.eye_array(n, format="csr")[which]
    eye = sp.eye_array(k)
    wider = sp.csr_array((program.A.shape[0], k))
    cones = program.cones
    if len(cones):
        matrix = sp.hstack([cones.matrix, sp.csr_array((len(cones), k))])
        cones = replace(cones, matrix=sp.csr_array(matrix))
    free = np.full(2 * k, np.inf)
    return Program(
        P=sp.csc_array(sp.block_diag([program.P, sp.csc_array((k, k))])),
        q=np.r_[program.q, program.l1[which]],
        l1=np.zeros(n + k),
        A=sp.csr_array(sp.block_array([[program.A, wider], [-pick, eye], [pick, eye]])),
        lower=np.r_[program.lower, np.zeros(2 * k)],
        upper=np.r_[program.upper, free],
        lb=np.r_[program.lb, np.zeros(k)],
        ub=np.r_[program.ub, np.full(k, np.inf)],
        cones=cones if len(cones) else Cones.none(n + k),
    )
