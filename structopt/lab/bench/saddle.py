"""Saddle-point learning at the size of the paper's experiments: alignments and segmentations.

Two problems of Taskar, Lacoste-Julien and Jordan (2006, section 5), drawn synthetically at their
size: 5,000 pairs of sentences with 555,000 candidate edges and 20 weights, and 37,000 nodes with
88,000 edges and 46 weights, one of them >= 0. Measured are CPU seconds of one thread to a certified
relative gap, and where they go; the averaged perceptron, which has no certificate, gets ten passes
over the data.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from structopt.datasets import make_alignments, make_grids
from structopt.engines.dataset import DataSet
from structopt.errors import IncompatibleError
from structopt.formulations.m3n import M3N
from structopt.lab.harness.table import Table
from structopt.methods import registry
from structopt.run.events import Round
from structopt.run.result import Result
from structopt.structures.base.structure import Structure
from structopt.structures.cut.structure import GraphCut
from structopt.structures.matching.structure import Matching

logger = logging.getLogger(__name__)

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


@dataclass(frozen=True)
class Run:
    """One learner's run; seconds are CPU time."""

    result: Result
    seconds: float
    oracle: float
    projection: float
    test_error: float

    @property
    def rest(self) -> float:
        """What is neither oracle nor projection (of the extragradient method) or master solve."""
        return max(0.0, self.seconds - self.oracle - self.projection)


@dataclass
class SaddleBench:
    """The runs of every learner on every task."""

    tol: float
    runs: dict[str, dict[str, Run]] = field(default_factory=dict)
    sizes: dict[str, str] = field(default_factory=dict)

    @property
    def certified(self) -> bool:
        """Whether the extragradient method proved the gap on every task."""
        return all(r["extragradient"].result.certificate.certified for r in self.runs.values())

    def tables(self) -> list[Table]:
        """Return one table a task."""
        return [self._table(task, runs) for task, runs in self.runs.items()]

    def _table(self, task: str, runs: dict[str, Run]) -> Table:
        rows = []
        for learner, run in runs.items():
            c, history = run.result.certificate, run.result.history
            bounded = np.isfinite(c.dual)
            rows.append(
                (
                    learner,
                    f"{run.seconds:.1f}",
                    *(f"{s:.1f}" for s in (run.oracle, run.projection, run.rest)),
                    f"{len(history)}",
                    f"{sum(r.iterations for r in history)}" if bounded else "",
                    f"{c.primal:.6g}",
                    f"{c.relative_gap:.1e}" if bounded else "none",
                    f"{100 * run.test_error:.2f}",
                )
            )
        return Table(
            f"{task}: {self.sizes[task]}",
            ("method", "CPU s", "oracle s", "solve s", "rest s", "rounds", "steps",
             "objective", "gap", "test error %"),
            tuple(rows),
            (f"One thread, to a certified relative gap of {self.tol:g}; encoding and compilation "
             "left out. Solve is projections or master problems. Test error is per gold link (too "
             "many and too few) or per node.",),
        )  # fmt: skip


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


def bench_saddle(
    *,
    quick: bool = False,
    tol: float = 1e-3,
    limit: float = 120.0,
    seed: int = 0,
    report: Callable[[str], None] = lambda text: None,
) -> SaddleBench:
    """Measure every learner on both tasks.

    Parameters
    ----------
    quick : bool
        A twentieth of the size.
    tol : float
        Relative certified gap.
    limit : float
        CPU seconds after which a learner gives up.
    """
    from threadpoolctl import threadpool_limits

    bench = SaddleBench(tol)
    with threadpool_limits(1):
        for task in tasks(quick=quick, seed=seed):
            report(f"{task.name}: encoding")
            structure = task.structure.fitted(*task.train)
            data = DataSet.of(structure, *task.train)
            few = DataSet.of(structure, *(part[:1] for part in task.train))
            parts = len(data.shards[0].relaxation().gold)
            bench.sizes[task.name] = (
                f"{data.n_examples} examples, {parts:,} parts, {data.n_features} weights, "
                f"C = {task.C:g}"
            )
            bench.runs[task.name] = {}
            for learner in LEARNERS:
                report(f"{task.name}: {learner}")
                try:
                    _run(learner, structure, few, task, 1.0, 1e-1)  # compile
                except IncompatibleError as reason:  # Frank-Wolfe and weights >= 0
                    logger.info("%s: %s", learner, reason)
                    continue
                run = _run(learner, structure, data, task, limit, tol)
                bench.runs[task.name][learner] = run
    return bench


def _run(
    learner: str, structure: Structure, data: DataSet, task: Task, limit: float, tol: float
) -> Run:
    name, options, slacks = LEARNERS[learner]
    wall, start = time.perf_counter(), time.process_time()

    def late(record: Round) -> bool:
        return time.process_time() - start > limit

    formulation = M3N(task.C, slacks="one" if slacks == "one" else "n")
    method = registry.make(name)(structure, formulation, data, tol=tol, callbacks=[late], **options)
    result = method.solve()
    seconds = time.process_time() - start
    share = seconds / max(time.perf_counter() - wall, 1e-9)  # other work on the machine
    asked = share * sum(r.oracle_seconds for r in result.history)
    solved = share * sum(r.solve_seconds for r in result.history)
    predicted = structure.predict(task.test[0], result.weights)
    pairs = list(zip(task.test[1], predicted, strict=True))
    wrong = sum(structure.part_errors(y, p) for y, p in pairs)
    total = sum(structure.part_count(y) for y, _ in pairs)
    return Run(result, seconds, asked, solved, wrong / max(1, total))
