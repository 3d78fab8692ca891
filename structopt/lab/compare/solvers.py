r"""Who is compared: our backends, CVXPY's solvers, and classes of one's own.

A solver is an object with one method,

    solve(program, tolerance, time_limit) -> Answer, or (x, y)

where ``program`` is a :class:`~structopt.master.program.Program` and y has a multiplier for each
row: y >= 0 on an active lower side, y <= 0 on an active upper one. Optionally ``name``,
``settings(tolerance)`` (what the tolerance is turned into, for the table) and ``refusal(program)``
(a sentence, for what it does not take).

>>> import numpy as np
>>> class Guess:
...     def solve(self, program, tolerance, time_limit):
...         return np.zeros(program.size), np.zeros(len(program.lower))
>>> named({"guess": Guess()})["guess"].settings(1e-6)
{}
>>> named(["highs", "SCS"])["SCS"].settings(1e-6)
{'eps_abs': 1e-06, 'eps_rel': 1e-06, 'max_iters': 10000000}
"""

from __future__ import annotations

import importlib.util
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cloudpickle
import numpy as np

from structopt.arrays import Floats
from structopt.backends import registry
from structopt.backends.base import Backend, MasterSolution
from structopt.backends.extragradient.backend import ExtragradientBackend
from structopt.backends.extragradient.solver import solve as extragradient
from structopt.backends.highs import HiGHS
from structopt.errors import InvalidInputError
from structopt.lab.bench import lp_solvers
from structopt.lab.bench.lp_solvers import Claim
from structopt.lab.compare.answers import Answer, read
from structopt.lab.harness.store import plain
from structopt.master.program import Program

_MANY = 10**7  # iterations: the time limit is the limit
OPTIONS: dict[str, Callable[[float], dict[str, Any]]] = {
    "CLARABEL": lambda tol: {"tol_gap_abs": tol, "tol_gap_rel": tol, "tol_feas": tol},
    "OSQP": lambda tol: {"eps_abs": tol, "eps_rel": tol, "max_iter": _MANY},
    "SCS": lambda tol: {"eps_abs": tol, "eps_rel": tol, "max_iters": _MANY},
    "ECOS": lambda tol: {"abstol": tol, "reltol": tol, "feastol": tol, "max_iters": 10_000},
    "PIQP": lambda tol: {"eps_abs": tol, "eps_rel": tol},
    "PROXQP": lambda tol: {"eps_abs": tol, "eps_rel": tol},
    "HIGHS": lambda tol: {
        "primal_feasibility_tolerance": max(tol, 1e-10),
        "dual_feasibility_tolerance": max(tol, 1e-10),
    },
    "GUROBI": lambda tol: {"FeasibilityTol": tol, "OptimalityTol": tol, "BarConvTol": tol},
}
"""What a tolerance is turned into, by CVXPY's name of the solver; others get their defaults."""
LIMITS = {"CLARABEL": "time_limit", "OSQP": "time_limit", "SCS": "time_limit_secs",
          "HIGHS": "time_limit", "GUROBI": "TimeLimit"}  # fmt: skip
"""The option that is a limit in seconds; the process is ended in any case."""


class Solver:
    """Base of the solvers here, and what wraps an object of one's own."""

    name = "own"

    def __init__(self, own: Any = None) -> None:
        self.own = own

    def settings(self, tolerance: float) -> dict[str, Any]:
        """Return what a tolerance is turned into."""
        given = getattr(self.own, "settings", None)
        if given is None:
            return {}
        try:
            told: dict[str, Any] = plain(dict(given(tolerance)))
        except Exception as error:  # of whoever wrote it
            raise InvalidInputError(
                f"settings({tolerance:g}) of {self.name} must return a dict of words and numbers: "
                f"{type(error).__name__}: {error}"
            ) from None
        return told

    def refusal(self, program: Program) -> str:
        """Return why it does not take a programme, "" if it does."""
        given = getattr(self.own, "refusal", None)
        return str(given(program) or "") if given is not None else ""

    def solve(self, program: Program, tolerance: float, time_limit: float) -> Answer:
        """Solve from nothing."""
        found = self.own.solve(program, tolerance, time_limit)
        return read(found, size=program.size, rows=len(program.lower))


class OfBackend(Solver):
    """One of our backends, on its own."""

    def __init__(self, backend: str | Backend) -> None:
        super().__init__(backend)
        self.name = registry.make(backend).name

    def settings(self, tolerance: float) -> dict[str, Any]:
        """Return what its solver is told."""
        return dict(registry.make(self.own).settings(tolerance))

    def refusal(self, program: Program) -> str:
        """Return why the backend does not take it."""
        backend = registry.make(self.own)
        if backend.moving or backend.name == "cvxpy":
            return f"The {backend.name!r} backend takes masters with cuts, not bare programmes."
        return backend.refusal(program) or ""

    def solve(self, program: Program, tolerance: float, time_limit: float) -> Answer:
        """Start a backend on the programme, and solve it."""
        backend = registry.make(self.own)
        backend.start(SimpleNamespace(program=program))
        found = backend.solve(tolerance=tolerance, time_limit=time_limit)
        return answer(found, found.static_duals)


