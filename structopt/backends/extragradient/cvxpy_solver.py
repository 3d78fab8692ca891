r"""The extragradient method as a solver of CVXPY: any linear or quadratic problem.

>>> import cvxpy as cp
>>> x = cp.Variable(2, nonneg=True)
>>> row = x[0] + 2 * x[1] >= 4
>>> problem = cp.Problem(cp.Minimize(cp.sum(x)), [row])
>>> float(round(problem.solve(solver=ExtragradientSolver()), 4)), problem.status
(2.0, 'optimal')
>>> x.value.round(3), round(float(row.dual_value), 3)
(array([0., 2.]), 0.5)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import cvxpy.settings as s
import numpy as np
import scipy.sparse as sp
from cvxpy.error import SolverError
from cvxpy.reductions.solution import Solution, failure_solution
from cvxpy.reductions.solvers import utilities
from cvxpy.reductions.solvers.qp_solvers.qp_solver import QpSolver

from structopt.arrays import Floats
from structopt.backends.extragradient import solver
from structopt.backends.extragradient.outcome import Callback, Memory
from structopt.backends.extragradient.progress import Table
from structopt.backends.extragradient.recipe import Variant
from structopt.errors import InvalidInputError
from structopt.master.program import Program
from structopt.parameters import Parameters

_STATUS = {
    "optimal": s.OPTIMAL,
    "max_iter": s.USER_LIMIT,
    "time_limit": s.USER_LIMIT,
    "callback": s.USER_LIMIT,
    "stopped": s.USER_LIMIT,
    "infeasible": s.INFEASIBLE,
    "unbounded": s.UNBOUNDED,
}
_NEARLY = 1e3
"""A solve that ends at a limit within this many tolerances is "optimal_inaccurate"."""
_ENDLESS = 2**62
"""Steps that nobody waits for."""
_SYNONYMS = {"max_iters": "max_iter", "eps": "tol", "time_limit_secs": "time_limit"}
"""What other solvers of CVXPY call the same options."""


class ExtragradientSolver(Parameters, QpSolver):  # type: ignore[misc]
    r"""min 1/2 x'Px + q.x  s.t.  Ax = b, Fx <= g, lb <= x <= ub, by extragradient steps.

    ``problem.solve(solver=so.ExtragradientSolver())``; every parameter can also be given to
    ``solve``. To train models with it, say ``backend="extragradient"``.

    Parameters
    ----------
    tol : float
        Largest relative primal and dual residual and gap of the answer, recomputed from the problem
        as given (:mod:`structopt.backends.extragradient.certificate`). Also ``eps``.
    max_iter : int
        Also ``max_iters``.
    time_limit : float, optional
        Seconds.
    variant : {"alternating", "korpelevich", "paper"}
        See :mod:`structopt.backends.extragradient.solver`.
    without : sequence of str
        Ingredients to leave out: "presolve", "scaling", ...
        (:class:`~structopt.backends.extragradient.recipe.Recipe`).
    every : int
        Steps between two looks at the residuals.
    callback : callable, optional
        Gets an :class:`~structopt.backends.extragradient.outcome.Iterate` at every look; a true
        answer ends the solve.

    Notes
    -----
    ``verbose=True`` logs a table of progress. ``warm_start=True`` starts from the last solution of
    the same `cvxpy.Problem`, with its scaling, weight and step. At a limit the status is
    "user_limit", or "optimal_inaccurate" if the error is within 1,000 times `tol`; the point is
    there in both cases. "infeasible" and "unbounded" are proved by a ray.
    ``problem.solver_stats`` has the time, the steps, and in ``extra_stats`` the
    :class:`~structopt.backends.extragradient.outcome.Solution` with residuals, products and ray.
    """

    MIP_CAPABLE = False
    BOUNDED_VARIABLES = True

    def __init__(
        self,
        *,
        tol: float = 1e-6,
        max_iter: int = 10_000_000,
        time_limit: float | None = None,
        variant: Variant = "alternating",
        without: Sequence[str] = (),
        every: int = solver.EVERY,
        callback: Callback | None = None,
    ) -> None:
        self.tol, self.max_iter, self.time_limit = tol, max_iter, time_limit
        self.variant, self.without = variant, without
        self.every, self.callback = every, callback

    def __eq__(self, other: object) -> bool:
        # CVXPY keeps a compiled problem, and the last solution, for as long as the solver is equal
        return type(other) is type(self) and self.get_params() == other.get_params()

    def __hash__(self) -> int:
        return hash(type(self))

    def name(self) -> str:
        """Return the name that CVXPY prints; official names are refused."""
        return "STRUCTOPT_EXTRAGRADIENT"

    def import_solver(self) -> None:
        """Nothing to import."""

    def cite(self, data: Any) -> str:
        """Return the paper."""
        return (
            "@inproceedings{wang2009large, title={Large-Margin Structured Prediction via Linear "
            "Programming}, author={Wang, Zhuoran and Shawe-Taylor, John}, booktitle={AISTATS}, "
            "year={2009}}"
        )

    def solve_via_data(
        self,
        data: Any,
        warm_start: bool,
        verbose: bool,
        solver_opts: Any,
        solver_cache: Any = None,
    ) -> Any:
        """Solve CVXPY's standard form; called by CVXPY."""
        given = _renamed(solver_opts)
        options: dict[str, Any] = self.get_params() | given
        unknown = sorted(set(options) - set(self.get_params()))
        if unknown:
            raise SolverError(
                f"Extragradient has no option {unknown[0]!r}; it has {sorted(self.get_params())}."
            )
        options["tolerance"] = _valid(options).pop("tol")
        problem = _problem(data)
        if verbose:
            table = Table(s.LOGGER.info, problem, options["callback"])
            options["callback"] = table
        start, memory = self._cached(problem, solver_cache if warm_start else None)
        try:
            found = solver.solve(problem, start=start, memory=memory, **options)
            if found.status == "unbounded":
                # a ray of descent proves nothing where no point is feasible: asked without costs
                nothing = np.zeros(len(problem.q))
                bare = replace(problem, P=sp.csr_array(problem.P.shape), q=nothing, l1=nothing)
                options |= {"callback": None, "variant": "alternating"}
                if solver.solve(bare, **options).status == "infeasible":
                    found = replace(found, status="infeasible")
        except InvalidInputError as error:
            raise SolverError(str(error)) from error
        status = _STATUS[found.status]
        if status == s.USER_LIMIT and found.error <= _NEARLY * options["tolerance"]:
            status = s.OPTIMAL_INACCURATE
        if verbose:
            table.end(found)
        if solver_cache is not None and status in s.SOLUTION_PRESENT:
            solver_cache[self.name()] = found
        return {"status": status, "found": found}

    def invert(self, solution: Any, inverse_data: Any) -> Any:
        """Return point and duals in CVXPY's terms; called by CVXPY."""
        status, found = solution["status"], solution["found"]
        attributes = {
            s.SOLVE_TIME: found.seconds,
            s.NUM_ITERS: found.iterations,
            s.EXTRA_STATS: found,
        }
        if status not in s.SOLUTION_PRESENT:
            return failure_solution(status, attributes)
        n_equal = inverse_data[self.DIMS].zero
        # CVXPY's Lagrangian is f + y.(Ax - b), ours f - y.(Ax - b)
        duals: dict[int, Floats] = {}
        for values, constraints in (
            (-found.y[:n_equal], inverse_data[self.EQ_CONSTR]),
            (-found.y[n_equal:], inverse_data[self.NEQ_CONSTR]),
        ):
            take = utilities.extract_dual_value
            duals |= utilities.get_dual_values(values, take, constraints)
        value = found.primal + inverse_data[s.OFFSET]
        return Solution(status, value, {inverse_data[self.VAR_ID]: found.x}, duals, attributes)

    def _cached(
        self, problem: Program, cache: Any
    ) -> tuple[tuple[Floats, Floats] | None, Memory | None]:
        found = None if cache is None else cache.get(self.name())
        shape = len(problem.q), len(problem.lower)
        if found is None or (len(found.x), len(found.y)) != shape:
            return None, None
        return (found.x, found.y), found.memory


