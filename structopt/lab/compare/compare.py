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

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

from structopt.backends import registry
from structopt.backends.base import Backend
from structopt.errors import IncompatibleError, InvalidInputError, MissingDataError, StructoptError
from structopt.formulations.base import Formulation
from structopt.lab.compare.cases import DATA, DEFAULT, FORMULATIONS, Case, Data
from structopt.lab.compare.sequences import Replay, replay
from structopt.lab.harness.machine import Machine
from structopt.lab.harness.measure import PATIENCE, CpuLimit, error_percent
from structopt.lab.harness.output import write_files
from structopt.lab.harness.runner import Watch, run
from structopt.lab.harness.study import Cell, Study, in_turns
from structopt.methods.cutting_plane import CuttingPlane
from structopt.report.series import joint_bounds
from structopt.run.certificate import contradicts
from structopt.run.result import Result

Report = Callable[[str], None]


@dataclass(frozen=True)
class Run:
    """One repetition by one backend.

    Attributes
    ----------
    cpu : float
        CPU seconds, the compilation of the master included.
    result : Result or None
        None if the run ended with an error.
    reason : str
        Why it does not count; empty if it does.
    right : float
        Percentage of test parts that it predicts correctly; NaN without a test.
    """

    cpu: float
    result: Result | None
    reason: str = ""
    right: float = math.nan


