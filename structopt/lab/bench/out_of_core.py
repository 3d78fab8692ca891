"""Data in a folder beside data in memory: peak memory, CPU and rounds as the data grow.

Every run is alone in a fresh process (:mod:`structopt.lab.bench.out_of_core_run`); peak memory is
what it took beyond what the process had before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.process import alone
from structopt.lab.harness.study import Cell, Row
from structopt.lab.harness.table import Table

WAYS = ("memory", "disk")


@dataclass
class OutOfCoreBench(Bench):
    """The same drawn rows in memory and in a folder.

    Parameters
    ----------
    chunks : sequence of int
        How many chunks the data have.
    rows : int
        Of each chunk, 2,000 numbers a row.
    most : int
        Chunks up to which they are learned in memory too.
    within : int
        MB that data in a folder are to be learned in, which the operating system sees to; 0: all.
    """

    name = "bench-out-of-core"

    chunks: Sequence[int] = arguments.argument(
        (10, 40), "chunks of the data", nargs="+", type=int, metavar="N"
    )
    rows: int = arguments.argument(2000, "rows a chunk, of 2,000 numbers")
    most: int = arguments.argument(40, "chunks that are learned in memory too", flag="--in-memory")

    within: int = arguments.argument(
        0, "MB of addresses that a run on a folder is given beyond what it has (no limit)"
    )

    def cells(self) -> list[Cell]:
        """Return a cell a size and way."""
        return [
            {"chunks": n, "way": way}
            for n in self.chunks
            for way in WAYS
            if way == "disk" or n <= self.most
        ]

    def run(self, cell: Cell) -> dict[str, Any]:
        """Learn in a process of its own."""
        within = self.within if cell["way"] == "disk" else 0
        given = cell["way"], str(cell["chunks"]), str(self.rows), str(within)
        return alone("structopt.lab.bench.out_of_core_run", *given)

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return one row a run."""
        lines = [
            (
                f"{row['megabytes']:.0f} MB",
                str(row["way"]),
                f"{row['memory']:.0f}",
                f"{row['encode']:.1f}",
                f"{row['train']:.1f}",
                f"{row['rounds']}",
                f"{row['found']}",
                f"{row['cuts']}",
                f"{row['objective']:.6g}",
                f"{row['gap']:.1e}",
                f"{row['groups']}",
            )
            for row in rows
        ]
        return [
            Table(
                f"Data in memory and in a folder, {self.rows} rows a chunk",
                ("data", "where", "peak MB", "encode CPU s", "train CPU s", "rounds",
                 "cuts found", "left", "P", "gap", "slacks"),
                tuple(lines),
                ("The size is that of one CSR base; M3N over five classes and 2,000 inputs, one "
                 "slack a chunk or as many as the memory allows, to a certified 1e-2. Peak "
                 "resident memory beyond the process's own; encoding draws the rows.",
                 *([f"Those in a folder had {self.within} MB of addresses more than the process "
                    "had before."] if self.within else [])),
            )
        ]  # fmt: skip
