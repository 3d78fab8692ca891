"""The reference: rebuild the whole CVXPY problem and hand it to any solver CVXPY knows."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Floats
from structopt.backends.base import Backend, Compiled, MasterSolution, Status
from structopt.master.cuts import Cuts
from structopt.master.program import Program

if TYPE_CHECKING:
    from structopt.master.declare import RestrictedMaster

logger = logging.getLogger(__name__)

_STATUS: dict[str, Status] = {
    "optimal": "optimal",
    "optimal_inaccurate": "inaccurate",
    "user_limit": "inaccurate",
    "infeasible": "infeasible",
    "infeasible_inaccurate": "infeasible",
    "unbounded": "unbounded",
    "unbounded_inaccurate": "unbounded",
}

_FAR = 100.0
"""A multiple of the largest value of a variable that no epigraph of a solution comes near."""


_TIME_LIMIT = {
    "CLARABEL": "time_limit",
    "HIGHS": "time_limit",
    "OSQP": "time_limit",
    "SCS": "time_limit_secs",
}
"""What solvers call their limit of time; others are waited for, and left behind."""


class CVXPY(Backend):
    """CVXPY from scratch in every round: slow, general, and the truth for the other backends.

    Parameters
    ----------
    solver : str or solver object, optional
        Any solver installed for CVXPY, commercial ones included; None takes HiGHS for linear
        masters and Clarabel for the others (CVXPY's own choice, OSQP, is less accurate).
    options : mapping, optional
        Passed to ``problem.solve`` as they are.

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = so.datasets.make_chain_crf(8, n_features=5, n_relevant=3, seed=0)
    >>> slow = so.CVXPY(solver="CLARABEL")
    >>> result = so.StructuredClassifier(so.Chain(), so.M3N(C=0.5), backend=slow).fit(X, Y).result_
    >>> result.backend, result.certificate.certified
    ('cvxpy', True)
    """

    name = "cvxpy"
    takes_quadratic = True
    takes_conic = True

    def __init__(self, *, solver: Any = None, options: dict[str, Any] | None = None) -> None:
        self.solver, self.options = solver, options

    def refusal(self, program: Program, samples: Sequence[Cuts] = ()) -> str | None:
        """Return why the solver cannot be used, None if it can."""
        import cvxpy as cp

        if isinstance(self.solver, str) and self.solver.upper() not in cp.installed_solvers():
            return f"CVXPY has no solver {self.solver!r} here; it has {cp.installed_solvers()}."
        return super().refusal(program, samples)

    def start(self, master: Compiled) -> None:
        """Bind a master; its pool is read again at every solve."""
        self._master = cast("RestrictedMaster", master)

    def append(self, rows: Cuts) -> None:
        """Nothing to do: the problem is rebuilt from the master's pool."""

    def delete(self, keep: NDArray[np.bool_]) -> None:
        """Nothing to do: the problem is rebuilt from the master's pool."""

    def solve(self, *, tolerance: float, time_limit: float | None = None) -> MasterSolution:
        """Rebuild and solve; the solver's own default tolerances apply."""
        import cvxpy as cp

        master = self._master
        problem, blocks = master.problem()
        linear = master.program.is_linear and not master.program.is_conic
        solvers = [self.solver] if self.solver else [*[cp.HIGHS] * linear, cp.CLARABEL]
        for solver in solvers:
            options = dict(self.options or {})
            if time_limit is not None and solver in _TIME_LIMIT:
                options.setdefault(_TIME_LIMIT[solver], time_limit)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # inaccuracy is judged by the certificate
                    problem.solve(solver=solver, **options)
                break
            except (cp.SolverError, cp.DCPError, TypeError, ValueError, ArithmeticError) as error:
                message = str(error)  # CVXPY 1.9's way to HiGHS fails on sum_largest of abs
        else:
            return self._nothing("failed", message)
        status = _STATUS.get(problem.status, "failed")
        if status in ("infeasible", "unbounded", "failed") or problem.value is None:
            return self._nothing(status, f"CVXPY status {problem.status!r}")
        x = np.zeros(master.size)
        for variable in master.variables():
            start = master.columns[variable.id]
            if variable.value is not None:  # CVXPY leaves out variables that nothing touches
                x[start : start + variable.size] = np.ravel(variable.value, order="F")
        duals = np.zeros(len(master.pool))
        for mine, constraints in blocks:
            for side, constraint in enumerate(constraints):
                value = np.ravel(np.asarray(constraint.dual_value, dtype=np.float64))
                equality = isinstance(constraint, cp.constraints.Equality)
                duals[mine] += -value if side == 1 or equality else value
        iterations = problem.solver_stats.num_iters if problem.solver_stats is not None else 0
        return MasterSolution(status, x, duals, self._static_duals(x, duals), int(iterations or 0))

    def _static_duals(self, x: Floats, cut_duals: Floats) -> Floats | None:
        """Return multipliers of the compiled static rows that go with those of the cuts.

        CVXPY reports duals of the constraints as they were written; the rows they were lowered to
        get theirs from the problem that remains when the cuts are priced into the objective.
        """
        from structopt.backends.clarabel import Clarabel

        program = self._master.program
        if not program.static.shape[0]:
            return None
        cost = program.q - self._master.pool.cuts.pull(program, cut_duals)
        # roundings of the multipliers must not leave a column without a minimum
        far = _FAR * (1.0 + float(np.abs(x).max(initial=0.0)))
        lb, ub = np.maximum(program.lb, -far), np.minimum(program.ub, far)
        rest = Clarabel()
        rest.start(SimpleNamespace(program=replace(program, q=cost, lb=lb, ub=ub)))
        return rest.solve(tolerance=1e-9).static_duals

    def _nothing(self, status: Status, message: str) -> MasterSolution:
        empty = np.zeros(len(self._master.pool))
        return MasterSolution(status, np.zeros(self._master.size), empty, None, 0, message)
