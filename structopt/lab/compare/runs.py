r"""Whole runs in this process, their results kept: what a report and the demo show.

A run counts when its gap is proved by bounds that are recomputed from the data, within its CPU
seconds and by the backend that was asked.

>>> from structopt.lab.compare.cases import DATA, FORMULATIONS, Case
>>> given, who = DATA["chain CRF"](True), ("ascent", "highs")
>>> problem, = run_cases([Case("M3N", "chain CRF", FORMULATIONS["M3N"](), given, who)], 1e-2, 20.0)
>>> problem.runs["ascent"].reason, sorted(problem.refusals)
('', ['highs'])
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from structopt.errors import IncompatibleError, StructoptError
from structopt.lab.compare.cases import Case
from structopt.lab.harness.measure import PATIENCE, CpuLimit, error_percent
from structopt.lab.harness.runner import Watch, run
from structopt.lab.harness.study import Cell, Study
from structopt.lab.harness.table import Table
from structopt.methods.cutting_plane import CuttingPlane
from structopt.report.series import TimeSplit, joint_bounds
from structopt.run.certificate import contradicts
from structopt.run.result import Result


@dataclass(frozen=True)
class Run:
    """One run by one backend.

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

    @property
    def split(self) -> dict[str, float]:
        """CPU seconds by what they went to, divided as the wall time was."""
        if self.result is None:
            return {}
        parts = TimeSplit.of(self.result)
        return {what: self.cpu * s / max(parts.total, 1e-12) for what, s in parts.items()}


@dataclass
class Problem:
    """One formulation on one data set, and what the backends made of it.

    Attributes
    ----------
    formulation, data, size : str
    runs : dict of str to Run
        By backend.
    refusals : dict of str to str
        Backends that do not take it, and why.
    """

    formulation: str
    data: str
    size: str
    runs: dict[str, Run] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)

    @property
    def results(self) -> dict[str, Result]:
        """The result of each run that has one, as reports take them."""
        return {name: run.result for name, run in self.runs.items() if run.result is not None}

    @property
    def bounds(self) -> tuple[float, float]:
        """The best lower and the best upper bound on the optimum that any run proved."""
        return joint_bounds(self.results.values())

    @property
    def agree(self) -> bool:
        """Whether no run's proved lower bound exceeds another's objective."""
        low, high = self.bounds
        return not contradicts(high, low)


def run_cases(
    cases: Sequence[Case], tol: float, time_limit: float, watch: Watch = lambda step: None
) -> list[Problem]:
    """Run the backends of every case once."""
    study = Backends(cases, tol, time_limit)
    outcome = run(study, study.cells(), watch=watch)
    if outcome.interrupted:
        raise KeyboardInterrupt
    problems = [Problem(c.formulation, c.data, c.given.size) for c in cases]
    for cell, why in outcome.left_out:
        reason = why.partition(" Backends that take it")[0]
        problems[cell["case"]].refusals[cell["backend"]] = reason
    for row in outcome.rows:
        problems[row["case"]].runs[row["backend"]] = row["run"]
    return problems


@dataclass
class Backends(Study):
    """The study: a cell is one run by one backend."""

    name = "runs"
    excuses: ClassVar[tuple[type[Exception], ...]] = (IncompatibleError,)

    cases: Sequence[Case]
    tol: float
    time_limit: float

    def cells(self) -> list[Cell]:
        """Return the cells of all cases, one after the other."""
        return [{"case": n, "backend": b} for n, c in enumerate(self.cases) for b in c.backends]

    def label(self, cell: Cell) -> str:
        """Name a cell in the progress line."""
        case = self.cases[cell["case"]]
        return f"{case.formulation} on {case.data}: {cell['backend']}"

    def warm_up(self, cell: Cell) -> None:
        """Run two rounds, so that compiled loops are ready before time is taken."""
        _guarded(self._method(cell, max_iter=2, time_limit=self.time_limit))

    def run(self, cell: Cell) -> dict[str, Any]:
        """Learn once."""
        case, start = self.cases[cell["case"]], time.process_time()
        clock = CpuLimit(self.time_limit)
        method = self._method(cell, time_limit=PATIENCE * self.time_limit, callbacks=[clock])
        result, reason = _guarded(method)
        cpu, right = time.process_time() - start, math.nan
        if result is not None:
            reason = why_not(result, cpu, self.time_limit)
            if case.given.test is not None:
                wrong = error_percent(case.given.fitted, result.weights, *case.given.test)
                right = 100.0 - wrong
        return {"run": Run(cpu, result, reason, right)}

    def _method(self, cell: Cell, **options: Any) -> CuttingPlane:
        case = self.cases[cell["case"]]
        return CuttingPlane(
            case.given.fitted, case.objective, case.given.encoded, backend=cell["backend"],
            tol=self.tol, **options,
        )  # fmt: skip


def why_not(result: Result, cpu: float, limit: float) -> str:
    """Return why a run does not count, "" if it does."""
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


def split_table(problems: Sequence[Problem]) -> Table:
    """Return where the time of each run went, and how well it predicts, if that is known."""
    rows = []
    tested = any(not math.isnan(done.right) for p in problems for done in p.runs.values())
    for problem in problems:
        for backend, done in problem.runs.items():
            if done.result is None:
                continue
            c = done.result.certificate
            rows.append(
                (
                    f"{problem.formulation}, {problem.data}",
                    backend,
                    *(f"{seconds:.3f}" for seconds in done.split.values()),
                    f"{len(done.result.history)}",
                    f"{sum(r.cuts_added for r in done.result.history)}",
                    f"{c.primal:.6g}",
                    f"{c.relative_gap:.1e}",
                    "yes" if c.certified else "no",
                    *([f"{done.right:.1f}"] if tested else []),
                )
            )
    sizes = "; ".join({f"{p.data}: {p.size}": None for p in problems}) + "."
    return Table(
        "Whole runs: where the time went",
        ("problem", "backend", "oracle", "lift", "solve", "other", "rounds", "cuts", "objective",
         "gap", "certified", *(["test %"] if tested else [])),
        tuple(rows),
        ("CPU seconds, divided as the wall time was. " + sizes,),
    )  # fmt: skip
