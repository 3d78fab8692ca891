r"""Whether a backend solves what it takes, says what it does not take, and tells failures apart.

>>> import structopt as so
>>> "every_round_is_the_reference_s" in so.testing.check_backend("highs")
True
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import cvxpy as cp
import numpy as np

from structopt.backends import registry
from structopt.backends.base import Backend
from structopt.engines.dataset import DataSet
from structopt.errors import IncompatibleError
from structopt.formulations.base import Declaration, Formulation
from structopt.formulations.lp_struct import LPStruct
from structopt.formulations.m3n import M3N
from structopt.formulations.struct_svm import StructSVM
from structopt.master.declare import RestrictedMaster
from structopt.methods.cutting_plane import CuttingPlane
from structopt.methods.state import State
from structopt.testing.check import Check, fail, run
from structopt.testing.full_problem import FullProblem
from structopt.testing.problems import learnable, small_chain
from structopt.testing.structure_case import StructureCase

TOL = 1e-4


class Coupled(Formulation):
    """A quadratic that couples weights, an l1 term, and constraints on the weights."""

    def __init__(self, C: float = 1.0, lower: float = -0.3) -> None:
        self.C, self.lower = C, lower

    def master(self, m: Declaration) -> None:
        """Declare the programme."""
        w, xi = m.weights(), m.slacks()
        mix = np.eye(m.n_features) + 0.3 * np.eye(m.n_features, k=1)
        m.minimize(cp.sum_squares(mix @ w) / 2 + 0.05 * cp.norm1(w) + self.C * cp.sum(xi))
        m.subject_to(w >= self.lower, cp.sum(w) <= 2)
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


class Tilted(Formulation):
    """A cost that falls without limit along the weights, unless ``most`` bounds it."""

    def __init__(self, most: float | None = None, least: float = 0.0) -> None:
        self.most, self.least = most, least

    def master(self, m: Declaration) -> None:
        """Declare the programme."""
        w, xi = m.weights(), m.slacks()
        m.minimize(-cp.sum(w) + cp.sum(xi))
        m.subject_to(w[0] + w[1] >= self.least)
        if self.most is not None:
            m.subject_to(cp.sum(w) <= self.most, w >= -1, w[0] + w[1] <= self.most)
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


class BackendCase:
    """A backend, and the formulations that it takes of those that are tried."""

    def __init__(self, backend: str | Backend, case: StructureCase | None = None) -> None:
        self.given = backend
        self.case = learnable(small_chain(2)) if case is None else case
        self.data = DataSet.of(self.case.structure, self.case.X, self.case.Y)

    @property
    def backend(self) -> Backend:
        """A fresh one."""
        return registry.make(self.given)

    @cached_property
    def taken(self) -> list[Formulation]:
        """What it takes; at least one of them."""
        tried = [
            M3N(2.0),
            StructSVM(2.0),
            LPStruct(2.0),
            LPStruct(2.0, nonnegative=False),
            Coupled(),
        ]
        found = [f for f in tried if self.refusal(f) is None]
        if not found:
            fail(f"it takes none of {tried}")
        return found

    def master(self, formulation: Formulation) -> RestrictedMaster:
        """Return a compiled master without cuts."""
        m = RestrictedMaster(len(self.case.X), self.data.n_features, base=self.data.base)
        formulation.master(m)
        m.compile()
        return m

    def refusal(self, formulation: Formulation) -> str | None:
        """Return why it does not take a formulation."""
        m = self.master(formulation)
        return self.backend.refusal(m.program, m.samples())

    def run(self, formulation: Formulation, **options: Any) -> CuttingPlane:
        """Return a run that is not solved yet."""
        options = {"backend": self.backend, "tol": TOL, **options}
        return CuttingPlane(self.case.structure, formulation, self.data, **options)

    def statuses(self, formulation: Formulation) -> Iterator[Any]:
        """Yield what it says of a master without cuts, if it takes it."""
        if self.refusal(formulation) is None:
            backend = self.backend
            backend.start(self.master(formulation))
            yield backend.solve(tolerance=1e-6)


def optimum_is_enumeration(given: BackendCase) -> None:
    """What it takes is certified, and the bounds enclose the optimum of the full problem."""
    for formulation in given.taken:
        result = given.run(formulation).solve()
        truth = FullProblem(given.case, formulation).optimum()
        found, slip = result.certificate, 1e-6 * (1 + abs(truth))
        if not (found.certified and found.dual - slip <= truth <= found.primal + slip):
            fail(f"{formulation!r}: {result}, truly {truth}")


def every_round_is_the_reference_s(given: BackendCase) -> None:
    """After every round its optimum of the cuts so far is that of the problem rebuilt by CVXPY."""
    for formulation in given.taken:
        made = given.run(formulation, tol=1e-6)
        if made.backend.moving:
            continue  # hands out steps towards the optimum, one round after the other
        for _ in range(8):
            made.step()
            problem, _ = made.master.problem()
            truth = problem.solve(solver=cp.CLARABEL)
            solution = made.backend.solve(tolerance=1e-8)
            w = next(v for v in problem.variables() if v.name() == "w")
            there = [w == solution.x[made.master.weight_columns]]
            rest = cp.Problem(problem.objective, [*problem.constraints, *there])
            value = rest.solve(solver=cp.CLARABEL)
            accuracy = 1e-5 if solution.status == "optimal" else 1e-2
            if abs(value - truth) > accuracy * (1 + abs(truth)):
                fail(f"{formulation!r}, round {len(made.history)}: {value}, truly {truth}")
            if solution.cut_duals.shape != (len(made.master.pool),):
                fail(f"{solution.cut_duals.shape} multipliers of {len(made.master.pool)} cuts")
            if made._done():
                break


def dropped_cuts_do_not_harm(given: BackendCase) -> None:
    """With cuts dropped as soon as they are idle, the optimum is the same."""
    for formulation in given.taken:
        backend = given.backend
        setattr(backend, "max_age", 1)  # noqa: B010, for this one
        eager, patient = (given.run(formulation, backend=b).solve() for b in (backend, given.given))
        first, second = eager.certificate, patient.certificate
        if first.dual > second.primal + 1e-7 or second.dual > first.primal + 1e-7:
            fail(f"{formulation!r}: {first.primal} with dropped cuts, {second.primal} without")


def warm_starts_end_where_cold_ones_do(given: BackendCase) -> None:
    """From another run's cuts, or from its live backend, the optimum at another C is the same."""
    for formulation in given.taken:
        other = copy.copy(formulation).set_params(C=0.5)
        cold = given.run(other).solve().certificate
        for warm_start in (given.run(formulation).solve(), _live(given.run(formulation))):
            warm = given.run(other, warm_start=warm_start).solve().certificate
            slip = 1e-6 * (1 + abs(cold.primal))
            apart = max(warm.dual - cold.primal, cold.dual - warm.primal)
            if not warm.certified or apart > slip:
                fail(f"{other!r}: {warm} from {type(warm_start).__name__}, {cold} cold")