class OfExtragradient(OfBackend):
    """Our extragradient: programmes by the solver with its presolve, masters by its backend.

    Both promise what is checked here; unless asked, the backend promises masters an objective
    within the tolerance, which is less.
    """

    def __init__(self) -> None:
        super().__init__(ExtragradientBackend(promise="residuals"))

    def solve(self, program: Program, tolerance: float, time_limit: float) -> Answer:
        """Solve from nothing, within CPU seconds."""
        began = time.process_time()
        found = extragradient(
            program, tolerance=tolerance,
            callback=lambda _: time.process_time() - began > time_limit,
        )  # fmt: skip
        claim: Claim = "not converged"
        x, y = found.x, found.y
        if found.status == "optimal":
            claim = "optimal"
        elif found.status == "infeasible":
            claim, y = "infeasible", y if found.ray is None else found.ray
        elif found.status == "unbounded":
            claim, x = "unbounded", x if found.ray is None else found.ray
        said = f"{found.status} after {found.restarts} restarts"
        return Answer(x, y, claim, found.iterations, message=said, products=found.products)


def answer(found: MasterSolution, duals: Floats | None) -> Answer:
    """Return what a backend found as an answer."""
    claim: Claim = "not converged" if found.status == "inaccurate" else found.status
    y = np.zeros(0) if duals is None else duals
    return Answer(found.x, y, claim, found.iterations, message=found.message)


class OfCVXPY(Solver):
    """A solver as CVXPY calls it; CVXPY's own work is not counted."""

    def __init__(self, solver: str) -> None:
        super().__init__()
        self.name = solver

    def settings(self, tolerance: float) -> dict[str, Any]:
        """Return the options of :data:`OPTIONS`."""
        return OPTIONS[self.name](tolerance) if self.name in OPTIONS else {}

    def refusal(self, program: Program) -> str:
        """Return what is known before it is asked."""
        if self.name in ("SCIPY", "HIGHS", "GLOP", "PDLP", "GLPK", "CBC") and not program.is_linear:
            return f"CVXPY takes only linear programmes to {self.name}."
        return ""

    def solve(self, program: Program, tolerance: float, time_limit: float) -> Answer:
        """Have CVXPY compile, then time the solver's call alone."""
        problem, x, rows = _declared(program)
        options = self.settings(tolerance)
        if self.name in LIMITS:
            options[LIMITS[self.name]] = time_limit
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # inaccuracy is what is measured
            data, chain, inverse = problem.get_problem_data(self.name, solver_opts=options)
            began = time.process_time()
            raw = chain.solve_via_data(
                problem, data, warm_start=False, verbose=False, solver_opts=options
            )
            cpu = time.process_time() - began
            problem.unpack_results(raw, chain, inverse)
        claim: Claim = "failed"
        if problem.status == "optimal":
            claim = "optimal"
        elif problem.status in ("infeasible", "unbounded"):
            claim = problem.status
        elif problem.status in ("optimal_inaccurate", "user_limit"):
            claim = "not converged"
        iterations = problem.solver_stats.num_iters if problem.solver_stats is not None else None
        if x.value is None:
            nothing = np.full(program.size, np.nan), np.zeros(len(program.lower))
            return Answer(*nothing, claim, int(iterations or 0), cpu, str(problem.status))
        y = np.zeros(len(program.lower))
        for which, sign, constraint in rows:
            y[which] += sign * np.ravel(constraint.dual_value)
        return Answer(np.asarray(x.value), y, claim, int(iterations or 0), cpu, str(problem.status))


def _declared(program: Program) -> tuple[Any, Any, list[tuple[Any, float, Any]]]:
    """Return a programme as CVXPY's problem, its variable, and its rows with the sign of y."""
    import cvxpy as cp

    p, x = program, cp.Variable(program.size)
    cost = p.q @ x + p.offset
    if p.P.nnz:
        cost += 0.5 * cp.quad_form(x, cp.psd_wrap(p.P))
    if np.any(p.l1):
        cost += p.l1 @ cp.abs(x)
    equal = np.isfinite(p.lower) & (p.lower == p.upper)
    below = np.isfinite(p.lower) & ~equal
    above = np.isfinite(p.upper) & ~equal
    rows: list[tuple[Any, float, Any]] = []
    for which, sign in ((equal, -1.0), (below, 1.0), (above, -1.0)):
        if not which.any():
            continue
        at = np.flatnonzero(which)
        value = p.A[at] @ x
        side = p.upper[at] if which is above else p.lower[at]
        row = (
            value == side if which is equal else value >= side if which is below else value <= side
        )
        rows.append((at, sign, row))
    floor, ceiling = np.flatnonzero(np.isfinite(p.lb)), np.flatnonzero(np.isfinite(p.ub))
    bounds = [x[floor] >= p.lb[floor]] if len(floor) else []
    bounds += [x[ceiling] <= p.ub[ceiling]] if len(ceiling) else []
    return cp.Problem(cp.Minimize(cost), [*(c for *_, c in rows), *bounds]), x, rows


