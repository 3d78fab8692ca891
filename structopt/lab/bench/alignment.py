"""Word alignment of the Hansards: alignment error rate by pass, extragradient and perceptron.

Train on 100 of the hand-aligned pairs, test on the other 347, as Taskar, Lacoste-Julien and Jordan
did in their second regime; the dev pairs choose C and the stopping point is the last pass. Words
are counted in the raw text of all files. The data are looked for in the folder that
``STRUCTOPT_DATA`` names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from structopt.formulations.m3n import M3N
from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.study import Cell, Row
from structopt.lab.harness.table import Table
from structopt.lab.reproduce.saddle_m3n.alignments import Alignments
from structopt.lab.reproduce.saddle_m3n.curves import LEARNERS, trace
from structopt.learn.metrics import alignment_error_rate
from structopt.methods.saddle.extragradient import SaddleExtragradient

TRAIN = 100
"""Hand-aligned test pairs to learn from, the first ones."""
GRID = (0.003, 0.03, 0.3, 3.0)
"""Values of C of which the dev pairs choose."""


@dataclass
class AlignmentBench(Bench):
    """Both learners, measured after every few passes."""

    name = "bench-alignment"

    passes: int = arguments.argument(50, "passes")

    def cells(self) -> list[Cell]:
        """Return a cell a learner."""
        return [{"learner": learner} for learner in LEARNERS]

    @cached_property
    def problem(self) -> tuple[Alignments, dict[float, float]]:
        """The data, and the error rate on the dev pairs by C."""
        task, dev = Alignments.of(TRAIN, TRAIN), {}
        for C in GRID:
            learned = SaddleExtragradient(task.structure, M3N(C), task.data, tol=1e-2, max_iter=20)
            dev[C] = task.errors(learned.solve().weights)["validation"]
        return task, dev

    def warm_up(self, cell: Cell) -> None:
        """Count words and choose C."""
        _ = self.problem

    def run(self, cell: Cell) -> dict[str, Any]:
        """Learn, and measure on the way."""
        task, dev = self.problem
        return trace(
            cell["learner"], task.structure, task.data, C=min(dev, key=dev.__getitem__),
            iterations=self.passes, parts=task.edges, errors=task.errors,
            places=(1, 2, 5, *range(10, self.passes, 10)),
        )  # fmt: skip

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return one row a measured pass."""
        task, dev = self.problem
        lines = []
        for row in rows:
            gaps = [f"{gap:.1e}" for gap in row.get("gaps", ())] or ["none"] * len(row["test"])
            found = zip(row["iterations"], row["test"], gaps, strict=True)
            lines += [(row["learner"], f"{n}", f"{aer:.2f}", gap) for n, aer, gap in found]
        X, sure, possible = task.sets["test"]
        dice = [set(zip(*(x[:, :, 3] > 0.3).nonzero(), strict=True)) for x in X]
        heuristic = 100.0 * alignment_error_rate(sure, dice, possible=possible)
        lines.append(("dice above 0.3, matched", "", f"{heuristic:.2f}", "none"))
        shown = ", ".join(f"{aer:.2f} at C = {C:g}" for C, aer in dev.items())
        chosen = min(dev, key=dev.__getitem__)
        return [Table(
            "Word alignment, Hansards: 100 pairs to train, 347 to test",
            ("method", "passes", "AER %", "relative gap"),
            tuple(lines),
            (f"C = {chosen:g} by the dev pairs (AER {shown}).",),
        )]  # fmt: skip
