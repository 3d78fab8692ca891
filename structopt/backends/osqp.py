r"""OSQP: linear and quadratic masters by operator splitting (ADMM).

OSQP cannot add rows, so the model is set up again for every solve and started from the last point
and multipliers. The tolerance is tightened a decade at a time with a polish after each: as soon as
the active set is guessed right the point is exact, and the slow tail of the splitting is never
walked (four times fewer steps on random masters; on L1 masters, where the plain method often ends
at its limit, 3,000 steps instead of 20,000 and more).

>>> import numpy as np, scipy.sparse as sp
>>> from types import SimpleNamespace
>>> from structopt.program import Program
>>> p = Program(P=sp.csc_array(np.eye(2)), q=np.zeros(2), l1=np.zeros(2), offset=0.0,
...             A=sp.csr_array(np.array([[1.0, 1.0]])), lower=np.array([4.0]),
...             upper=np.array([np.inf]), lb=np.full(2, -np.inf), ub=np.full(2, np.inf),
...             weights=slice(0, 2), slacks=np.zeros(0, int))
>>> backend = OSQP()
>>> backend.start(SimpleNamespace(program=p))
>>> solution = backend.solve(tolerance=1e-6)
>>> solution.status, solution.x.round(4), solution.static_duals.round(4)
('optimal', array([2., 2.]), array([2.]))
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import osqp
import scipy.sparse as sp
from osqp import SolverStatus

from structopt.backends.base import Status
from structopt.backends.rebuilt import Outcome, RebuiltBackend, Standard

_STATUS: dict[int, Status] = {
    SolverStatus.OSQP_SOLVED: "optimal",
    SolverStatus.OSQP_SOLVED_INACCURATE: "inaccurate",
    SolverStatus.OSQP_MAX_ITER_REACHED: "inaccurate",
    SolverStatus.OSQP_TIME_LIMIT_REACHED: "inaccurate",
    SolverStatus.OSQP_PRIMAL_INFEASIBLE: "infeasible",
    SolverStatus.OSQP_PRIMAL_INFEASIBLE_INACCURATE: "infeasible",
    SolverStatus.OSQP_DUAL_INFEASIBLE: "unbounded",
    SolverStatus.OSQP_DUAL_INFEASIBLE_INACCURATE: "unbounded",
}


class OSQP(RebuiltBackend):
    """Linear and quadratic masters by OSQP.

    Parameters
    ----------
    max_iter : int
        Splitting steps of one solve; a solve that needs more is "inaccurate".
    polish : bool
        Whether to solve for the guessed active set, which makes the point exact where the guess is
        right and changes nothing where it is wrong.
    """

    name = "osqp"

    def __init__(self, max_iter: int = 20_000, polish: bool = True) -> None:
        self.max_iter = max_iter
        self.polish = polish

    def _optimise(self, problem: Standard, tolerance: float, time_limit: float | None) -> Outcome:
        deadline = time.monotonic() + (1e9 if time_limit is None else time_limit)
        # OSQP tests residuals and gap each against eps_abs + eps_rel * scale; a tenth leaves room
        # for what is lost where the certificate makes the multipliers feasible.
        target = float(np.clip(0.1 * tolerance, 1e-9, 1e-2))
        solver = self._set_up(problem)
        steps = 0
        for eps in self._ladder(target):
            solver.update_settings(
                eps_abs=eps,
                eps_rel=eps,
                max_iter=max(1, self.max_iter - steps),
                time_limit=max(1e-6, deadline - time.monotonic()),  # 0 would be refused
            )
            result = solver.solve(raise_error=False)
            info = result.info
            steps += int(info.iter)
            residual = max(info.prim_res, info.dual_res, abs(info.duality_gap))
            solved = info.status_val == SolverStatus.OSQP_SOLVED
            if not solved or residual <= target * (1 + abs(info.obj_val)):
                break
        if info.status_val == SolverStatus.OSQP_SIGINT:  # OSQP caught the user's Ctrl-C
            raise KeyboardInterrupt
        return Outcome(
            status=_STATUS.get(info.status_val, "failed"),
            point=np.asarray(result.x),
            duals=-np.asarray(result.y)[: len(problem.lower)],
            iterations=steps,
            message=f"OSQP: {info.status}.",
        )

    def _ladder(self, target: float) -> list[float]:
        if not self.polish:  # nothing to gain from stopping on the way
            return [target]
        return [eps for eps in 10.0 ** -np.arange(2.0, 9.0) if eps > 1.01 * target] + [target]

    def _set_up(self, problem: Standard) -> Any:
        bounded = np.flatnonzero(np.isfinite(problem.lb) | np.isfinite(problem.ub))
        identity = sp.csr_array(
            (np.ones(len(bounded)), (np.arange(len(bounded)), bounded)),
            shape=(len(bounded), len(problem.q)),
        )
        solver = osqp.OSQP(algebra="builtin")
        # csc_matrix: OSQP 1.1 warns of a conversion for sparse arrays. No `rho`: OSQP would
        # factorise a second time. "Infeasible" and "unbounded" end a run, so they are asked for
        # more proof than the default 1e-4.
        solver.setup(
            sp.csc_matrix(sp.triu(problem.P)),
            problem.q,
            sp.csc_matrix(sp.vstack([problem.A, identity])),
            np.concatenate([problem.lower, problem.lb[bounded]]),
            np.concatenate([problem.upper, problem.ub[bounded]]),
            verbose=False,
            polishing=self.polish,
            eps_prim_inf=1e-6,
            eps_dual_inf=1e-6,
        )
        duals = np.concatenate([-problem.start_duals, np.zeros(len(bounded))])
        solver.warm_start(problem.start, duals)
        return solver
