r"""Clarabel: linear and quadratic masters by an interior point method.

    min  1/2 z'P z + q.z    s.t.  A z + s = b,    s in {0}^k x R_+^m

An equality row is a row of the zero cone; each finite side of another row or of a bound is a row of
the nonnegative cone. Accurate and insensitive to scaling, but started cold each time.

>>> import numpy as np, scipy.sparse as sp
>>> from types import SimpleNamespace
>>> from structopt.master.program import Program
>>> p = Program(P=sp.csc_array(np.eye(2)), q=np.zeros(2), l1=np.zeros(2), offset=0.0,
...             A=sp.csr_array(np.array([[1.0, 1.0]])), lower=np.array([4.0]),
...             upper=np.array([np.inf]), lb=np.full(2, -np.inf), ub=np.full(2, np.inf),
...             weights=slice(0, 2), slacks=np.zeros(0, int))
>>> backend = Clarabel()
>>> backend.start(SimpleNamespace(program=p))
>>> solution = backend.solve(tolerance=1e-6)
>>> solution.status, solution.x.round(4), solution.static_duals.round(4)
('optimal', array([2., 2.]), array([2.]))
"""

from __future__ import annotations

import clarabel
import numpy as np
import scipy.sparse as sp

from structopt.backends.base import Status
from structopt.backends.rebuilt import Outcome, RebuiltBackend, Start
from structopt.master.program import Program

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


class Clarabel(RebuiltBackend):
    """Linear and quadratic masters by Clarabel.

    Parameters
    ----------
    max_iter : int
        Interior point steps of one solve; a solve that needs more is "inaccurate".
    threads : int
        Threads of the factorisation; 0 leaves the choice to Clarabel.
    """

    name = "clarabel"
    keeps_time = True

    def __init__(self, max_iter: int = 200, threads: int = 1) -> None:
        self.max_iter = max_iter
        self.threads = threads

    def _optimise(
        self, problem: Program, start: Start, tolerance: float, time_limit: float | None
    ) -> Outcome:
        n = len(problem.q)
        equal = problem.lower == problem.upper
        below = np.flatnonzero(np.isfinite(problem.lower) & ~equal)
        above = np.flatnonzero(np.isfinite(problem.upper) & ~equal)
        equal = np.flatnonzero(equal)
        floor, ceiling = np.isfinite(problem.lb), np.isfinite(problem.ub)
        identity = sp.eye_array(n, format="csr")
        stacked = sp.vstack(
            [
                problem.A[equal],
                -problem.A[below],
                problem.A[above],
                -identity[floor],
                identity[ceiling],
            ]
        )
        sides = [
            problem.lower[equal],
            -problem.lower[below],
            problem.upper[above],
            -problem.lb[floor],
            problem.ub[ceiling],
        ]
        cones = [
            clarabel.ZeroConeT(len(equal)),
            clarabel.NonnegativeConeT(stacked.shape[0] - len(equal)),
        ]
        solver = clarabel.DefaultSolver(
            sp.csc_matrix(sp.triu(problem.P)),
            problem.q,
            sp.csc_matrix(stacked),
            np.concatenate(sides),
            cones,
            self._settings(tolerance, time_limit),
        )
        result = solver.solve()
        # Clarabel's Lagrangian is f + z.(Az - b): z is minus our multiplier, except on lower sides,
        # whose rows were negated.
        duals = np.zeros(len(problem.lower))
        z = np.asarray(result.z)
        ends = np.cumsum([len(equal), len(below), len(above)])
        duals[equal] = -z[: ends[0]]
        duals[below] = z[ends[0] : ends[1]]
        duals[above] -= z[ends[1] : ends[2]]
        return Outcome(
            status=_STATUS.get(str(result.status), "failed"),
            point=np.asarray(result.x),
            duals=duals,
            iterations=int(result.iterations),
            message=f"Clarabel: {result.status}.",
        )

    def _settings(self, tolerance: float, time_limit: float | None) -> clarabel.DefaultSettings:
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_iter = self.max_iter
        settings.max_threads = self.threads
        # An interior point method gains a digit a step or more, so a hundredth costs two steps;
        # 1e-8 is Clarabel's default, which it reaches on any master that is not badly scaled.
        tight = float(np.clip(1e-2 * tolerance, 1e-8, 1e-4))
        settings.tol_gap_abs = settings.tol_gap_rel = tight
        settings.tol_feas = min(tight, 1e-6)
        if time_limit is not None:
            settings.time_limit = time_limit
        return settings
