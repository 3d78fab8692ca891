r"""Every backend on every formulation and data set, by qpbenchmark's rules.

* Our own certificate decides success: a run counts when its gap is proved, by bounds that are
  recomputed from the data, and never on the solver's word.
* One tolerance for all: a relative certified gap, which cutting planes turn into the tolerance of
  each master, and each backend into its solver's options.
* A failure costs the time limit, in CPU seconds.
* Repetitions take turns, and the order rotates, so that a busy machine slows all of them.

What a backend refuses is not a failure: it is shown as such, and not counted.

>>> done = compare_backends(["M3N"], ["chain CRF"], ["ascent", "highs"], quick=True, repeats=1)
>>> [(p.formulation, p.data, sorted(p.runs), sorted(p.refusals)) for p in done.problems]
[('M3N', 'chain CRF', ['ascent'], ['highs'])]
>>> done.problems[0].solved("ascent")
True
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from structopt.backends import registry
from structopt.backends.base import Backend
from structopt.engines.dataset import DataSet
from structopt.errors import IncompatibleError, InvalidInputError, MissingDataError, StructoptError
from structopt.formulations.base import Formulation
from structopt.lab.compare.cases import DATA, DEFAULT, FORMULATIONS, Data
from structopt.lab.compare.sequences import Replay, replay
from structopt.lab.harness.machine import Machine, turns
from structopt.methods.cutting_plane import CuttingPlane
from structopt.run.events import Round
from structopt.run.interrupts import ending_at_once
from structopt.run.result import Result

Report = Callable[[str], None]

PATIENCE = 5.0
"""Wall seconds for each CPU second of the limit, for a solver that hangs or sleeps."""
ROUNDING = 1e-9


@dataclass(frozen=True)
class Run:
    """One repetition by one backend.

    Attributes
    ----------
    cpu : float
        CPU seconds, the compilation of the master included.
    result : Result or None
        None if the run ended with an error.
    rescues : int
        Rounds that the reference backend had to solve instead.
    reason : str
        Why it does not count; empty if it does.
    """

    cpu: float
    result: Result | None
    rescues: int = 0
    reason: str = ""


@dataclass
class Problem:
    """One formulation on one data set, and what the backends made of it.

    Attributes
    ----------
    formulation, data, size : str
    limit : float
        CPU seconds that a failure costs.
    runs : dict of str to list of Run
        By backend, one a repetition.
    refusals : dict of str to str
        Backends that do not take it, and why.
    replay : Replay or None
        The sequence of masters, warm and cold.
    """

    formulation: str
    data: str
    size: str
    limit: float
    runs: dict[str, list[Run]] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)
    replay: Replay | None = None

    def cost(self, backend: str) -> float:
        """Return the median of the CPU seconds, where failures cost the limit."""
        return statistics.median(
            self.limit if run.reason else run.cpu for run in self.runs[backend]
        )

    def solved(self, backend: str) -> bool:
        """Return whether every repetition counts."""
        return not any(run.reason for run in self.runs[backend])

    def middle(self, backend: str) -> Run:
        """Return the repetition in the middle, by CPU seconds."""
        runs = sorted(self.runs[backend], key=lambda run: run.cpu)
        return runs[(len(runs) - 1) // 2]

    @property
    def results(self) -> dict[str, Result]:
        """The result of each backend's middle repetition, as reports take them."""
        middle = {backend: self.middle(backend).result for backend in self.runs}
        return {backend: result for backend, result in middle.items() if result is not None}

    @property
    def agree(self) -> bool:
        """Whether no run's proved lower bound exceeds another's objective."""
        found = [run.result.certificate for r in self.runs.values() for run in r if run.result]
        proved = [c for c in found if c.exact]
        if not proved:
            return True
        low, high = max(c.dual for c in proved), min(c.primal for c in proved)
        return low <= high + ROUNDING * max(1.0, abs(high))