def _renamed(given: Any) -> dict[str, Any]:
    """Return what was given to ``solve`` by our names; refuse one option under two names."""
    options: dict[str, Any] = {}
    for name, value in given.items():
        ours = _SYNONYMS.get(name, name)
        if ours in options:
            names = " and ".join(repr(n) for n in given if _SYNONYMS.get(n, n) == ours)
            raise SolverError(f"{ours!r} is given twice: {names} are the same.")
        options[ours] = value
    return options


def _valid(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options, or refuse numbers with which a solve would never end or never begin."""
    for name, least in (("tol", 0.0), ("max_iter", 1), ("every", 1), ("time_limit", 0.0)):
        value = options[name]
        if value is None and name == "time_limit":
            continue
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not number or not value >= least:
            raise SolverError(f"{name} must be a number from {least:g} on; got {value!r}.")
        if name == "tol" and value == np.inf:
            raise SolverError("tol must be finite: within an infinite one any point is optimal.")
        if name in ("max_iter", "every"):  # 1e6 is a count, too
            if value != np.inf and value != int(value):
                raise SolverError(f"{name} must be a whole number; got {value!r}.")
            options[name] = int(min(value, _ENDLESS))
    if options["callback"] is not None and not callable(options["callback"]):
        raise SolverError(f"callback must be a function or None; got {options['callback']!r}.")
    return options


def _problem(data: Any) -> Program:
    A, F = data[s.A], data[s.F]
    n = A.shape[1]
    lb, ub = data[s.LOWER_BOUNDS], data[s.UPPER_BOUNDS]
    P = sp.csr_array((n, n)) if data.get(s.P) is None else sp.csr_array(data[s.P])
    return Program(
        P=P,
        q=np.asarray(data[s.Q], dtype=np.float64),
        l1=np.zeros(n),
        A=sp.csr_array(sp.vstack([A, F])),
        lower=np.concatenate([data[s.B], np.full(F.shape[0], -np.inf)]),
        upper=np.concatenate([data[s.B], data[s.G]]),
        lb=np.full(n, -np.inf) if lb is None else np.asarray(lb, dtype=np.float64),
        ub=np.full(n, np.inf) if ub is None else np.asarray(ub, dtype=np.float64),
    )
