r"""The formulations of ``examples/zoo.py`` on letters and on chunks of sentences, beside M3N.

Each learns as it stands in the file, all with one C, in a process of its own: handwritten words
(OCR letters, fold 1; tested on the other folds) and base chunks of CoNLL-2000 from parts of speech
(tested on its test file), both looked for in the folder that ``STRUCTOPT_DATA`` names, or, with
``--invented``, sentences drawn at random. Nothing counts as solved that is not proved to 1e-2.
"""

from __future__ import annotations

import importlib.util
import math
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from string import ascii_lowercase
from typing import Any, NamedTuple

from rich.console import Console

from structopt.datasets import load_conll2000
from structopt.engines.dataset import DataSet
from structopt.errors import ConvergenceWarning, InvalidInputError
from structopt.features.words import WordFeatures
from structopt.lab.bench.formulations import GAP, PLAIN, letters_of_fold_1
from structopt.lab.bench.tagging import make_tagging
from structopt.lab.bench.zoo_page import page
from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.isolated import isolated
from structopt.lab.harness.machine import Machine
from structopt.lab.harness.measure import error_percent, solve
from structopt.lab.harness.output import write_files
from structopt.lab.harness.study import TURN, Cell, Row, every, known, median, where
from structopt.lab.harness.table import Table
from structopt.lab.harness.terminal import written
from structopt.structures.chain.structure import Chain

C = 0.1
TESTS = 500
"""Examples that the error is measured on."""


class Task(NamedTuple):
    """A chain, what it learns from, and what it is tested on."""

    structure: Chain
    X: list[Any]
    Y: list[Any]
    tests: list[Any]
    gold: list[Any]


def letters(size: int) -> Task:
    """Return the first words of fold 1."""
    (X, Y), (tests, gold) = letters_of_fold_1()
    structure = Chain(labels=list(ascii_lowercase)).fitted(X, Y)
    return Task(structure, X[:size], Y[:size], tests[:TESTS], gold[:TESTS])


def chunks(size: int) -> Task:
    """Return sentences with their chunk tags; parts of speech of three words are what is seen."""
    train, test = load_conll2000("train")[:size], load_conll2000("test")[:TESTS]
    features = WordFeatures(("word",), window=(-1, 0, 1), bias=True)
    X = features.fit_transform([s.column(1) for s in train])
    Y, gold = ([s.column(2) for s in part] for part in (train, test))
    tests = features.transform([s.column(1) for s in test])
    labels = sorted({tag for part in (Y, gold) for tags in part for tag in tags})
    return Task(Chain(labels=labels).fitted(X, Y), list(X), Y, list(tests), gold)


def invented(size: int) -> Task:
    """Return drawn sentences."""
    X, Y = make_tagging(2 * size, n_words=24, n_labels=4)
    return Task(Chain().fitted(X, Y), X[:size], Y[:size], X[size:], Y[size:])


TASKS = {"letters": letters, "chunks": chunks, "invented": invented}


