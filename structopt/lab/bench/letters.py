"""Handwritten words: a certified max-margin chain beside CRFsuite, in turns, one thread each.

The learning problem is that of the published comparisons: ``P = 1/2 |w|^2 + 0.1 sum hinge`` with
Hamming margins over 4,004 weights, trained on fold 1 (704 words) and tested on the other nine, or
trained on folds 1-9 (6,251 words) and tested on fold 0. The data are looked for in the folder that
``STRUCTOPT_DATA`` names.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from structopt.datasets.home import find
from structopt.datasets.letters import FILE
from structopt.errors import InvalidInputError
from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.process import alone
from structopt.lab.harness.study import Cell, Row, every, in_turns, median, where
from structopt.lab.harness.table import Table

ONE, NINE = "1", "1-9"
TRAIN: dict[str, tuple[int, ...]] = {ONE: (1,), NINE: tuple(range(1, 10))}
LEARNERS = ("structopt", "crfsuite")

QUOTED = {
    ONE: "SVM^hmm 3.10 (C, -e 0.01) 5.8 CPU s, 887 passes, 21.39% error, P 246.7 (gap 0.6)",
    NINE: "SVM^hmm 3.10 (C) 22.0 CPU s, 14.45% error",
}
"""Of another machine, and so only the order of magnitude compares."""


@dataclass
class LettersBench(Bench):
    """Every learner several times, in turns, each time in a fresh process.

    Parameters
    ----------
    folds : "1" or "1-9"
        What to train on; "1-9" also trains structopt on fold 1, to show the growth.
    repeats : int
    learners : sequence of str
        Out of "structopt" and "crfsuite"; a peer that is not installed is left out, with a note.
    """

    folds: str = arguments.argument(
        ONE, "train on 704 words, or on 6,251", choices=tuple(TRAIN)
    )  # fmt: skip
    repeats: int = arguments.repeats(5)
    learners: Sequence[str] = LEARNERS

    def __post_init__(self) -> None:
        if self.folds not in TRAIN or "structopt" not in self.learners:
            raise InvalidInputError(
                f"folds is one of {list(TRAIN)}, and structopt among the learners; got "
                f"{self.folds!r} and {list(self.learners)}."
            )
        self.name = f"bench-letters-{self.folds}"  # type: ignore[misc]

    def cells(self) -> list[Cell]:
        """Return a cell a learner, its folds and turn."""
        find("letters", FILE)  # before any work
        growth = [{"learner": "structopt", "folds": ONE}] if self.folds == NINE else []
        todo = growth + [{"learner": learner, "folds": self.folds} for learner in self.learners]
        return in_turns(todo, self.repeats)

    def run(self, cell: Cell) -> dict[str, Any]:
        """Train and test one learner in a process of its own."""
        return measure(cell["learner"], TRAIN[cell["folds"]])

    def proved(self, rows: Sequence[Row]) -> bool:
        """Whether every one of structopt's runs proved the gap that it was asked for."""
        return all(math.isfinite(row["gap"]) for row in where(rows, learner="structopt"))

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return the comparison, and what structopt's time went to."""
        return [self._comparison(rows, left_out), self._inside(where(rows, learner="structopt"))]

    def _comparison(self, rows: Sequence[Row], left_out: Sequence[str]) -> Table:
        lines = []
        for learner, folds in every(rows, "learner", "folds"):
            runs = where(rows, learner=learner, folds=folds)
            middle, seconds = _middle(runs), [row["train"] for row in runs]
            lines.append(
                (
                    learner,
                    folds,
                    f"{middle['words']}",
                    f"{median(runs, 'train'):.3f}",
                    f"{min(seconds):.3g}-{max(seconds):.3g}",
                    f"{middle['encode']:.3f}",
                    f"{middle['passes']}",
                    _known(middle, "objective", ".5g"),
                    _known(middle, "gap", ".2f"),
                    f"{100 * middle['test_error']:.2f}",
                    f"{middle['memory']:.0f}",
                )
            )
        return Table(
            "Letters: P = 1/2 |w|^2 + 0.1 sum hinge",
            ("learner", "folds", "words", "train CPU s", "range", "encode s", "passes", "P",
             "certified gap", "test error %", "peak MB"),
            tuple(lines),
            tuple(self._notes(rows, left_out)),
        )  # fmt: skip

    def _notes(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[str]:
        ours = {f: where(rows, learner="structopt", folds=f) for f in (ONE, NINE)}
        theirs = where(rows, learner="crfsuite", folds=self.folds)
        notes = [
            f"CPU seconds of one thread after compilation, median and range of {self.repeats}; "
            "CRFsuite minimises another loss (its passes are L-BFGS iterations, without a gap)."
        ]
        if theirs:
            ratio = median(theirs, "train") / median(ours[self.folds], "train")
            notes.append(f"CRFsuite / structopt, folds {self.folds}: {ratio:.2f}.")
        if self.folds == NINE:
            each = {f: runs[0]["words"] for f, runs in ours.items()}
            few, many = (1e3 * median(ours[f], "train") / each[f] for f in (ONE, NINE))
            notes.append(
                f"Growth: {few:.2f} ms a word on fold 1, {many:.2f} ms on folds 1-9 "
                f"({many / few:.2f} times as much for {each[NINE] / each[ONE]:.1f} times as many)."
            )
        notes.append(f"Quoted, not measured here: {QUOTED[self.folds]}.")
        return notes + [f"Left out: {reason}" for reason in left_out]

    def _inside(self, rows: Sequence[Row]) -> Table:
        lines = []
        for folds in every(rows, "folds"):
            run = _middle(where(rows, folds=folds))
            split = [run[what] for what in ("oracle", "lift", "solve")]
            lines.append(
                (
                    folds,
                    f"{1e3 * run['bare_pass']:.2f}",
                    f"{run['train'] / max(run['bare_pass'], 1e-9):.0f}",
                    *(f"{100 * seconds / sum(split):.0f}" for seconds in split),
                    f"{run['cuts']}",
                )
            )
        return Table(
            "Letters: inside structopt",
            ("train folds", "bare pass ms", "training in bare passes", "oracle %", "lift %",
             "solve %", "cuts at the end"),
            tuple(lines),
            ("Oracle, lift and solve are shares of the rounds' time.",),
        )  # fmt: skip


def measure(learner: str, folds: Sequence[int]) -> dict[str, Any]:
    """Run one learner in a process of its own, with one thread."""
    return alone("structopt.lab.bench.letters_run", learner, *map(str, folds))


def _middle(runs: Sequence[Row]) -> Row:
    return sorted(runs, key=lambda row: float(row["train"]))[len(runs) // 2]


def _known(row: Row, key: str, form: str) -> str:
    return format(row[key], form) if key in row else "-"
