"""A pass over data of this process by one thread and by two, in turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from structopt.engines.dataset import DataSet
from structopt.lab.bench.drawn_data import CASES, DECODED
from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.study import Cell, Row
from structopt.lab.harness.table import Table
from structopt.structures.base.oracles import loss_augmented

THREADS = (1, 2)


@dataclass
class ThreadsBench(Bench):
    """Wall time, which needs two idle cores: what others take of them shows."""

    name = "bench-threads"

    rows: int = arguments.argument(200_000, "rows of inputs (200000)")
    repeats: int = arguments.argument(25, "passes by each number of threads (25)")

    def cells(self) -> list[Cell]:
        """Return a cell a kind of data."""
        return [{"case": case} for case in (*CASES, *DECODED)]

    def run(self, cell: Cell) -> dict[str, Any]:
        """Return milliseconds of passes, those of one thread and of two after each other."""
        structure, X, Y = (CASES | DECODED)[cell["case"]](self.rows)
        structure = structure.fitted(X, Y)
        weights = np.random.default_rng(0).normal(size=structure.n_features_)
        sets = {n: DataSet.of(structure, X, Y, n_jobs=n) for n in THREADS}
        for data in sets.values():
            data.ask(loss_augmented, weights)
        taken: dict[int, list[float]] = {n: [] for n in THREADS}
        for _ in range(self.repeats):
            for n, data in sets.items():
                began = time.perf_counter()
                data.ask(loss_augmented, weights)
                taken[n].append(1e3 * (time.perf_counter() - began))
        return {f"{kind} {n}": summary(taken[n]) for n in THREADS
                for kind, summary in (("best", min), ("median", statistics.median))}  # fmt: skip

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return one row a kind of data."""
        lines = [
            (
                str(row["case"]),
                *(f"{row[f'{kind} {n}']:.4g}" for kind in ("best", "median") for n in THREADS),
                *(f"{row[f'{kind} 2'] / row[f'{kind} 1']:.2f}" for kind in ("best", "median")),
            )
            for row in rows
        ]
        return [
            Table(
                f"A pass over {self.rows:,} rows by one and by two threads, wall ms",
                ("data", "one, best", "two, best", "one, median", "two, median", "ratio, best",
                 "ratio, median"),
                tuple(lines),
                (f"{self.repeats} passes each, in turns. Ratios are those of idle cores only if "
                 "nothing else runs.", *left_out),
            )
        ]  # fmt: skip
