r"""Sums of parts by block ascent, by cutting planes and by Frank-Wolfe, to one certified gap.

    1/(2C) |w|^2 + sum_i max_y (loss(y_i, y) - w . delta_i(y))

Drawn data have 8 of 1,000 columns a row, in Zipf's proportions, next to each other or far apart;
parses are those of ``structopt bench parsing``, names CoNLL-2002's Spanish as segments (looked for
in the folder that ``STRUCTOPT_DATA`` names). Every run has a process of its own and one thread
(:mod:`structopt.lab.bench.parts_run`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from structopt.errors import MissingDataError
from structopt.lab.bench.parts_data import DRAWN
from structopt.lab.bench.parts_run import GIVEN
from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.process import alone
from structopt.lab.harness.study import Cell, Row, in_turns, known, median, where
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
    methods: Sequence[str] = arguments.argument(
        METHODS, f"of {', '.join(METHODS)}", nargs="+", metavar="NAME"
    )

    def __post_init__(self) -> None:
        known(self.methods, METHODS, "method")

    def cells(self) -> list[Cell]:
        """Return a cell a problem, method and turn."""
        pairs = [{"case": case, "method": name} for case in CASES for name in self.methods]
        return in_turns(pairs, self.repeats)

    def run(self, cell: Cell) -> dict[str, Any]:
        """Train in a process of its own."""
        name, width, tol = CASES[cell["case"]]
        return alone("structopt.lab.bench.parts_run", cell["method"], name, str(width), tol)

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return one row a problem."""
        lines = []
        for case in CASES:
            each = [where(rows, case=case, method=name) for name in self.methods]
            if all(each):
                middle = [median(runs, "cpu") for runs in each]
                cells = [
                    f"{cpu:.3g} ({_range(runs)})" for cpu, runs in zip(middle, each, strict=True)
                ]
                lines.append(
                    (case, *cells, *(f"{middle[0] / cpu:.2f}" for cpu in middle[1:]),
                     ", ".join(f"{runs[0]['rounds']}" for runs in each))
                )  # fmt: skip
        return [Table(
            "Sums of parts, CPU s",
            ("problem", *self.methods, *(f"/ {name}" for name in self.methods[1:]), "rounds"),
            tuple(lines),
            ("Medians and ranges; encoding is left out.", *left_out),
        )]  # fmt: skip


def _range(runs: Sequence[Row]) -> str:
    seconds = [run["cpu"] for run in runs]
    return f"{min(seconds):.3g}-{max(seconds):.3g}"
