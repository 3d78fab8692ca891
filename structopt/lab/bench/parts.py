r"""Sums of parts by block ascent, by cutting planes and by Frank-Wolfe, to one certified gap.

    1/(2C) |w|^2 + sum_i max_y (loss(y_i, y) - w . delta_i(y))

Drawn data have 8 of 1,000 columns a row, in Zipf's proportions, next to each other or far apart;
parses are those of ``structopt bench parsing``, names CoNLL-2002's Spanish as segments (looked for
in the folder that ``STRUCTOPT_DATA`` names). Every problem has a process of its own with one
thread, in which methods take turns (:mod:`structopt.lab.bench.parts_run`).
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from structopt.errors import MissingDataError
from structopt.lab.bench.parts_data import DRAWN
from structopt.lab.bench.parts_run import GIVEN
from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.process import alone
from structopt.lab.harness.study import Cell, Row, known
from structopt.lab.harness.table import Table

METHODS = ("block-ascent", "cutting-plane", "frank-wolfe")
WIDE = 1_000_000
CASES = {
    **{f"{name}, to {tol}": (name, 1000, tol) for name in DRAWN for tol in ("1e-2", "1e-3")},
    **{f"{name} among {WIDE:,}, to 1e-2": (name, WIDE, "1e-2") for name in ("trees", "matchings")},
    **{f"{name}, to 2e-2": (name, 0, "2e-2") for name in GIVEN},
}
"""Columns, and the gap that is certified."""


@dataclass
class PartsBench(Bench):
    """Every method on every problem."""

    name = "bench-parts"
    excuses = (MissingDataError,)

    repeats: int = arguments.repeats(3)
    problems: Sequence[str] = arguments.argument(
        (*DRAWN, *GIVEN), "what to learn (everything)", nargs="+", metavar="NAME"
    )
    methods: Sequence[str] = arguments.argument(
        METHODS, f"of {', '.join(METHODS)}", nargs="+", metavar="NAME"
    )

    def __post_init__(self) -> None:
        known(self.methods, METHODS, "method")
        known(self.problems, (*DRAWN, *GIVEN), "problem")

    def cells(self) -> list[Cell]:
        """Return a cell a problem."""
        return [{"case": case} for case, given in CASES.items() if given[0] in self.problems]

    def run(self, cell: Cell) -> dict[str, Any]:
        """Train in a process of its own."""
        given = (*CASES[cell["case"]], self.repeats, *self.methods)
        return alone("structopt.lab.bench.parts_run", *map(str, given))

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return one row a problem."""
        lines = []
        for row in rows:
            each = [row[name]["cpu"] for name in self.methods]
            middle = [statistics.median(cpu) for cpu in each]
            lines.append((
                row["case"],
                *(f"{m:.3g} ({min(cpu):.3g}-{max(cpu):.3g})"
                  for m, cpu in zip(middle, each, strict=True)),
                *(f"{middle[0] / m:.2f}" for m in middle[1:]),
                ", ".join(str(row[name]["rounds"]) for name in self.methods),
            ))  # fmt: skip
        return [Table(
            "Sums of parts, CPU s",
            ("problem", *self.methods, *(f"/ {name}" for name in self.methods[1:]), "rounds"),
            tuple(lines),
            (f"Medians and ranges of {self.repeats}; encoding is left out.", *left_out),
        )]  # fmt: skip
