r"""How much the modeling layer costs: the same cuts, replayed by four masters.

LP-Struct with free weights on tagging data: a run is recorded once (which cuts came in which round,
nothing dropped); then every competitor is handed those cuts, round by round and in turns, and must
reach the same objective in every round:

* structopt: cuts lifted to rows and appended to the live HiGHS model,
* by hand: the same in plain highspy (:mod:`structopt.lab.bench.hand_written`), with the columns
  created when a cut first touches them, as structopt does, and
* by hand, all columns: with every column created at the start,
* CVXPY rebuild: the whole problem written and solved again in every round, by HiGHS too.

>>> bench = MastersBench(repeats=1, size=TINY)
>>> len(bench.recording.batches) == TINY.rounds
True
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from structopt.errors import BackendError
from structopt.lab.bench.tagging import make_tagging
from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.study import Cell, Row, in_turns, turns
from structopt.lab.harness.table import Table
from structopt.master.cuts import Cuts

TOLERANCE = 1e-5  # at which structopt's backend sets the options of the hand-written loop
AGREEMENT = 1e-6  # relative; HiGHS' own feasibility tolerance is 1e-7

STRUCTOPT, HAND, EAGER, REBUILD = (
    "structopt", "by hand", "by hand, all columns", "CVXPY rebuild",
)  # fmt: skip


@dataclass(frozen=True)
class Size:
    """How large a replay is; there are about ``rounds * n_sentences`` cuts."""

    n_sentences: int
    n_words: int
    n_labels: int
    rounds: int
    C: float = 1.0


FULL = Size(n_sentences=400, n_words=292, n_labels=12, rounds=12)  # 3,996 weights
QUICK = Size(n_sentences=200, n_words=292, n_labels=12, rounds=9)
TINY = Size(n_sentences=12, n_words=20, n_labels=3, rounds=3)


@dataclass(frozen=True)
class Step:
    """One round of one competitor: CPU seconds by what they went to, and what came out."""

    lift: float
    append: float
    solve: float
    objective: float
    iterations: int

    @property
    def seconds(self) -> float:
        """All of them."""
        return self.lift + self.append + self.solve


@dataclass
class MastersBench(Bench):
    """A recorded run, replayed by every competitor; a cell is one replay.

    Parameters
    ----------
    quick : bool
    repeats : int
        Repetitions of the replay. The CVXPY rebuild, some fifty times slower, takes part in the
        first only.
    rebuild : bool
        Whether the CVXPY rebuild takes part at all.
    size : Size, optional
        Another one.
    """

    name = "bench-masters"

    quick: bool = arguments.quick("a smaller master: half a minute")
    repeats: int = arguments.repeats(5)
    rebuild: bool = True
    size: Size | None = None

    def cells(self) -> list[Cell]:
        """Return a cell a repetition."""
        return in_turns([{}], self.repeats)

    @cached_property
    def recording(self) -> _Recording:
        """The cuts that came, round by round."""
        return _Recording.of(self.size or (QUICK if self.quick else FULL))

    def warm_up(self, cell: Cell) -> None:
        """Record the run."""
        _ = self.recording

    def run(self, cell: Cell) -> dict[str, Any]:
        """Replay the cuts by all competitors, who take turns round by round.

        Raises
        ------
        BackendError
            Two competitors disagree on the objective of a round.
        """
        names: list[str] = []
        competitors, setup = {}, {}
        for name, make in self.recording.makers(self.rebuild and cell["turn"] == 0).items():
            began = time.process_time()
            competitors[name] = make()
            setup[name] = time.process_time() - began
            names.append(name)
        steps: dict[str, list[Step]] = {name: [] for name in names}
        for number, batch in enumerate(self.recording.batches):
            for name in turns(names, number + cell["turn"]):
                steps[name].append(competitors[name].step(batch))
            _check_agreement(number, {name: steps[name][-1].objective for name in names})
        return {"steps": steps, "setup": setup}

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return the comparison as a table."""
        lines = []
        for name, first in rows[0]["steps"].items():
            took_part = [row for row in rows if name in row["steps"]]
            lines.append(
                (
                    name,
                    *(f"{seconds(rows, name, what):.3f}"
                      for what in ("seconds", "lift", "append", "solve")),
                    f"{statistics.median(row['setup'][name] for row in took_part):.3f}",
                    f"{sum(step.iterations for step in first)}",
                    f"{len(took_part)}",
                    f"{ratio(rows, name, HAND):.3f}",
                )
            )  # fmt: skip
        batches, data = self.recording.batches, self.recording.data
        notes = [
            f"{len(batches)} rounds, {sum(len(b) for b in batches)} cuts, "
            f"{data.n_features} weights, {data.n_examples} slacks. CPU seconds, one thread; "
            "sums over rounds of the median over repetitions. All objectives agree in every "
            f"round, to {AGREEMENT:g} of their value.",
            f"Ratio structopt / by hand: {ratio(rows, STRUCTOPT, HAND):.3f} "
            f"(all columns: {ratio(rows, STRUCTOPT, EAGER):.3f}); target 1.15 or less.",
        ]
        if self.rebuild:
            notes.append(f"Ratio CVXPY rebuild / structopt: {ratio(rows, REBUILD, STRUCTOPT):.1f}.")
        return [Table(
            "Masters: the same cuts, appended or rebuilt",
            ("master", "rounds s", "lift s", "append s", "solve s", "set-up s",
             "simplex iterations", "runs", "ratio"),
            tuple(lines),
            tuple(notes),
        )]  # fmt: skip