class ORToolsPDLP(Solver):
    """OR-tools' PDLP, in a process of its own."""

    name = "ortools-pdlp"

    def settings(self, tolerance: float) -> dict[str, Any]:
        """Return its relative tolerance."""
        return {"eps_optimal_relative": tolerance, "eps_optimal_absolute": 0.0}

    def refusal(self, program: Program) -> str:
        """Return that it takes linear programmes."""
        return "" if program.is_linear else "PDLP is called for linear programmes only."

    def solve(self, program: Program, tolerance: float, time_limit: float) -> Answer:
        """Hand the programme over by a file."""
        found = lp_solvers.ortools_pdlp(program, time_limit, tolerance)
        pair, steps = (found.x, found.y), found.iterations
        return Answer(*pair, found.claim, steps, found.seconds, products=found.products)


EXTRA: dict[str, Callable[[], Solver]] = {
    "highs-ipm": lambda: _called("highs-ipm", OfBackend(HiGHS(solver="ipm"))),
    "highs-pdlp": lambda: _called("highs-pdlp", OfBackend(HiGHS(solver="pdlp"))),
    "ortools-pdlp": ORToolsPDLP,
}
"""Further ways to solve a linear programme."""


def _called(name: str, solver: Solver) -> Solver:
    solver.name = name
    return solver


def every() -> list[str]:
    """Return all names: backends, CVXPY's installed solvers in capitals, and further ones."""
    import cvxpy as cp

    return [*registry.names(), *cp.installed_solvers(), *EXTRA]


def named(solvers: Sequence[Any] | Mapping[str, Any] | None) -> dict[str, Solver]:
    """Return solvers by name.

    Parameters
    ----------
    solvers : names, ``"file.py:Class"``, objects, or a mapping of names to any of these
        By default every backend and every installed solver of CVXPY.
    """
    if solvers is None:
        solvers = [name for name in every() if name not in EXTRA]
    if isinstance(solvers, str):
        raise InvalidInputError(f"solvers is a list of solvers, not {solvers!r}.")
    if not isinstance(solvers, Mapping):
        asked = [(_name(solver), solver) for solver in solvers]
        solvers = dict(asked)
        for name, solver in asked:
            if solvers[name] is not solver and solvers[name] != solver:
                raise InvalidInputError(
                    f"Two solvers have the name {name!r}: give them as a mapping of names."
                )
    if not solvers:
        raise InvalidInputError("There is no solver to compare.")
    return {str(name): _made(str(name), solver) for name, solver in solvers.items()}


def _name(solver: Any) -> str:
    if isinstance(solver, str):
        before, equals, _ = solver.partition("=")
        return before if equals else solver.rpartition(":")[2]
    return str(getattr(solver, "name", type(solver).__name__))


def _made(name: str, solver: Any) -> Solver:
    if isinstance(solver, str):
        where = solver.partition("=")[2] or solver
        if ":" in where:
            return _called(name, _wrapped(_new(where)))
        if where in EXTRA:
            return EXTRA[where]()
        if where in registry.names():
            return OfExtragradient() if where == "extragradient" else OfBackend(where)
        if where in every():
            return OfCVXPY(where)
        raise InvalidInputError(
            f"There is no solver {where!r}; choose from {', '.join(every())}, or name a class of "
            "your own as file.py:Class."
        )
    return _called(name, OfBackend(solver) if isinstance(solver, Backend) else _wrapped(solver))


def _new(where: str) -> Any:
    """Return an object of a class in a file; objects are made without arguments."""
    try:
        return from_file(where)()
    except InvalidInputError:
        raise
    except Exception as error:  # of whoever wrote the class
        raise InvalidInputError(
            f"{where!r} makes no solver when it is called without arguments: "
            f"{type(error).__name__}: {error}."
        ) from None


def _wrapped(own: Any) -> Solver:
    if isinstance(own, Solver):
        return own
    if not callable(getattr(own, "solve", None)):
        raise InvalidInputError(
            f"{own!r} is no solver: it needs a method solve(program, tolerance, time_limit)."
        )
    return Solver(own)


def from_file(where: str) -> Any:
    """Return what ``file.py:name`` or ``package.module:name`` names."""
    source, _, name = where.rpartition(":")
    try:
        if source.endswith(".py"):
            # a name of its own: a file may be called as the package that it imports
            spec = importlib.util.spec_from_file_location(f"_file_{Path(source).stem}", source)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            sys.modules[module.__name__] = module
            # by value: other processes cannot import a file by its name
            cloudpickle.register_pickle_by_value(module)
        else:
            module = importlib.import_module(source)
        return getattr(module, name)
    except Exception as error:  # whatever the file does when it is run
        raise InvalidInputError(
            f"{where!r} cannot be loaded: {type(error).__name__}: {error}."
        ) from None
