"""Saddle-point learning at the size of the paper's experiments: alignments and segmentations.

Two problems of Taskar, Lacoste-Julien and Jordan (2006, section 5), drawn synthetically at their
size: 5,000 pairs of sentences with 555,000 candidate edges and 20 weights, and 37,000 nodes with
88,000 edges and 46 weights, one of them >= 0. Measured are CPU seconds of one thread to a certified
relative gap, and where they go; the averaged perceptron, which has no certificate, gets ten passes
over the data.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from structopt.datasets import make_alignments, make_grids
from structopt.engines.dataset import DataSet
from structopt.errors import IncompatibleError
from structopt.formulations.m3n import M3N
from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.measure import Solved, error_percent, solve
from structopt.lab.harness.study import Cell, Row, every, where
from structopt.lab.harness.table import Table
from structopt.structures.base.structure import Structure
from structopt.structures.cut.structure import GraphCut
from structopt.structures.matching.structure import Matching

LEARNERS: dict[str, tuple[str, dict[str, Any], str]] = {
    "extragradient": ("extragradient", {}, "n"),
    "one-slack cuts": ("cutting-plane", {}, "one"),
    "Frank-Wolfe": ("frank-wolfe", {}, "n"),
    "perceptron": ("perceptron", {"max_iter": 10}, "n"),
}


@dataclass(frozen=True)
class Task:
    """A problem: training and test data, and the C to learn it with."""

    name: str
    structure: Structure
    train: tuple[Any, Any]
    test: tuple[Any, Any]
    C: float

    @cached_property
    def fitted(self) -> Structure:
        """The structure that knows the data."""
        return self.structure.fitted(*self.train)

    @cached_property
    def data(self) -> DataSet:
        """The encoded training data."""
        return DataSet.of(self.fitted, *self.train)

    @property
    def size(self) -> str:
        """How large it is, in words."""
        parts = len(self.data.shards[0].relaxation().gold)
        n, features = self.data.n_examples, self.data.n_features
        return f"{n} examples, {parts:,} parts, {features} weights, C = {self.C:g}"


def tasks(*, quick: bool = False, seed: int = 0) -> list[Task]:
    """Return the two tasks; ``quick`` draws them at a twentieth of the size."""
    pairs, side, scenes = (250, 43, 1) if quick else (5000, 86, 5)
    held_out = 100 if quick else 500
    X, Y = make_alignments(pairs + held_out, seed=seed)
    S, T = make_grids(scenes + 1, side=side, diagonals=0.4125, seed=seed)
    return [
        Task("alignment", Matching(), (X[:pairs], Y[:pairs]), (X[pairs:], Y[pairs:]), 50.0 / pairs),
        Task("segmentation", GraphCut(), (S[:scenes], T[:scenes]), (S[scenes:], T[scenes:]), 0.01),
    ]


@dataclass
class SaddleBench(Bench):
    """Every learner on every task, one run each.

    Parameters
    ----------
    quick : bool
        A twentieth of the size.
    tol : float
        Relative certified gap.
    time_limit : float
        CPU seconds after which a learner gives up.
    """

    name = "bench-saddle"
    excuses: ClassVar[tuple[type[Exception], ...]] = (IncompatibleError,)
    """Frank-Wolfe and weights >= 0."""

    quick: bool = arguments.quick("a twentieth of the size: seconds")
    tol: float = 1e-3
    time_limit: float = arguments.limit(120.0)

    @cached_property
    def tasks(self) -> list[Task]:
        """What is learned."""
        return tasks(quick=self.quick)

    def cells(self) -> list[Cell]:
        """Return a cell a task and learner."""
        return [{"task": t.name, "learner": learner} for t in self.tasks for learner in LEARNERS]

    def warm_up(self, cell: Cell) -> None:
        """Learn from one example."""
        task = self._task(cell)
        few = DataSet.of(task.fitted, *(part[:1] for part in task.train))
        self._solved(cell, few, 1.0, 1e-1)

    def run(self, cell: Cell) -> dict[str, Any]:
        """Learn, and divide the CPU seconds as the wall time was."""
        task, wall = self._task(cell), time.perf_counter()
        solved = self._solved(cell, task.data, self.time_limit, self.tol)
        share = solved.cpu / max(time.perf_counter() - wall, 1e-9)  # other work on the machine
        result, history = solved.result, solved.result.history
        asked = share * sum(r.oracle_seconds for r in history)
        projected = share * sum(r.solve_seconds for r in history)
        return {
            "cpu": solved.cpu, "oracle": asked, "solve": projected,
            "rest": max(0.0, solved.cpu - asked - projected),
            "rounds": len(history), "steps": sum(r.iterations for r in history),
            "bounded": bool(np.isfinite(result.certificate.dual)),
            "primal": result.certificate.primal, "gap": result.certificate.relative_gap,
            "certified": result.certificate.certified,
            "error": error_percent(task.fitted, result.weights, *task.test),
        }  # fmt: skip

    def _task(self, cell: Cell) -> Task:
        return next(task for task in self.tasks if task.name == cell["task"])

    def _solved(self, cell: Cell, data: DataSet, time_limit: float, tol: float) -> Solved:
        method, options, slacks = LEARNERS[cell["learner"]]
        task = self._task(cell)
        formulation = M3N(task.C, slacks="one" if slacks == "one" else "n")
        return solve(
            task.fitted, formulation, data, method=method, time_limit=time_limit, tol=tol, **options
        )

    def proved(self, rows: Sequence[Row]) -> bool:
        """Whether the extragradient method proved the gap on every task."""
        return all(row["certified"] for row in where(rows, learner="extragradient"))

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return one table a task."""
        return [self._table(task, where(rows, task=task)) for task in every(rows, "task")]

    def _table(self, task: str, rows: Sequence[Row]) -> Table:
        size = self._task({"task": task}).size
        return Table(
            f"{task}: {size}",
            ("method", "CPU s", "oracle s", "solve s", "rest s", "rounds", "steps",
             "objective", "gap", "test error %"),
            tuple(
                (
                    row["learner"],
                    *(f"{row[what]:.1f}" for what in ("cpu", "oracle", "solve", "rest")),
                    f"{row['rounds']}",
                    f"{row['steps']}" if row["bounded"] else "",
                    f"{row['primal']:.6g}",
                    f"{row['gap']:.1e}" if row["bounded"] else "none",
                    f"{row['error']:.2f}",
                )
                for row in rows
            ),
            (f"One thread, to a certified relative gap of {self.tol:g}; encoding and compilation "
             "left out. Solve is projections or master problems. Test error is per gold link (too "
             "many and too few) or per node.",),
        )  # fmt: skip
