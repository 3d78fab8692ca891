r"""Whether a formulation's optimum is that of the problem with every constraint written out.

>>> import cvxpy as cp, structopt as so
>>> class Unit(so.Formulation):
...     def __init__(self, C=1.0):
...         self.C = C
...     def master(self, m):
...         w, xi = m.weights(), m.slacks()
...         m.minimize(cp.sum_squares(w) / 2 + self.C * cp.sum(xi))
...         m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
>>> "optimum_is_enumeration" in so.testing.check_formulation(Unit())
True
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.engines.dataset import DataSet
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.formulations.base import Formulation
from structopt.master.declare import RestrictedMaster
from structopt.methods.cutting_plane import CuttingPlane
from structopt.names import of_kind
from structopt.structures.base.oracles import Oracle, worst
from structopt.structures.multiclass.structure import Multiclass
from structopt.testing.check import Check, fail, run
from structopt.testing.full_problem import FullProblem, Written
from structopt.testing.problems import small_chain, small_classes
from structopt.testing.structure_case import StructureCase

TOL = 1e-5
"""The gap that runs are asked for."""


class FormulationCase:
    """A formulation and the small problems that it is tried on."""

    def __init__(self, formulation: Formulation, cases: list[StructureCase] | None = None) -> None:
        self.formulation = formulation
        given = [small_chain(1, n=3, length=2), small_classes(1, n=4)] if cases is None else cases
        self.cases = [case for case in given if self._answered(case)]
        if not self.cases:
            raise InvalidInputError(
                f"{formulation!r} asks questions that no structure here answers: pass cases=, "
                "StructureCases of a structure that does."
            )

    def _answered(self, case: StructureCase) -> bool:
        asked = declared(self.formulation, case)
        return all(f.oracle.needs in case.structure.abilities() for f in asked.families)

    def solved(self, case: StructureCase, **options: Any) -> Any:
        """Return the run and the result on a problem."""
        weight = options.pop("sample_weight", None)
        data = DataSet.of(case.structure, case.X, case.Y, sample_weight=weight)
        made = CuttingPlane(case.structure, self.formulation, data, tol=TOL, **options)
        return made, made.solve()


def declared(formulation: Formulation, case: StructureCase) -> RestrictedMaster:
    """Return the formulation's declaration, compiled: its oracles are known."""
    m = RestrictedMaster(len(case.X), case.structure.n_features_)
    formulation.master(m)
    m.compile()
    return m


def optimum_is_enumeration(given: FormulationCase) -> None:
    """The certified bounds enclose the optimum of the full problem, and the weights attain it."""
    for case in given.cases:
        made, result = given.solved(case)
        close_to(result, FullProblem(case, made.formulation), "")


def backends_agree(given: FormulationCase) -> None:
    """Every backend that takes the formulation finds the same optimum; the others say why not."""
    for case in given.cases:
        full: FullProblem | None = None
        for entry in of_kind("backend"):
            try:
                made, result = given.solved(case, backend=entry.key)
            except IncompatibleError as error:
                if entry.key not in str(error) or "Backends that take it" not in str(error):
                    fail(f"{entry.key!r} refuses without saying who takes it: {error}")
                continue
            full = full or FullProblem(case, made.formulation)
            # interior points of a boundary stall before the gap is reached, and say so
            close_to(result, full, entry.key, TOL if result.status == "optimal" else 100 * TOL)


def sample_weights_are_repeats(given: FormulationCase) -> None:
    """A weight of 2 is an example that comes twice, a weight of 0 one that is not there."""
    for case in given.cases:
        n = len(case.X)
        weight = np.ones(n)
        weight[0], weight[-1] = 2.0, 0.0
        copies = [0, *range(n - 1)]
        made, weighted = given.solved(case, sample_weight=weight)
        data = DataSet.of(case.structure, [case.X[i] for i in copies], [case.Y[i] for i in copies])
        repeated = CuttingPlane(case.structure, made.formulation, data, tol=TOL).solve()
        values = weighted.certificate.primal, repeated.certificate.primal
        if abs(values[0] - values[1]) > 3 * TOL * (1 + abs(values[0])):
            fail(f"{values[0]} with sample weights {weight}, {values[1]} with repeated examples")
        close_to(weighted, FullProblem(case, made.formulation, weight), f"weights {weight}")


def order_does_not_matter(given: FormulationCase) -> None:
    """Examples in another order give the same optimum."""
    for case in given.cases:
        made, result = given.solved(case)
        data = DataSet.of(case.structure, case.X[::-1], case.Y[::-1])
        other = CuttingPlane(case.structure, made.formulation, data, tol=TOL).solve()
        values = result.certificate.primal, other.certificate.primal
        if abs(values[0] - values[1]) > 3 * TOL * (1 + abs(values[0])):
            fail(f"{values[0]} in one order, {values[1]} in the other")


