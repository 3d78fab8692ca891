"""A fit of 20 rows, and the first fit of a process with a warm and a cold cache of compiled loops.

Every run has a process of its own and one thread (:mod:`structopt.lab.bench.first_fit_run`).
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.process import alone
from structopt.lab.harness.study import Cell, Row, in_turns, where
from structopt.lab.harness.table import Table

CASES = {
    "rows": "a fit of 20 rows, imports and the first one left out",
    "warm": "the README's example, warm cache, imports included",
    "cold": "the README's example, cold cache",
}


@dataclass
class FirstFitBench(Bench):
    """What is fixed: declaring, reading, importing, compiling."""

    name = "bench-first-fit"

    repeats: int = arguments.repeats(3)

    def cells(self) -> list[Cell]:
        """Return a cell a case and turn."""
        return in_turns([{"case": case} for case in CASES], self.repeats)

    def run(self, cell: Cell) -> dict[str, Any]:
        """Fit in a process of its own; a warm cache is warm the second time."""
        given = ("structopt.lab.bench.first_fit_run", cell["case"])
        if cell["case"] == "warm" and cell["turn"] == 0:
            alone(*given)
        return alone(*given)

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return one row a case."""
        lines = []
        for case, said in CASES.items():
            seconds = [cpu for run in where(rows, case=case) for cpu in run["cpu"]]
            middle = statistics.median(run["cpu"][0] for run in where(rows, case=case))
            lines.append((said, f"{middle:.3g}", f"{min(seconds):.3g}-{max(seconds):.3g}"))
        return [Table("What is fixed, CPU s", ("case", "median", "range"), tuple(lines), ())]
