r"""Clarabel: linear, quadratic and conic masters by an interior point method.

    min  1/2 z'P z + q.z    s.t.  A z + s = b,    s in {0}^k x R_+^m x K

See :mod:`structopt.master.interior`. Accurate and insensitive to scaling, but started cold each
time.

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

from structopt.backends.rebuilt import Outcome, RebuiltBackend, Start
from structopt.master.interior import settings, solve
from structopt.master.program import Program


class Clarabel(RebuiltBackend):
    """Linear, quadratic and conic masters by Clarabel.

    Parameters
    ----------
    max_iter : int
        Interior point steps of one solve; a solve that needs more is "inaccurate".
    threads : int
        Threads of the factorisation; 0 leaves the choice to Clarabel.
    """

    name = "clarabel"
    keeps_time = True
    takes_conic = True

    def __init__(self, max_iter: int = 200, threads: int = 1) -> None:
        self.max_iter = max_iter
        self.threads = threads

    def _optimise(
        self, problem: Program, start: Start, tolerance: float, time_limit: float | None
    ) -> Outcome:
        found = solve(problem, self._settings(tolerance, time_limit))
        return Outcome(found.status, found.x, found.duals, found.iterations, found.message)

    def settings(self, tolerance: float) -> dict[str, float]:
        """Return Clarabel's tolerances."""
        # An interior point method gains a digit a step or more, so a hundredth costs two steps;
        # 1e-8 is Clarabel's default, which it reaches on any master that is not badly scaled.
        tight = float(np.clip(1e-2 * tolerance, 1e-8, 1e-4))
        return {"tol_gap_abs": tight, "tol_gap_rel": tight, "tol_feas": min(tight, 1e-6)}

    def _settings(self, tolerance: float, time_limit: float | None) -> clarabel.DefaultSettings:
        tight = self.settings(tolerance)
        how = settings(tight["tol_gap_rel"], tight["tol_feas"])
        how.max_iter, how.max_threads = self.max_iter, self.threads
        if time_limit is not None:
            how.time_limit = time_limit
        return how
