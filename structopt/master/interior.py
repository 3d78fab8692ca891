r"""Clarabel, an interior point method, on a programme of :mod:`structopt.master.program`.

    min  1/2 x'P x + q.x    s.t.  A x + s = b,    s in {0}^k x R_+^m x K

An equality row is a row of the zero cone; each finite side of another row or of a bound is a row of
the nonnegative cone; the programme's own cones come last.

>>> p = Program(P=sp.csc_array(np.eye(2)), q=np.zeros(2), l1=np.zeros(2), offset=0.0,
...             A=sp.csr_array(np.array([[1.0, 1.0]])), lower=np.array([4.0]),
...             upper=np.array([np.inf]), lb=np.full(2, -np.inf), ub=np.full(2, np.inf))
>>> found = solve(p)
>>> found.status, found.x.round(4), found.duals.round(4)
('optimal', array([2., 2.]), array([2.]))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.errors import OutOfMemoryError
from structopt.master.cones import Cone, Cones
from structopt.master.program import Program, Status

_STATUS: dict[str, Status] = {
    "Solved": "optimal",
    "AlmostSolved": "inaccurate",
    "MaxIterations": "inaccurate",
    "MaxTime": "inaccurate",
    "InsufficientProgress": "inaccurate",
    "PrimalInfeasible": "infeasible",
    "AlmostPrimalInfeasible": "infeasible",
    "DualInfeasible": "unbounded",
    "AlmostDualInfeasible": "unbounded",
}


MOST = 2.0**34
"""Bytes up to which semidefinite matrices are handed to the solver."""


@dataclass(frozen=True)
class Solved:
    """What the solver said; multipliers of the rows and then of the cones, y >= 0 on lower sides.

    ``x`` is a ray where the status is "unbounded".
    """

    status: Status
    x: Floats
    duals: Floats
    iterations: int
    message: str


def settings(gap: float = 1e-9, feasible: float = 1e-9) -> clarabel.DefaultSettings:
    """Return settings for a relative gap and a relative violation of rows."""
    given = clarabel.DefaultSettings()
    given.verbose = False
    given.max_threads = 1
    given.tol_gap_abs = given.tol_gap_rel = gap
    given.tol_feas = feasible
    return given


def solve(problem: Program, how: clarabel.DefaultSettings | None = None) -> Solved:
    """Solve a programme without l1 terms.

    Raises
    ------
    OutOfMemoryError
        A matrix that is to be positive semidefinite is too large: Clarabel would end the process.
    """
    _check_memory(problem.cones)
    equal = problem.lower == problem.upper
    below = np.flatnonzero(np.isfinite(problem.lower) & ~equal)
    above = np.flatnonzero(np.isfinite(problem.upper) & ~equal)
    equal = np.flatnonzero(equal)
    floor, ceiling = np.isfinite(problem.lb), np.isfinite(problem.ub)
    identity = sp.eye_array(problem.size, format="csr")
    A, cones = problem.A, problem.cones
    blocks = [A[equal], -A[below], A[above], -identity[floor], identity[ceiling]]
    sides = [
        problem.lower[equal], -problem.lower[below], problem.upper[above],
        -problem.lb[floor], problem.ub[ceiling],
    ]  # fmt: skip
    linear = sum(len(side) for side in sides)
    kinds = [clarabel.ZeroConeT(len(equal)), clarabel.NonnegativeConeT(linear - len(equal))]
    if problem.is_conic:
        blocks, sides = [*blocks, -cones.matrix], [*sides, -cones.side]
        kinds += [_clarabel(cone) for cone in cones.blocks]
    solver = clarabel.DefaultSolver(
        sp.csc_matrix(sp.triu(problem.P)),
        problem.q,
        sp.csc_matrix(sp.vstack(blocks)),
        np.concatenate(sides),
        kinds,
        settings() if how is None else how,
    )
    result = solver.solve()
    # Clarabel's Lagrangian is f + z.(Az - b): z is minus our multiplier, except on lower sides,
    # whose rows were negated, and so were those of the cones.
    rows = len(problem.lower)
    duals = np.zeros(rows + len(cones))
    z = np.asarray(result.z)
    ends = np.cumsum([len(equal), len(below), len(above)])
    duals[equal] = -z[: ends[0]]
    duals[below] = z[ends[0] : ends[1]]
    duals[above] -= z[ends[1] : ends[2]]
    duals[rows:] = z[linear:]
    return Solved(
        _STATUS.get(str(result.status), "failed"),
        np.asarray(result.x),
        duals,
        int(result.iterations),
        f"Clarabel: {result.status}.",
    )


def _check_memory(cones: Cones) -> None:
    # Clarabel keeps a dense triangle over the entries of each matrix, and a Rust allocation that
    # fails ends the process
    sides = [cone.side for cone in cones.blocks if cone.kind == "psd"]
    needed = sum(4.0 * (n * (n + 1) / 2) ** 2 for n in sides)
    if needed > MOST:
        raise OutOfMemoryError(
            f"An interior point method needs {needed / 2**30:.0f} GiB for a semidefinite matrix of "
            f"side {max(sides)}: use fewer features, or a norm without such a matrix."
        )


def _clarabel(cone: Cone) -> Any:
    if cone.kind == "soc":
        return clarabel.SecondOrderConeT(cone.size)
    if cone.kind == "psd":
        return clarabel.PSDTriangleConeT(cone.side)
    if cone.kind == "exp":
        return clarabel.ExponentialConeT()
    if len(cone.powers) == 2:
        return clarabel.PowerConeT(cone.powers[0])
    return clarabel.GenPowerConeT(list(cone.powers), 1)
