r"""Every solver on every problem at every tolerance: one check for all, nothing lost.

* Success is our own check of the answer on the original problem (:mod:`.check`), for training the
  certificate; never the solver's word.
* One tolerance means one thing: the largest relative residual or gap; a table says what each
  solver was told.
* Every attempt has a process of its own, with limits on its CPU seconds and memory: what runs out
  of time, out of memory or crashes is a row like any other.
* Solvers take turns, and the order rotates. A reference problem is timed again and again; how much
  its times vary says how far others can be trusted.
* Rows are written as they come; the same call goes on where the last one was stopped.

>>> import cvxpy as cp
>>> x = cp.Variable(2)
>>> done = compare(
...     [lambda: [("tiny", cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1]))]],
...     ["highs", "SCS"], tolerances=[1e-3], time_limit=20.0,
... )
>>> [(row["solver"], row["status"], round(row["objective"], 2)) for row in done.rows]
[('highs', 'solved', 2.0), ('SCS', 'solved', 2.0)]
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp

from structopt.errors import InvalidInputError
from structopt.lab.compare.comparison import VERSION, Comparison, is_row
from structopt.lab.compare.lock import lock
from structopt.lab.compare.problems import Problem, Single, warm_up
from structopt.lab.compare.programmes import programme
from structopt.lab.compare.sets import gathered
from structopt.lab.compare.solvers import Solver, named
from structopt.lab.harness.isolated import isolated
from structopt.lab.harness.runner import keys_of, run
from structopt.lab.harness.store import Store, fingerprint, plain
from structopt.lab.harness.study import Cell, Study, in_turns
from structopt.parameters import Count, Positive, Range, checked

TOLERANCES, TRAINING = (1e-3, 1e-6, 1e-9), (1e-2,)
"""Of programmes and masters, and of training, unless others are asked for."""
COMPILING = 300.0
"""CPU seconds that a solver may take to compile, once, where nothing is compiled yet."""
EVERY = 20
"""Attempts after which the reference problem is timed again."""
Limit = Annotated[float, Range(0, closed=False, high=1e6)]
"""CPU seconds: a failure costs them, so they end."""


@checked
def compare(
    problems: Any = None,
    solvers: Any = None,
    *,
    tolerances: Sequence[float] | None = None,
    time_limit: Limit = 60.0,
    memory_limit: Positive | None = 4.0,
    repeats: Count = 1,
    quick: bool = False,
    out: str | os.PathLike[str] | None = None,
    rerun: bool = False,
    rerun_timeouts: bool = False,
    watch: Callable[..., None] | None = None,
) -> Comparison:
    """Run every solver on every problem at every tolerance.

    Parameters
    ----------
    problems : list, optional
        Names of sets, folders, files, functions that yield CVXPY problems
        (:mod:`structopt.lab.compare.sets`); training runs and sequences of masters by default.
        `training` makes problems of formulations and data of one's own.
    solvers : list or mapping, optional
        Names, ``"file.py:Class"``, or objects with a method ``solve``
        (:mod:`structopt.lab.compare.solvers`); all that are installed by default.
    tolerances : list of float, optional
        1e-3, 1e-6 and 1e-9; 1e-2 for training.
    time_limit : float
        CPU seconds an attempt, which a failure costs.
    memory_limit : float, optional
        GiB an attempt.
    repeats : int
        Repetitions, of which the median counts.
    quick : bool
        Smaller training data and masters.
    out : path, optional
        A folder that keeps every row; rows that it has are not run again.
    rerun, rerun_timeouts : bool
        Run all of them again, or those that were out of time.
    watch : callable, optional
        Told before each attempt, with a :class:`structopt.lab.harness.runner.Step`.
    """
    store = Store(out) if out is not None else None
    if store is not None:
        store.path.parent.mkdir(parents=True, exist_ok=True)  # or fail before any work
    who, found = named(solvers), gathered(problems, quick=quick)
    study = Attempts(
        found.problems, who, _tolerances(tolerances), time_limit, memory_limit, repeats
    )
    cells = study.cells()
    if store is not None:
        for key in keys_of(study, cells):
            row = store.rows.get(key, {})
            late = rerun_timeouts and row.get("status") == "out of time"
            if rerun or late or not ("reference" in row or is_row(row)):
                store.rows.pop(key, None)
    machine = lock()
    key = fingerprint("machine", 1, {"id": machine["machine_id"], "command": machine["command"]})
    if store is not None and key not in store.rows:
        store.add(key, {}, machine)
    study.machine = machine["machine_id"]
    outcome = run(study, cells, store=store, watch=watch or (lambda step: None))
    kept = [] if store is None else [row for row in store.rows.values() if "versions" in row]
    # as they would be read: errors of what has no answer are infinite
    done = Comparison.of(plain([*outcome.rows, *(kept or [machine])]))
    done.left_out += found.left_out + study.left_out
    done.interrupted = outcome.interrupted
    return done


class Attempts(Study):
    """The study: a cell is one attempt, or one timing of the reference problem."""

    name, version = "compare", VERSION

    def __init__(
        self, problems: Sequence[Problem], solvers: Mapping[str, Solver],
        tolerances: Sequence[float] | None, limit: float, memory: float | None, repeats: int,
    ) -> None:  # fmt: skip
        self.solvers, self.tolerances = solvers, tolerances
        self.limit, self.memory, self.repeats = limit, memory, repeats
        self._facts, self._problems = (
            dict[tuple[str, str], Cell](),
            dict[tuple[str, str], Problem](),
        )
        self.left_out: list[str] = []
        for p in problems:
            try:
                self._facts[p.group, p.name] = p.facts()
            except Exception as error:  # of whoever wrote formulation or structure
                self.left_out.append(f"{p.name}: {type(error).__name__}: {error}")
            else:
                self._problems[p.group, p.name] = p
        if not self._problems:
            raise InvalidInputError(f"There is nothing to compare: {'; '.join(self.left_out)}.")
        self.machine, self._warm = "", set[str]()

    def cells(self) -> list[Cell]:
        """Return the attempts problem by problem, solvers in turns, the reference in between."""
        found: list[Cell] = []
        for where, facts in self._facts.items():
            own = TRAINING if facts["kind"] == "training" else TOLERANCES
            for tolerance in self.tolerances or own:
                found += in_turns(
                    [self._cell(where, facts, name, tolerance) for name in self.solvers],
                    self.repeats,
                )
        with_references: list[Cell] = [{"reference": 0}]
        for number, cell in enumerate(found, start=1):
            with_references.append(cell)
            if number % EVERY == 0 or number == len(found):
                with_references.append({"reference": len(with_references)})
        return with_references

    def _cell(self, where: tuple[str, str], facts: Cell, solver: str, tolerance: float) -> Cell:
        settings = self.solvers[solver].settings(tolerance)
        return {
            "version": self.version, "set": where[0], "problem": where[1], **facts,
            "solver": solver, "tolerance": tolerance, "settings": settings,
            "limit": self.limit, "memory": self.memory,
        }  # fmt: skip

    def label(self, cell: Cell) -> str:
        """Name a cell in the progress line."""
        if "reference" in cell:
            return "the reference problem"
        return f"{cell['problem']}: {cell['solver']} to {cell['tolerance']:g}"

    def warm_up(self, cell: Cell) -> None:
        """Have a solver compiled once, before its first attempt: that is not to cost it its limit.

        Compiled loops are kept on disk, where the processes of later attempts find them.
        """
        name = cell.get("solver")
        if name is not None and name not in self._warm:
            self._warm.add(name)
            isolated(partial(warm_up, self.solvers[name]), seconds=COMPILING)

    def run(self, cell: Cell) -> dict[str, Any]:
        """Attempt a problem in a process of its own."""
        if "reference" in cell:
            job = partial(reference().attempt, named(["highs"])["highs"], 1e-6, 60.0)
            ended = isolated(job, seconds=60.0)
            cpu = ended.value["cpu"] if ended.how == "done" else None
            return {"cpu": cpu, "machine": self.machine}
        problem = self._problems[cell["set"], cell["problem"]]
        solver, tolerance = self.solvers[cell["solver"]], cell["tolerance"]
        where = {"machine": self.machine}
        try:
            refusal = problem.refusal(solver)
        except Exception as error:  # of whoever wrote solver, formulation or structure
            said = f"{type(error).__name__}: {error}"
            return {"status": "failed", "claim": "", "message": said, **where}
        if refusal:
            return {"status": "refused", "message": refusal, **where}
        job = partial(problem.attempt, solver, tolerance, self.limit)
        ended = isolated(job, seconds=self.limit, memory=self.memory)
        if ended.how == "done":
            numbers: dict[str, Any] = ended.value
            return numbers | where
        how = "failed" if ended.how == "error" else ended.how
        return {"status": how, "claim": "", "message": ended.message, **where}


def _tolerances(given: Any) -> list[float] | None:
    """Return tolerances, each once; None as it is."""
    if given is None:
        return None
    try:
        tolerances = list(dict.fromkeys(float(tol) for tol in given))
    except (TypeError, ValueError):
        raise InvalidInputError(f"tolerances is a list of numbers, not {given!r}.") from None
    if not tolerances or not all(0 < tol < 1 for tol in tolerances):
        raise InvalidInputError(f"Tolerances must lie between 0 and 1; got {tolerances}.")
    return tolerances


def reference() -> Problem:
    """Return the problem that is timed again and again: a dense random LP."""
    rng = np.random.default_rng(0)
    A, inside = rng.standard_normal((300, 200)), rng.random(200)
    free = np.full(300, np.inf)
    P = sp.csr_array((200, 200))
    sides = (A @ inside - 1.0, free, np.zeros(200), np.full(200, 10.0))
    return Single("reference", "", programme(P, rng.random(200), A, *sides))