@dataclass
class Problem:
    """One formulation on one data set, and what the backends made of it.

    Attributes
    ----------
    formulation, data, size : str
    time_limit : float
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
    time_limit: float
    runs: dict[str, list[Run]] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)
    replay: Replay | None = None

    def cost(self, backend: str) -> float:
        """Return the median of the CPU seconds, where failures cost the limit."""
        return statistics.median(
            self.time_limit if run.reason else run.cpu for run in self.runs[backend]
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
    def bounds(self) -> tuple[float, float]:
        """The best lower and the best upper bound on the optimum that any run proved."""
        return joint_bounds(run.result for r in self.runs.values() for run in r if run.result)

    @property
    def agree(self) -> bool:
        """Whether no run's proved lower bound exceeds another's objective."""
        low, high = self.bounds
        return not contradicts(high, low)


@dataclass
class Comparison:
    """A finished comparison: tables with :mod:`structopt.lab.compare.tables`.

    Attributes
    ----------
    problems : list of Problem
    tol : float
        The relative certified gap that was asked for.
    time_limit : float
        CPU seconds that a failure costs.
    repeats : int
    machine : Machine
    left_out : list of str
        Data sets that are not there, and why.
    """

    problems: list[Problem]
    tol: float
    time_limit: float
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
        from structopt.lab.compare.files import files_of

        return write_files(folder, files_of(self, command))


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
    repeats = (2 if quick else 3) if repeats is None else repeats
    time_limit = (5.0 if quick else 20.0) if time_limit is None else time_limit
    solvers = _solvers(backends)
    chosen = _formulations(formulations)
    sets, left_out = _data(data, quick)
    cases = [
        Case(name, data_name, formulation, given, solvers)
        for data_name, given in sets.items()
        for name, formulation in chosen.items()
    ]
    masters = (4 if quick else 8) if sequences else 0
    watch: Watch = lambda step: report(step.label) if report is not None else None  # noqa: E731
    done = compare_cases(cases, tol, time_limit, repeats, masters=masters, watch=watch)
    done.left_out = left_out
    return done


def compare_cases(
    cases: Sequence[Case],
    tol: float,
    time_limit: float,
    repeats: int,
    *,
    masters: int = 0,
    watch: Watch = lambda step: None,
) -> Comparison:
    """Run the backends of every case in turns; ``masters`` of each are solved again, if any."""
    if repeats < 1 or not time_limit > 0:
        raise InvalidInputError(
            f"repeats must be >= 1 and time_limit > 0; got {repeats} and {time_limit}."
        )
    study, machine = Backends(cases, tol, time_limit, repeats, masters), Machine.here()
    outcome = run(study, study.cells(), watch=watch)
    if outcome.interrupted:
        raise KeyboardInterrupt
    problems = [Problem(c.formulation, c.data, c.given.size, time_limit) for c in cases]
    for cell, why in outcome.left_out:
        problem = problems[cell["case"]]
        problem.refusals[cell["backend"]] = why.partition(" Backends that take it")[0]
    for row in outcome.rows:
        problem = problems[row["case"]]
        if "replay" in row:
            problem.replay = row["replay"]
        else:
            problem.runs.setdefault(row["backend"], []).append(row["run"])
    return Comparison(problems, tol, time_limit, repeats, machine)


@dataclass
class Backends(Study):
    """The study: a cell is one repetition by one backend, or the masters again, warm and cold."""

    name = "compare"
    excuses: ClassVar[tuple[type[Exception], ...]] = (IncompatibleError,)

    cases: Sequence[Case]
    tol: float
    time_limit: float
    repeats: int
    masters: int = 0

    def __post_init__(self) -> None:
        self._takers: dict[int, dict[str, Any]] = {}

    def cells(self) -> list[Cell]:
        """Return the cells of all cases, one after the other."""
        found: list[Cell] = []
        for number, case in enumerate(self.cases):
            found += in_turns([{"case": number, "backend": b} for b in case.backends], self.repeats)
            found += [{"case": number, "masters": self.masters}] if self.masters else []
        return found

    def label(self, cell: Cell) -> str:
        """Name a cell in the progress line."""
        case = self.cases[cell["case"]]
        what = "the masters again, warm and cold"
        if "backend" in cell:
            what = f"{cell['backend']}, repetition {cell['turn'] + 1} of {self.repeats}"
        return f"{case.formulation} on {case.data}: {what}"

    def warm_up(self, cell: Cell) -> None:
        """Run two rounds, so that compiled loops are ready before time is taken."""
        if "backend" not in cell:
            return
        backend = self.cases[cell["case"]].backends[cell["backend"]]
        first = self.method(cell, backend, max_iter=2, time_limit=self.time_limit)
        self._takers.setdefault(cell["case"], {})[cell["backend"]] = backend
        _guarded(first)

    def run(self, cell: Cell) -> dict[str, Any]:
        """Solve once, or replay."""
        case, takers = self.cases[cell["case"]], self._takers.get(cell["case"], {})
        if "backend" not in cell:
            if not takers:
                return {"replay": None}
            most = {"masters": cell["masters"], "time_limit": self.time_limit}
            return {"replay": replay(partial(self.method, cell), takers, **most)}
        start, clock = time.process_time(), CpuLimit(self.time_limit)
        method = self.method(
            cell, takers[cell["backend"]], time_limit=PATIENCE * self.time_limit, callbacks=[clock]
        )
        result, reason = _guarded(method)
        cpu, right = time.process_time() - start, math.nan
        if result is not None:
            reason = _why_not(result, cpu, self.time_limit)
            if case.given.test is not None:
                wrong = error_percent(case.given.fitted, result.weights, *case.given.test)
                right = 100.0 - wrong
        return {"run": Run(cpu, result, reason, right)}

    def method(self, cell: Cell, backend: Any, **options: Any) -> CuttingPlane:
        """Return a cutting-plane run of a case that has not begun."""
        case = self.cases[cell["case"]]
        return CuttingPlane(
            case.given.fitted, case.objective, case.given.encoded, backend=backend, tol=self.tol,
            **options,
        )  # fmt: skip


def _why_not(result: Result, cpu: float, limit: float) -> str:
    if cpu > limit or result.status in ("callback", "time_limit"):
        return f"not within {limit:g} CPU seconds (gap {result.certificate.relative_gap:.1e})"
    if not result.certificate.certified:
        return f"{result.status}, not certified (gap {result.certificate.relative_gap:.1e})"
    rescues = len(result.rescued)
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
