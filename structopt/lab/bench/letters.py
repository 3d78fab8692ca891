"""Handwritten words: a certified max-margin chain beside CRFsuite, in turns, one thread each.

The learning problem is that of the published comparisons: ``P = 1/2 |w|^2 + 0.1 sum hinge`` with
Hamming margins over 4,004 weights, trained on fold 1 (704 words) and tested on the other nine, or
trained on folds 1-9 (6,251 words) and tested on fold 0. The data are looked for in the folder that
``STRUCTOPT_DATA`` names.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from structopt.errors import InvalidInputError, MissingDependencyError, StructoptError
from structopt.lab.harness.machine import Sample, turns
from structopt.lab.harness.table import Table

if TYPE_CHECKING:
    from structopt.lab.bench.letters_run import Measured

Folds = Literal["1", "1-9"]
Report = Callable[[str], None]

ONE, NINE = "1", "1-9"
TRAIN: dict[str, tuple[int, ...]] = {ONE: (1,), NINE: tuple(range(1, 10))}
LEARNERS = ("structopt", "crfsuite")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

QUOTED = {
    ONE: "SVM^hmm 3.10 (C, -e 0.01) 5.8 CPU s, 887 passes, 21.39% error, P 246.7 (gap 0.6)",
    NINE: "SVM^hmm 3.10 (C) 22.0 CPU s, 14.45% error",
}
"""Of another machine, and so only the order of magnitude compares."""


@dataclass(frozen=True)
class LettersBench:
    """The runs by (learner, folds), and which learners were missing and why."""

    folds: str
    runs: dict[tuple[str, str], list[Measured]]
    missing: tuple[str, ...]

    def seconds(self, learner: str, folds: str | None = None) -> Sample:
        """Return the CPU seconds of training, encoding left out."""
        runs = self.runs[learner, self.folds if folds is None else folds]
        return Sample(tuple(run.train for run in runs))

    @property
    def certified(self) -> bool:
        """Whether every one of structopt's runs proved the gap that it was asked for."""
        ours = [runs for (learner, _), runs in self.runs.items() if learner == "structopt"]
        return all(math.isfinite(run.gap) for runs in ours for run in runs)

    def tables(self) -> list[Table]:
        """Return the comparison, and what structopt's time went to."""
        return [self._comparison(), self._inside()]

    def _comparison(self) -> Table:
        rows = []
        for (learner, folds), runs in self.runs.items():
            middle = sorted(runs, key=lambda run: run.train)[len(runs) // 2]
            rows.append(
                (
                    learner,
                    folds,
                    f"{middle.words}",
                    f"{self.seconds(learner, folds).median:.3f}",
                    f"{self.seconds(learner, folds).range}",
                    f"{middle.encode:.3f}",
                    f"{middle.passes}",
                    _known(middle.objective, ".5g"),
                    _known(middle.gap, ".2f"),
                    f"{100 * middle.test_error:.2f}",
                    f"{middle.memory:.0f}",
                )
            )
        return Table(
            "Letters: P = 1/2 |w|^2 + 0.1 sum hinge",
            ("learner", "folds", "words", "train CPU s", "range", "encode s", "passes", "P",
             "certified gap", "test error %", "peak MB"),
            tuple(rows),
            tuple(self._notes()),
        )  # fmt: skip

    def _notes(self) -> list[str]:
        repeats = len(self.runs["structopt", self.folds])
        notes = [
            f"CPU seconds of one thread after compilation, median and range of {repeats}; "
            "CRFsuite minimises another loss (its passes are L-BFGS iterations, without a gap)."
        ]
        if ("crfsuite", self.folds) in self.runs:
            ours, theirs = self.seconds("structopt").median, self.seconds("crfsuite").median
            notes.append(f"CRFsuite / structopt, folds {self.folds}: {theirs / ours:.2f}.")
        if self.folds == NINE:
            each = {f: self.runs["structopt", f][0].words for f in (ONE, NINE)}
            few, many = (1e3 * self.seconds("structopt", f).median / each[f] for f in (ONE, NINE))
            notes.append(
                f"Growth: {few:.2f} ms a word on fold 1, {many:.2f} ms on folds 1-9 "
                f"({many / few:.2f} times as much for {each[NINE] / each[ONE]:.1f} times as many)."
            )
        notes.append(f"Quoted, not measured here: {QUOTED[self.folds]}.")
        return notes + [f"Left out: {reason}" for reason in self.missing]

    def _inside(self) -> Table:
        rows = []
        for (learner, folds), runs in self.runs.items():
            if learner == "structopt":
                run = sorted(runs, key=lambda run: run.train)[len(runs) // 2]
                split = (run.oracle, run.lift, run.solve)
                rows.append(
                    (
                        folds,
                        f"{1e3 * run.bare_pass:.2f}",
                        f"{run.train / max(run.bare_pass, 1e-9):.0f}",
                        *(f"{100 * seconds / sum(split):.0f}" for seconds in split),
                        f"{run.cuts}",
                    )
                )
        return Table(
            "Letters: inside structopt",
            ("train folds", "bare pass ms", "training in bare passes", "oracle %", "lift %",
             "solve %", "cuts at the end"),
            tuple(rows),
            ("Oracle, lift and solve are shares of the rounds' time.",),
        )  # fmt: skip


def bench_letters(
    folds: str = ONE,
    *,
    repeats: int = 3,
    learners: Sequence[str] = LEARNERS,
    report: Report | None = None,
) -> LettersBench:
    """Train every learner several times, in turns, each time in a fresh process.

    Parameters
    ----------
    folds : "1" or "1-9"
        What to train on; "1-9" also trains structopt on fold 1, to show the growth.
    repeats : int
    learners : sequence of str
        Out of "structopt" and "crfsuite"; a peer that is not installed is left out, with a note.
    report : callable, optional
        Told in words what is going on.

    Raises
    ------
    MissingDataError
        The letters are not where they are looked for.
    """
    from structopt.datasets.home import find_data
    from structopt.datasets.letters import ADVICE, NAMES

    if folds not in TRAIN or repeats < 1 or "structopt" not in learners:
        raise InvalidInputError(
            f"folds is one of {list(TRAIN)}, repeats at least 1, and structopt among the learners; "
            f"got {folds!r}, {repeats} and {list(learners)}."
        )
    find_data(NAMES, what="the handwritten words", advice=ADVICE)
    say = report or (lambda _: None)
    todo = [("structopt", ONE)] if folds == NINE else []
    todo += [(learner, folds) for learner in learners]
    runs: dict[tuple[str, str], list[Measured]] = {job: [] for job in todo}
    missing: list[str] = []
    for repetition in range(repeats):
        for job in _in_turn(list(runs), repetition):
            learner, which = job
            say(f"repetition {repetition + 1} of {repeats}: {learner} on folds {which}")
            try:
                runs[job].append(_measure(learner, TRAIN[which]))
            except MissingDependencyError as error:
                missing.append(str(error))
                del runs[job]
    return LettersBench(folds, runs, tuple(missing))


def _in_turn(jobs: list[tuple[str, str]], turn: int) -> list[tuple[str, str]]:
    places = turns([str(i) for i in range(len(jobs))], turn)
    return [jobs[int(place)] for place in places]


def _measure(learner: str, folds: Sequence[int]) -> Measured:
    """Run one learner in a process of its own, with one thread."""
    from structopt.lab.bench.letters_run import Measured

    command = [sys.executable, "-m", "structopt.lab.bench.letters_run", learner, *map(str, folds)]
    environment = os.environ | dict.fromkeys(THREADS, "1")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        raise StructoptError(
            f"The measured process of {learner} ended with code {done.returncode}: {said}"
        )
    outcome: dict[str, Any] = json.loads(lines[-1])
    if "error" in outcome:
        from structopt import errors

        kind: type[StructoptError] = getattr(errors, outcome["error"], StructoptError)
        raise kind(outcome["message"])
    return Measured(**outcome)


def _known(value: float, form: str) -> str:
    return format(value, form) if not math.isnan(value) else "-"
