"""What a fit in one process takes beyond the examples that it is given, in sizes of these.

Every fit is alone in a fresh process (:mod:`structopt.lab.bench.memory_run`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from structopt.lab.bench.drawn_data import CASES
from structopt.lab.bench.memory_run import ROUNDS
from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.process import alone
from structopt.lab.harness.study import Cell, Row
from structopt.lab.harness.table import Table

METHODS = ("block-ascent", "cutting-plane")


@dataclass
class MemoryBench(Bench):
    """Chains and classes, sparse and dense, by two methods."""

    name = "bench-memory"

    rows: int = arguments.argument(300_000, "rows of inputs (300000)")

    def cells(self) -> list[Cell]:
        """Return a cell a kind of data and method."""
        return [{"case": case, "method": method} for case in CASES for method in METHODS]

    def run(self, cell: Cell) -> dict[str, Any]:
        """Fit in a process of its own."""
        given = cell["case"], cell["method"], str(self.rows)
        return alone("structopt.lab.bench.memory_run", *given)

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return one row a fit."""
        lines = [
            (
                str(row["case"]), str(row["method"]), f"{row['data']:.0f}", f"{row['weights']:.1f}",
                f"{row['peak']:.0f}", f"{row['peak'] / row['data']:.2f}",
            )
            for row in rows
        ]  # fmt: skip
        return [
            Table(
                f"Memory of a fit of {self.rows:,} rows, in MB",
                ("data", "method", "size", "weights", "peak", "peak / size"),
                tuple(lines),
                ("Size: one CSR base with 32-bit indices, or the dense rows. Peak: the largest "
                 "that was resident during the fit, less what was resident before it, the given "
                 f"rows among it. {ROUNDS} rounds, one slack an example; cuts are counted.",
                 *left_out),
            )
        ]  # fmt: skip