@dataclass
class Comparison:
    """A finished comparison: tables with :mod:`structopt.lab.compare.tables`.

    Attributes
    ----------
    problems : list of Problem
    tol : float
        The relative certified gap that was asked for.
    limit : float
        CPU seconds that a failure costs.
    repeats : int
    machine : Machine
    left_out : list of str
        Data sets that are not there, and why.
    """

    problems: list[Problem]
    tol: float
    limit: float
    repeats: int
    machine: Machine
    left_out: list[str] = field(default_factory=list)

    @property
    def costs(self) -> dict[tuple[str, str, str], float]:
        """Seconds by (formulation, data, backend)."""
        return {(p.formulation, p.data, b): p.cost(b) for p in self.problems for b in p.runs}

    @property
    def failed(self) -> list[tuple[str, str, str]]:
        """Those that did not solve a problem they take."""
        return [
            (p.formulation, p.data, b) for p in self.problems for b in p.runs if not p.solved(b)
        ]

    @property
    def agree(self) -> bool:
        """Whether on every problem all proved bounds agree."""
        return all(problem.agree for problem in self.problems)

    @property
    def backends(self) -> list[str]:
        """All backends, in the order of the registry."""
        known = registry.names()
        found = dict.fromkeys(b for p in self.problems for b in [*p.runs, *p.refusals])
        return sorted(found, key=lambda b: known.index(b) if b in known else len(known))

    def write(self, folder: Any, *, command: str = "structopt.compare_backends(...)") -> list[Any]:
        """Write CSV, Markdown and HTML into a folder; return the files."""
        from structopt.lab.compare.files import write_files

        return write_files(self, folder, command)


@ending_at_once()
def compare_backends(
    formulations: Sequence[str] | Mapping[str, Formulation] | None = None,
    data: Sequence[str] | Mapping[str, tuple[Any, Any, Any]] | None = None,
    backends: Sequence[str] | Mapping[str, Backend] | None = None,
    *,
    quick: bool = False,
    tol: float = 1e-2,
    time_limit: float | None = None,
    repeats: int | None = None,
    sequences: bool = True,
    report: Report | None = None,
) -> Comparison:
    """Run every backend on every formulation and data set.

    Parameters
    ----------
    formulations : names, or a mapping of names to formulations of your own, optional
        Three by default; :data:`structopt.lab.compare.cases.FORMULATIONS` lists the names.
    data : names, or a mapping of names to (structure, X, Y), optional
        All of :data:`structopt.lab.compare.cases.DATA` by default, letters only where
        ``STRUCTOPT_DATA`` has them.
    backends : names, or a mapping of names to backends, optional
        All by default.
    quick : bool
        Smaller data, fewer repetitions: under a minute.
    tol : float
        Relative certified gap.
    time_limit : float, optional
        CPU seconds a run; 5 if quick, else 20.
    repeats : int, optional
        Repetitions; 2 if quick, else 3.
    sequences : bool
        Whether to replay the sequence of masters warm and cold.
    report : callable, optional
        Told in words what is going on.
    """
    from threadpoolctl import threadpool_limits

    repeats = (2 if quick else 3) if repeats is None else repeats
    limit = (5.0 if quick else 20.0) if time_limit is None else time_limit
    if repeats < 1 or not limit > 0:
        raise InvalidInputError(
            f"repeats must be >= 1 and time_limit > 0; got {repeats} and {limit}."
        )
    say = report or (lambda _: None)
    solvers = _solvers(backends)
    chosen = _formulations(formulations)
    sets, left_out = _data(data, quick)
    done = Comparison([], tol, limit, repeats, Machine.here(), left_out)
    with threadpool_limits(1):
        for data_name, given in sets.items():
            structure = given.structure.fitted(given.X, given.Y)
            encoded = DataSet.of(structure, given.X, given.Y)
            for name, formulation in chosen.items():
                problem = Problem(name, data_name, given.size, limit)
                make = _Maker(structure, formulation, encoded, tol)
                _measure(problem, make, solvers, repeats, say)
                if sequences and problem.runs:
                    takers = {b: solvers[b] for b in problem.runs}
                    say(f"{name} on {data_name}: the masters again, warm and cold")
                    problem.replay = replay(
                        make.method, takers, masters=4 if quick else 8, limit=limit
                    )
                done.problems.append(problem)
    return done


