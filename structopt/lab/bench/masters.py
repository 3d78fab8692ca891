r"""How much the modeling layer costs: the same cuts, replayed by four masters.

LP-Struct with free weights on tagging data: a run is recorded once (which cuts came in which round,
nothing dropped); then every competitor is handed those cuts, round by round and in turns, and must
reach the same objective in every round:

* structopt: cuts lifted to rows and appended to the live HiGHS model,
* by hand: the same in plain highspy (:mod:`structopt.lab.bench.hand_written`), with the columns
  created when a cut first touches them, as structopt does, and
* by hand, all columns: with every column created at the start,
* CVXPY rebuild: the whole problem written and solved again in every round, by HiGHS too.

>>> bench = bench_masters(TINY, repeats=1)
>>> len(bench.rounds) == TINY.rounds
True
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from structopt.errors import BackendError, InvalidInputError
from structopt.lab.bench.tagging import make_tagging
from structopt.lab.harness.machine import Sample, turns
from structopt.lab.harness.table import Table

TOLERANCE = 1e-5  # at which structopt's backend sets the options of the hand-written loop
AGREEMENT = 1e-6  # relative; HiGHS' own feasibility tolerance is 1e-7

STRUCTOPT, HAND, EAGER, REBUILD = (
    "structopt", "by hand", "by hand, all columns", "CVXPY rebuild",
)  # fmt: skip
Report = Callable[[str], None]


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


@dataclass(frozen=True)
class MastersBench:
    """A finished replay.

    Attributes
    ----------
    size : Size
    n_features : int
    rounds : tuple of int
        Cuts that came in each round.
    steps : mapping of str to list of lists of Step
        By competitor: repetition, then round.
    setup : mapping of str to Sample
        CPU seconds before the first cut; for structopt, CVXPY's compilation.
    """

    size: Size
    n_features: int
    rounds: tuple[int, ...]
    steps: dict[str, list[list[Step]]]
    setup: dict[str, Sample]

    def seconds(self, name: str, what: str = "seconds") -> float:
        """Return the CPU seconds of all rounds: the sum of each round's median."""
        table = np.array([[getattr(step, what) for step in run] for run in self.steps[name]])
        return float(np.median(table, axis=0).sum())

    def ratio(self, name: str, other: str) -> float:
        """Return how many times as long the rounds of one took as those of another."""
        return self.seconds(name) / self.seconds(other)

    def table(self) -> Table:
        """Return the comparison as a table."""
        rows = []
        for name, runs in self.steps.items():
            rows.append(
                (
                    name,
                    f"{self.seconds(name):.3f}",
                    *(f"{self.seconds(name, what):.3f}" for what in ("lift", "append", "solve")),
                    f"{self.setup[name].median:.3f}",
                    f"{sum(step.iterations for step in runs[0])}",
                    f"{len(runs)}",
                    f"{self.ratio(name, HAND):.3f}",
                )
            )
        notes = [
            f"{len(self.rounds)} rounds, {sum(self.rounds)} cuts, {self.n_features} weights, "
            f"{self.size.n_sentences} slacks. CPU seconds, one thread; sums over rounds of the "
            "median over repetitions. All objectives agree in every round, to "
            f"{AGREEMENT:g} of their value.",
            f"Ratio structopt / by hand: {self.ratio(STRUCTOPT, HAND):.3f} "
            f"(all columns: {self.ratio(STRUCTOPT, EAGER):.3f}); target 1.15 or less.",
        ]
        if REBUILD in self.steps:
            notes.append(f"Ratio CVXPY rebuild / structopt: {self.ratio(REBUILD, STRUCTOPT):.1f}.")
        return Table(
            "Masters: the same cuts, appended or rebuilt",
            ("master", "rounds s", "lift s", "append s", "solve s", "set-up s",
             "simplex iterations", "runs", "ratio"),
            tuple(rows),
            tuple(notes),
        )  # fmt: skip


def bench_masters(
    size: Size = FULL, *, repeats: int = 5, rebuild: bool = True, report: Report | None = None
) -> MastersBench:
    """Record a run, replay it by every competitor in turns, and compare.

    Parameters
    ----------
    size : Size
    repeats : int
        Repetitions of the replay. The CVXPY rebuild, some fifty times slower, takes part in the
        first only.
    rebuild : bool
        Whether the CVXPY rebuild takes part at all.
    report : callable, optional
        Told in words what is going on.

    Raises
    ------
    BackendError
        Two competitors disagree on the objective of a round.
    """
    if repeats < 1:
        raise InvalidInputError(f"repeats must be at least 1; got {repeats}.")
    say = report or (lambda _: None)
    say("recording a run")
    recording = _Recording.of(size)
    makers = recording.makers(rebuild)
    steps: dict[str, list[list[Step]]] = {name: [] for name in makers}
    setups: dict[str, list[float]] = {name: [] for name in makers}
    for repetition in range(repeats):
        names = [n for n in makers if n != REBUILD or repetition == 0]
        competitors = {}
        for name in names:
            began = time.process_time()
            competitors[name] = makers[name]()
            setups[name].append(time.process_time() - began)
            steps[name].append([])
        for number, batch in enumerate(recording.batches):
            say(
                f"repetition {repetition + 1} of {repeats}, round {number + 1} of "
                f"{len(recording.batches)}"
            )
            for name in turns(names, number + repetition):
                steps[name][-1].append(competitors[name].step(batch))
            _check_agreement(number, {name: steps[name][-1][-1].objective for name in names})
    return MastersBench(
        size,
        recording.data.n_features,
        tuple(len(batch.numbers) for batch in recording.batches),
        steps,
        {name: Sample(tuple(seconds)) for name, seconds in setups.items()},
    )


def _check_agreement(number: int, objectives: dict[str, float]) -> None:
    low, high = min(objectives.values()), max(objectives.values())
    if not high - low <= AGREEMENT * max(1.0, abs(high)):
        raise BackendError(f"The masters disagree in round {number + 1}: {objectives}.")


class _Competitor(Protocol):
    def step(self, batch: _Batch) -> Step: ...


@dataclass(frozen=True)
class _Batch:
    """The cuts of one round, as the oracle found them."""

    numbers: Any
    directions: Any


@dataclass(frozen=True)
class _Recording:
    size: Size
    data: Any
    batches: list[_Batch]

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
            batch = _Batch(found[0].numbers, found[0].directions())
            backend.append(master.add(0, batch.numbers, batch.directions))
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

    def step(self, batch: _Batch) -> Step:
        began = time.process_time()
        rows = self._master.add(0, batch.numbers, batch.directions)
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
        self._base, self._n_features = data.base, data.n_features
        self._loop = HandWritten(data.n_examples, data.n_features, self._C, eager=eager)

    def step(self, batch: _Batch) -> Step:
        began = time.process_time()
        deltas = batch.directions.tocsr(self._base, self._n_features)
        lifted = time.process_time()
        self._loop.append(deltas, batch.numbers.example)
        appended = time.process_time()
        weights, slacks, _, iterations = self._loop.solve()
        solved = time.process_time()
        objective = float(np.abs(weights).sum() + self._C * slacks.sum())
        return Step(lifted - began, appended - lifted, solved - appended, objective, iterations)