def oracles_find_the_most_violated_row(given: FormulationCase) -> None:
    """The row that a rule makes of its oracle's answer is the most violated one, at any weights."""
    for case in given.cases:
        full = FullProblem(case, given.formulation.resolve(lambda _: 1.0))
        families = declared(full.formulation, case).families
        if any(family.joint for family in families):
            continue  # sums of answers to a question that is asked for one example
        oracles = {family.oracle for family in families}
        for (written, rule), w in product(full.families, case.weights):
            violated, score = _violations(rule, full, w), written.delta @ w
            for i in np.unique(written.example).tolist():
                mine = np.flatnonzero(written.example == i)
                answers = [mine[np.argmax(_asked(o, written, score)[mine])] for o in oracles]
                most, found = violated[mine].max(), violated[answers].max()
                if found < most - 1e-7 * (1 + most):
                    said = f"{[o.name for o in oracles]} answer rows violated by {found}, another"
                    case.wrong(i, w, f"{said} is by {most}: the rule is not what they ask")


def refusal_comes_before_work(given: FormulationCase) -> None:
    """A structure that cannot answer is refused before it is asked anything."""

    class Mute(Multiclass):
        def abilities(self) -> frozenset[str]:
            return frozenset()

    structure = Mute(labels=[0, 1]).fitted(np.eye(2), [0, 1])
    data = DataSet.of(structure, np.eye(2), [0, 1])

    def ask(*_: Any) -> Any:
        fail("an oracle was asked before the refusal")

    setattr(data, "ask", ask)  # noqa: B010, for this one
    try:
        CuttingPlane(structure, given.formulation, data)
    except IncompatibleError:
        return
    fail("a structure without abilities is not refused")


def parameters_are_stored_as_given(given: FormulationCase) -> None:
    """type(f)(**f.get_params()) is the same formulation, and so is a pickled one."""
    before = given.formulation.get_params()
    after = type(given.formulation)(**before).get_params()
    if after.keys() != before.keys() or any(after[k] is not before[k] for k in before):
        fail(f"{after} after cloning, {before} before")
    try:
        written = pickle.dumps(given.formulation)
    except (AttributeError, TypeError, pickle.PicklingError):
        return  # a function of the user's that does not pickle
    if repr(pickle.loads(written)) != repr(given.formulation):
        fail("a pickled formulation is another one")


def close_to(result: Any, full: FullProblem, who: str, tol: float = TOL) -> None:
    """Compare a result with the truth: bounds that enclose it, within ``tol`` of each other."""
    truth, found = full.optimum(), result.certificate
    slip = 1e-6 * (1 + abs(truth))  # of the solver of the full problem
    if found.dual > found.primal + slip:
        fail(f"{who}: the lower bound {found.dual} is above the upper bound {found.primal}")
    if not found.dual - slip <= truth <= found.primal + slip:
        fail(f"{who}: bounds {found.dual}, {found.primal} do not enclose the optimum {truth}")
    if found.primal > truth + 2 * tol * abs(truth) + slip:
        fail(f"{who}: {found.primal}, but the full problem has {truth}")
    if found.exact and tol <= found.tolerance and not found.certified:
        fail(f"{who}: not certified: {found}")
    value = full.value(result.weights)
    if not value - slip <= found.primal <= value + tol * abs(value) + slip:
        fail(f"{who}: says {found.primal}; with its weights the full problem has {value}")


def _asked(oracle: Oracle, written: Written, score: Floats) -> Floats:
    """Return what an oracle maximises, for every row."""
    return np.asarray(score if oracle is worst else oracle.hinge(written.loss, score))


def _violations(rule: Any, full: FullProblem, w: Floats) -> Floats:
    """Return by how much each row of a rule is violated where every slack is 0."""
    constraints = rule if isinstance(rule, list | tuple) else [rule]
    for constraint in constraints:
        for variable in constraint.variables():
            variable.value = np.zeros(variable.shape)
    full.w.value = w
    rows = len(full.families[0][0].loss)
    return np.asarray(sum(np.broadcast_to(c.violation(), rows) for c in constraints))


CHECKS: tuple[Check, ...] = (
    optimum_is_enumeration,
    backends_agree,
    sample_weights_are_repeats,
    order_does_not_matter,
    oracles_find_the_most_violated_row,
    refusal_comes_before_work,
    parameters_are_stored_as_given,
)


def check_formulation(
    formulation: Formulation,
    *,
    cases: list[StructureCase] | None = None,
    exclude: Mapping[str, str] | None = None,
) -> tuple[str, ...]:
    """Check a formulation on tiny chains and classes, every constraint written out.

    Parameters
    ----------
    formulation : Formulation
    cases : list of StructureCase, optional
        Problems of your own, where neither chains nor classes answer what it asks.
    exclude : mapping of name to reason, optional
        Checks to leave out.

    Returns
    -------
    tuple of str
        The names of the checks that passed.
    """
    given = FormulationCase(formulation, cases)
    return run(CHECKS, given, repr(formulation), exclude=exclude)