def starting_again_forgets(given: BackendCase) -> None:
    """A backend that is started again knows nothing of the cuts before."""
    for formulation in given.taken:
        made = given.run(formulation)
        made.step()
        made.step()
        made.backend.start(given.master(formulation))
        if len(made.backend.solve(tolerance=1e-6).cut_duals):
            fail("cuts survive a new start")


def infeasible_and_unbounded_are_told_apart(given: BackendCase) -> None:
    """A master without solution is "infeasible", one without minimum "unbounded", with words."""
    for formulation, status in (
        (Tilted(), "unbounded"),
        (Tilted(most=1.0, least=2.0), "infeasible"),
        (LPStruct(1.0, constraints=lambda w: [cp.sum(w) <= 1, w[0] + w[1] >= 2]), "infeasible"),
    ):
        for found in given.statuses(formulation):
            if found.status != status or not found.message:
                fail(f"{found.status!r} ({found.message!r}) instead of {status!r}")


def refusals_name_it(given: BackendCase) -> None:
    """What it does not take is refused in a sentence that names it, before any work."""
    for formulation in (M3N(), LPStruct(), Coupled(), Conic()):
        reason = given.refusal(formulation)
        if reason is not None and repr(given.backend.name) not in reason:
            fail(f"the refusal does not name {given.backend.name!r}: {reason}")
        if reason is not None:
            try:
                given.run(formulation)
            except IncompatibleError as error:
                if reason in str(error):
                    continue
            fail(f"a run with {formulation!r} is not refused")


def options_are_stored_as_given(given: BackendCase) -> None:
    """type(b)(**b.get_params()) is the same backend, and so is a pickled one."""
    backend = given.backend
    again = type(backend)(**backend.get_params())
    if repr(again) != repr(backend) or repr(pickle.loads(pickle.dumps(backend))) != repr(backend):
        fail(f"{again!r} after cloning, {backend!r} before")


def runs_repeat(given: BackendCase) -> None:
    """Two runs have the same weights, to the last digit."""
    for formulation in given.taken:
        first, second = (given.run(formulation, random_state=0).solve() for _ in range(2))
        if not np.array_equal(first.weights, second.weights):
            fail(
                f"{formulation!r}: weights differ by {np.abs(first.weights - second.weights).max()}"
            )


class Conic(Formulation):
    """A norm that is no quadratic programme."""

    def master(self, m: Declaration) -> None:
        """Declare the programme."""
        w, xi = m.weights(), m.slacks()
        m.minimize(cp.norm2(w) + cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


def _live(made: CuttingPlane) -> State:
    made.solve()
    return made.state


CHECKS: tuple[Check, ...] = (
    optimum_is_enumeration,
    every_round_is_the_reference_s,
    dropped_cuts_do_not_harm,
    warm_starts_end_where_cold_ones_do,
    starting_again_forgets,
    infeasible_and_unbounded_are_told_apart,
    refusals_name_it,
    options_are_stored_as_given,
    runs_repeat,
)


def check_backend(
    backend: str | Backend,
    *,
    case: StructureCase | None = None,
    exclude: Mapping[str, str] | None = None,
) -> tuple[str, ...]:
    """Check a backend on small masters whose optimum is known by enumeration.

    Parameters
    ----------
    backend : str or Backend
        A backend's name, or an instance; it is copied.
    case : StructureCase, optional
        A small problem of your own; a chain, by default.
    exclude : mapping of name to reason, optional
        Checks to leave out.

    Returns
    -------
    tuple of str
        The names of the checks that passed.
    """
    given = BackendCase(backend, case)
    return run(CHECKS, given, repr(given.backend), exclude=exclude)