@dataclass(frozen=True)
class _Maker:
    structure: Any
    formulation: Formulation
    data: DataSet
    tol: float

    def method(self, backend: Any, **options: Any) -> CuttingPlane:
        return CuttingPlane(
            self.structure, self.formulation, self.data, backend=backend, tol=self.tol, **options
        )


def _measure(
    problem: Problem, make: _Maker, solvers: Mapping[str, Any], repeats: int, say: Report
) -> None:
    label = f"{problem.formulation} on {problem.data}"
    for name, backend in solvers.items():
        say(f"{label}: warming up {name}")
        try:
            first = make.method(backend, max_iter=2, time_limit=problem.limit)
        except IncompatibleError as refusal:
            problem.refusals[name] = str(refusal).partition(" Backends that take it")[0]
            continue
        problem.runs[name] = []
        _guarded(first)  # compiled loops are ready before time is taken
    for turn in range(repeats if problem.runs else 0):
        for name in turns(list(problem.runs), turn):
            say(f"{label}: {name}, repetition {turn + 1} of {repeats}")
            problem.runs[name].append(_run(make, solvers[name], problem.limit))


def _run(make: _Maker, backend: Any, limit: float) -> Run:
    start = time.process_time()

    def out_of_time(_: Round) -> bool:
        return time.process_time() - start > limit

    method = make.method(backend, time_limit=PATIENCE * limit, callbacks=[out_of_time])
    result, reason = _guarded(method)
    cpu, rescues = time.process_time() - start, 0
    if result is not None:
        rescues = len(result.rescued)
        reason = _why_not(result, cpu, limit, rescues)
    return Run(cpu, result, rescues, reason)


def _why_not(result: Result, cpu: float, limit: float, rescues: int) -> str:
    if cpu > limit or result.status in ("callback", "time_limit"):
        return f"not within {limit:g} CPU seconds (gap {result.certificate.relative_gap:.1e})"
    if not result.certificate.certified:
        return f"{result.status}, not certified (gap {result.certificate.relative_gap:.1e})"
    return f"the reference solved {rescues} rounds instead" if rescues else ""


def _guarded(method: CuttingPlane) -> tuple[Result | None, str]:
    """Solve; an error that structopt raises on purpose is an outcome like any other."""
    try:
        return method.solve(), ""
    except StructoptError as error:
        return None, f"{type(error).__name__}: {error}"


# ---------------------------------------------------------------------- what was asked for
def _solvers(backends: Sequence[str] | Mapping[str, Backend] | None) -> dict[str, Any]:
    if isinstance(backends, Mapping):
        return dict(backends)
    names = registry.names() if backends is None else list(backends)
    for name in names:
        registry.make(name)  # an unknown name is refused before any work
    return {name: name for name in names}


def _formulations(
    formulations: Sequence[str] | Mapping[str, Formulation] | None,
) -> dict[str, Formulation]:
    if isinstance(formulations, Mapping):
        return dict(formulations)
    names = DEFAULT if formulations is None else formulations
    return {name: _known(name, FORMULATIONS, "formulation")() for name in names}


def _data(
    data: Sequence[str] | Mapping[str, tuple[Any, Any, Any]] | None, quick: bool
) -> tuple[dict[str, Data], list[str]]:
    if isinstance(data, Mapping):
        return {name: Data(*given) for name, given in data.items()}, []
    found, left_out = {}, []
    for name in DATA if data is None else data:
        try:
            found[name] = _known(name, DATA, "data set")(quick)
        except MissingDataError:
            if data is not None:  # asked for by name
                raise
            left_out.append(f"{name}, which STRUCTOPT_DATA does not have")
    return found, left_out


def _known(name: str, table: Mapping[str, Any], what: str) -> Any:
    if name not in table:
        raise InvalidInputError(f"Unknown {what} {name!r}; choose from {list(table)}.")
    return table[name]