def catalogue(source: str) -> dict[str, type[Any]]:
    """Return the formulations of a zoo file by name, the plain one first."""
    path = Path(source)
    spec = importlib.util.spec_from_file_location("structopt_zoo", path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise InvalidInputError(
            f"There is no zoo at {source!r}: run this in a checkout, or say --source FILE."
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where `inspect` looks for the lines of a class
    spec.loader.exec_module(module)
    return {PLAIN: module.Hinges, **module.ZOO}


@cache
def given(task: str, size: int) -> Task:
    """Return a task, read once."""
    return TASKS[task](size)


def measured(source: str, kind: str, given: Task, time_limit: float) -> dict[str, Any]:
    """Learn once, after a second on three examples that compiles what is needed."""
    formulation = catalogue(source)[kind](C=C)
    few = DataSet.of(given.structure, given.X[:3], given.Y[:3])
    data = DataSet.of(given.structure, given.X, given.Y)
    options: dict[str, Any] = {"backend": "auto", "tol": GAP, "max_iter": 10_000}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solve(given.structure, formulation, few, time_limit=1.0, **options)
        solved = solve(given.structure, formulation, data, time_limit=time_limit, **options)
    certificate = solved.result.certificate
    return {
        "cpu": solved.to(GAP),
        "backend": solved.result.backend,
        "relative_gap": certificate.relative_gap,
        "certified": bool(certificate.certified and certificate.relative_gap <= GAP),
        "error": error_percent(given.structure, solved.result.weights, given.tests, given.gold),
    }


@dataclass
class ZooBench(Bench):
    """Every formulation of the zoo on two tasks, and the page that shows them.

    Parameters
    ----------
    kinds : sequence of str, optional
        Names in the zoo; all by default. M3N always takes part.
    source : str
        The file with the formulations.
    page : str
        The file to write.
    words, sentences : int
        Examples to learn from.
    invented : int
        Draw so many sentences instead of reading data.
    time_limit : float
        CPU seconds after which a formulation gives up.
    """

    name = "bench-zoo"

    kinds: Sequence[str] = arguments.argument((), "which ones (all)", nargs="+", metavar="KIND")
    source: str = arguments.argument("examples/zoo.py", "the file they are in", metavar="FILE")
    page: str = arguments.argument("docs/zoo.md", "where to write the page", metavar="FILE")
    words: int = arguments.argument(200, "words of letters to learn from")
    sentences: int = arguments.argument(200, "sentences to learn from")
    invented: int = arguments.argument(0, "sentences drawn at random instead of the two tasks")
    time_limit: float = arguments.limit(30.0)

    def cells(self) -> list[Cell]:
        """Return a cell a formulation and task; M3N first, in the middle and at the end."""
        _, *others = catalogue(self.source)
        chosen = known(self.kinds or others, others, "formulation")
        sizes = {"letters": self.words, "chunks": self.sentences}
        if self.invented:
            sizes = {"invented": self.invented}
        half = len(chosen) // 2
        order: list[Cell] = [
            {"kind": PLAIN, TURN: 0},
            *({"kind": kind} for kind in chosen[:half]),
            {"kind": PLAIN, TURN: 1},
            *({"kind": kind} for kind in chosen[half:]),
            {"kind": PLAIN, TURN: 2},
        ]
        return [
            contender | {"task": task, "size": size, "time_limit": self.time_limit}
            for contender in order
            for task, size in sizes.items()
        ]

    def warm_up(self, cell: Cell) -> None:
        """Compile once, where the processes find it."""
        if cell["kind"] == PLAIN:
            task, source = given(cell["task"], cell["size"]), str(Path(self.source).resolve())
            isolated(partial(measured, source, PLAIN, task, 1.0), seconds=120.0)

    def run(self, cell: Cell) -> dict[str, Any]:
        """Learn in a process of its own: a master that overruns the limit is ended there."""
        source, task = str(Path(self.source).resolve()), given(cell["task"], cell["size"])
        job = partial(measured, source, cell["kind"], task, self.time_limit)
        ended = isolated(job, seconds=self.time_limit)
        if ended.how == "done":
            return {**ended.value, "ended": ""}
        nothing = {"cpu": math.inf, "relative_gap": math.inf, "error": math.nan, "backend": ""}
        return {**nothing, "certified": False, "ended": f"{ended.how}: {ended.message}"}

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return one row a formulation and the two tasks beside each other."""
        tasks = every(rows, "task")
        plain = {task: median(where(rows, kind=PLAIN, task=task), "cpu") for task in tasks}
        columns = [
            f"{task}: {column}" for task in tasks
            for column in ("CPU by M3N's", "test error %", "certified", "backend")
        ]  # fmt: skip
        lines = [
            (kind, *(told for task in tasks for told in self._told(rows, kind, task, plain[task])))
            for kind in every(rows, "kind")
        ]
        times = ", ".join(
            f"{plain[task]:.2f} CPU s on {where(rows, task=task)[0]['size']} examples of {task}"
            for task in tasks
        )
        return [Table(
            "The zoo beside M3N",
            ("formulation", *columns),
            tuple(lines),
            (f"CPU seconds of one thread from the declaration to a certified relative gap of "
             f"{GAP:g}, at most {self.time_limit:g}, one run each (M3N: the median of three); "
             f"compilation left out. M3N takes {times}. C = {C:g} for all, not tuned: errors tell "
             "what a form does at this C, not which form is best. They are errors of positions on "
             f"up to {TESTS} other examples, with the weights it had where a run ended early.",),
        )]  # fmt: skip

    def _told(self, rows: Sequence[Row], kind: str, task: str, plain: float) -> list[str]:
        runs = where(rows, kind=kind, task=task)
        if not runs:
            return ["", "", "not run", ""]
        run, most = runs[0], f"> {self.time_limit / plain:.0f}"
        if run["ended"]:
            return [most, "-", f"no ({run['ended']})", "-"]
        if not run["certified"]:
            gap = run["relative_gap"]
            said = f"no (gap {gap:.1e})" if math.isfinite(gap) else "no (no bound yet)"
            return [most, f"{run['error']:.1f}", said, run["backend"]]
        return [f"{median(runs, 'cpu') / plain:.1f}", f"{run['error']:.1f}", "yes", run["backend"]]

    def leave(self, rows: Sequence[Row], command: str, machine: Machine) -> None:
        """Write the page."""
        home, (table,) = Path(self.page), self.tables(rows, [])
        text = page(catalogue(self.source), table, command=command, machine=machine)
        written(write_files(home.parent, {home.name: text}), Console())