def seconds(rows: Sequence[Row], name: str, what: str = "seconds") -> float:
    """Return the CPU seconds of all rounds: the sum of each round's median."""
    runs = [row["steps"][name] for row in rows if name in row["steps"]]
    table = np.array([[getattr(step, what) for step in steps] for steps in runs])
    return float(np.median(table, axis=0).sum())


def ratio(rows: Sequence[Row], name: str, other: str) -> float:
    """Return how many times as long the rounds of one took as those of another."""
    return seconds(rows, name) / seconds(rows, other)


def _check_agreement(number: int, objectives: dict[str, float]) -> None:
    low, high = min(objectives.values()), max(objectives.values())
    if not high - low <= AGREEMENT * max(1.0, abs(high)):
        raise BackendError(f"The masters disagree in round {number + 1}: {objectives}.")


class _Competitor(Protocol):
    def step(self, batch: Cuts) -> Step: ...


@dataclass(frozen=True)
class _Recording:
    size: Size
    data: Any
    batches: list[Cuts]

    @classmethod
    def of(cls, size: Size) -> _Recording:
        from structopt.backends.highs import HiGHS
        from structopt.engines.dataset import DataSet
        from structopt.master.separation import separate
        from structopt.structures.chain.structure import Chain

        X, Y = make_tagging(size.n_sentences, n_words=size.n_words, n_labels=size.n_labels)
        structure = Chain(labels=range(size.n_labels)).fitted(X, Y)
        recording = cls(size, DataSet.of(structure, X, Y), [])
        master, backend = recording.master(), HiGHS()
        backend.start(master)
        while len(recording.batches) < size.rounds:
            solution = backend.solve(tolerance=TOLERANCE)
            found = separate(master, recording.data, solution.x).found
            if not found:
                break
            batch = replace(found[0], extra=None)  # every competitor makes the rows itself
            backend.append(master.add(batch))
            recording.batches.append(batch)
        return recording

    def master(self) -> Any:
        from structopt.formulations.lp_struct import LPStruct
        from structopt.master.declare import RestrictedMaster

        master = RestrictedMaster(self.data.n_examples, self.data.n_features, base=self.data.base)
        LPStruct(C=self.size.C, nonnegative=False).master(master)
        master.compile()
        return master

    def makers(self, rebuild: bool) -> dict[str, Callable[[], _Competitor]]:
        from structopt.backends.highs import HiGHS
        from structopt.backends.reference import CVXPY

        made: dict[str, Callable[[], _Competitor]] = {
            STRUCTOPT: lambda: _Modeled(self.master(), HiGHS()),
            HAND: lambda: _ByHand(self, eager=False),
            EAGER: lambda: _ByHand(self, eager=True),
        }
        if rebuild:
            made[REBUILD] = lambda: _Modeled(self.master(), CVXPY(solver="HIGHS"))
        return made


class _Modeled:
    """structopt's road: a declared master and one of its backends."""

    def __init__(self, master: Any, backend: Any) -> None:
        self._master, self._backend = master, backend
        backend.start(master)

    def step(self, batch: Cuts) -> Step:
        began = time.process_time()
        rows = self._master.add(batch)
        lifted = time.process_time()
        self._backend.append(rows)
        appended = time.process_time()
        solution = self._backend.solve(tolerance=TOLERANCE)
        solved = time.process_time()
        if solution.status != "optimal":
            raise BackendError(f"{self._backend.name}: {solution.status}. {solution.message}")
        return Step(
            lifted - began,
            appended - lifted,
            solved - appended,
            self._master.objective(solution.x),
            solution.iterations,
        )


class _ByHand:
    """The hand-written loop, which also has to build the rows of its cuts."""

    def __init__(self, recording: _Recording, *, eager: bool) -> None:
        from structopt.lab.bench.hand_written import HandWritten

        data, self._C = recording.data, recording.size.C
        self._n_features = data.n_features
        self._loop = HandWritten(data.n_examples, data.n_features, self._C, eager=eager)

    def step(self, batch: Cuts) -> Step:
        began = time.process_time()
        deltas = batch.deltas(self._n_features)
        lifted = time.process_time()
        self._loop.append(deltas, batch.example)
        appended = time.process_time()
        weights, slacks, _, iterations = self._loop.solve()
        solved = time.process_time()
        objective = float(np.abs(weights).sum() + self._C * slacks.sum())
        return Step(lifted - began, appended - lifted, solved - appended, objective, iterations)
