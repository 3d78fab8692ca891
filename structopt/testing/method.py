r"""Whether a method's bounds hold at any moment, and whether it stops when it is told to.

>>> import structopt as so
>>> "bounds_enclose_the_optimum" in so.testing.check_method("frank-wolfe")
True
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from structopt.engines.dataset import DataSet
from structopt.errors import IncompatibleError, InvalidInputError, OracleError, StructoptError
from structopt.formulations.base import Formulation
from structopt.methods import registry
from structopt.methods.method import Method
from structopt.names import of_kind
from structopt.run.result import Result
from structopt.testing.check import Check, fail, run
from structopt.testing.full_problem import FullProblem
from structopt.testing.problems import learnable, small_chain
from structopt.testing.structure_case import StructureCase


class MethodCase:
    """A method, a formulation that it learns, and a small problem.

    Parameters
    ----------
    method : str or class
    formulation : Formulation, optional
        The first of this library's that the method takes, by default.
    case : StructureCase, optional
        A chain by default.
    options : mapping, optional
        Of the method.
    """

    def __init__(
        self,
        method: str | type[Method],
        formulation: Formulation | None = None,
        case: StructureCase | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.method = registry.make(method) if isinstance(method, str) else method
        self.case = learnable(small_chain(2)) if case is None else case
        self.options = dict(options or {})
        self.formulation = self._taken() if formulation is None else formulation

    def _taken(self) -> Formulation:
        for entry in of_kind("formulation"):
            formulation: Formulation = entry.load()()
            try:
                self.made(formulation)
            except IncompatibleError:
                continue
            return formulation
        raise InvalidInputError(
            f"{self.method.__name__} takes none of {[e.name for e in of_kind('formulation')]}: "
            "pass formulation=, one that it takes."
        )

    def data(self, shards: int = 1) -> DataSet:
        """Return the encoded problem, in one shard or in several."""
        X, Y, structure = self.case.X, self.case.Y, self.case.structure
        edges = np.linspace(0, len(X), shards + 1).astype(int).tolist()
        pieces = [structure.encode(X[a:b], Y[a:b], start=a) for a, b in pairwise(edges)]
        return DataSet(pieces, structure.n_features_, threads=True)

    def made(self, formulation: Formulation | None = None, shards: int = 1, **options: Any) -> Any:
        """Return a run that is not solved yet."""
        if "random_state" in self.method.options():
            options.setdefault("random_state", 0)
        wanted = self.formulation if formulation is None else formulation
        data = options.pop("data", None) or self.data(shards)
        return self.method(self.case.structure, wanted, data, **{**self.options, **options})

    @cached_property
    def full(self) -> FullProblem:
        """The problem with every constraint written out."""
        return FullProblem(self.case, self.made().formulation)

    @cached_property
    def truth(self) -> float:
        """Its optimum."""
        return self.full.optimum()

    @property
    def slip(self) -> float:
        """What the solver of the full problem may be off."""
        return 1e-6 * (1 + abs(self.truth))

    @cached_property
    def bounds(self) -> bool:
        """Whether the method gives lower bounds at all."""
        return bool(np.isfinite(self.made(max_iter=3).solve().certificate.dual))


def bounds_enclose_the_optimum(given: MethodCase) -> None:
    """Whenever it stops: dual <= optimum <= primal, and primal is the objective at its weights."""
    for rounds in (1, 2, 5, 20):
        result = given.made(tol=0.0, max_iter=rounds).solve()
        found = result.certificate
        if not found.dual - given.slip <= given.truth <= found.primal + given.slip:
            fail(f"after {rounds} rounds {found.dual}, {found.primal} miss {given.truth}")
        value = given.full.value(result.weights)
        if found.primal < value - given.slip:
            fail(f"after {rounds} rounds primal is {found.primal}; at its weights it is {value}")


def it_reaches_its_tolerance(given: MethodCase) -> None:
    """Given time, it is certified at the gap asked for; or it gives no bound and says so."""
    result = given.made(tol=1e-2).solve()
    found = result.certificate
    if not given.bounds:
        if found.certified or result.status == "optimal":
            fail(f"no lower bound, but {result.status}: {found}")
    elif not (found.certified and result.status == "optimal" and found.relative_gap <= 1e-2):
        fail(f"{result.status} after {len(result.history)} rounds: {found}")


def bounds_only_improve(given: MethodCase) -> None:
    """In the history primal never rises, dual never falls, and dual never passes primal."""
    history = given.made(tol=1e-3, max_iter=200).solve().history
    for first, second in pairwise(history):
        # in the last round exact zeros may cost some of the tolerance
        spare = 1e-3 * abs(first.primal) if second is history[-1] else 0.0
        if second.dual < first.dual or (given.bounds and second.primal > first.primal + spare):
            fail(f"round {second.round}: {second.primal}, {second.dual} after {first}")
    for record in history:
        if record.dual > record.primal + given.slip:
            fail(f"round {record.round}: dual {record.dual} above primal {record.primal}")


def callbacks_hear_every_round(given: MethodCase) -> None:
    """Callbacks see the records of the history, numbered from 1, in order."""
    seen: list[Any] = []
    result = given.made(tol=1e-2, max_iter=30, callbacks=[seen.append]).solve()
    if seen != list(result.history) or [r.round for r in seen] != list(range(1, len(seen) + 1)):
        fail(f"{len(seen)} records were heard of, {len(result.history)} are in the history")


def rounds_and_time_are_limits(given: MethodCase) -> None:
    """max_iter rounds at most; after time_limit no new round, but one there always is."""
    short = given.made(tol=0.0, max_iter=2).solve()
    if len(short.history) > 2 or (len(short.history) < 2 and short.status == "max_iter"):
        fail(f"max_iter=2: {len(short.history)} rounds, {short.status!r}")
    late = given.made(tol=0.0, time_limit=1e-9).solve()
    if len(late.history) != 1 or late.status == "max_iter":
        fail(f"time_limit=1e-9: {len(late.history)} rounds, {late.status!r}")
    if not np.isfinite(late.certificate.primal):
        fail("one round gives no finite objective")


def a_callback_can_stop_it(given: MethodCase) -> None:
    """A callback that returns True ends the run after that round, and says so."""
    result = given.made(tol=0.0, callbacks=[lambda record: record.round == 2]).solve()
    if len(result.history) > 2 or (len(result.history) == 2 and result.status != "callback"):
        fail(f"stopped in round {len(result.history)} with status {result.status!r}")


def ctrl_c_keeps_the_best_model(given: MethodCase) -> None:
    """An interrupted run returns the best model so far, with its bounds."""

    def interrupt(record: Any) -> None:
        if record.round == 2:
            raise KeyboardInterrupt

    _kept(given, given.made(tol=0.0, callbacks=[interrupt]).solve(), "interrupted")


def errors_carry_the_best_model(given: MethodCase) -> None:
    """An oracle that fails is an OracleError, with the best model so far as its result."""
    rounds: list[Any] = []
    data = given.data()
    for shard in data.shards:
        _fail_from(shard, rounds, 2)
    try:
        result = given.made(data=data, tol=0.0, callbacks=[rounds.append], max_iter=50).solve()
    except StructoptError as error:
        if not isinstance(error, OracleError):
            fail(f"{type(error).__name__} instead of OracleError: {error}")
        if error.result is None or len(error.result.history) < 2:
            fail("the error carries no model")
        _kept(given, error.result, None)
        return
    if len(result.history) > 2:
        fail("the failure of an oracle went unheard")


def the_seed_decides(given: MethodCase) -> None:
    """Two runs with the same seed have the same weights, to the last digit."""
    first, second = (given.made(tol=1e-2, max_iter=30).solve().weights for _ in range(2))
    if not np.array_equal(first, second):
        fail(f"weights differ by {np.abs(first - second).max()}")


def several_shards_are_one(given: MethodCase) -> None:
    """Data in two shards train to the same model as in one."""
    one, two = (given.made(shards=k, tol=1e-3).solve() for k in (1, 2))
    if not given.bounds and not np.allclose(one.weights, two.weights, rtol=1e-5, atol=1e-7):
        fail(f"weights of one shard and of two differ by {np.abs(one.weights - two.weights).max()}")
    values = one.certificate.primal, two.certificate.primal
    if abs(values[0] - values[1]) > 2e-3 * (1 + abs(values[0])):
        fail(f"{values[0]} in one shard, {values[1]} in two")


def unknown_options_are_refused(given: MethodCase) -> None:
    """An option that the method does not take is refused, with those that it does."""
    try:
        given.made(no_such_option=1)
    except IncompatibleError as error:
        if "no_such_option" in str(error) and "max_iter" in str(error):
            return
        fail(f"the refusal does not say what is taken: {error}")
    fail("an unknown option is taken in silence")


def refusal_comes_before_work(given: MethodCase) -> None:
    """Formulations that the method does not learn are refused before an oracle is asked."""

    def ask(*_: Any) -> Any:
        fail("an oracle was asked before the refusal")

    for entry in of_kind("formulation"):
        data = given.data()
        setattr(data, "ask", ask)  # noqa: B010, for this one
        try:
            given.made(entry.load()(), data=data)
        except IncompatibleError as error:
            if len(str(error)) < 20:
                fail(f"refuses {entry.name} without a reason: {error}")


def _kept(given: MethodCase, result: Result, status: str | None) -> None:
    if status is not None and len(result.history) >= 2 and result.status != status:
        fail(f"status {result.status!r} instead of {status!r}")
    found = result.certificate
    if not np.isfinite(found.primal) or found.dual > found.primal + given.slip:
        fail(f"no model, or wrong bounds: {found}")
    if found.primal < given.full.value(result.weights) - given.slip:
        fail(f"primal {found.primal} is below the objective of the weights returned")


_ASKED = ("ask", "answered", "argmax", "k_best", "relaxation", "expected", "single")


def _fail_from(shard: Any, rounds: list[Any], last: int) -> None:
    """Let every question to a shard fail once ``last`` rounds are over."""
    for name in _ASKED:
        vars(shard).pop(name, None)  # a part is a copy, with what was put on the whole
    for name in _ASKED:
        asked = getattr(shard, name)

        def question(*args: Any, asked: Any = asked, name: str = name) -> Any:
            if len(rounds) >= last:
                raise OracleError(f"{name} failed, as it was told to.", example=0)
            found = asked(*args)
            if name == "single" and found is not shard:
                _fail_from(found, rounds, last)
            return found

        setattr(shard, name, question)


CHECKS: tuple[Check, ...] = (
    bounds_enclose_the_optimum,
    it_reaches_its_tolerance,
    bounds_only_improve,
    callbacks_hear_every_round,
    rounds_and_time_are_limits,
    a_callback_can_stop_it,
    ctrl_c_keeps_the_best_model,
    errors_carry_the_best_model,
    the_seed_decides,
    several_shards_are_one,
    unknown_options_are_refused,
    refusal_comes_before_work,
)


def check_method(
    method: str | type[Method],
    formulation: Formulation | None = None,
    *,
    case: StructureCase | None = None,
    options: Mapping[str, Any] | None = None,
    exclude: Mapping[str, str] | None = None,
) -> tuple[str, ...]:
    """Check a method on a problem whose optimum is known by enumeration.

    Parameters
    ----------
    method : str or class
        A method's name, or a subclass of :class:`~structopt.Method`.
    formulation : Formulation, optional
        What it is to learn; the first of this library's that it takes, by default.
    case : StructureCase, optional
        A small problem of your own; a chain of eight outputs, by default.
    options : mapping, optional
        Options of the method.
    exclude : mapping of name to reason, optional
        Checks to leave out.

    Returns
    -------
    tuple of str
        The names of the checks that passed.
    """
    given = MethodCase(method, formulation, case, options)
    return run(CHECKS, given, given.method.__name__, exclude=exclude)
