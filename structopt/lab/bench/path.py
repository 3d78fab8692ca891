"""A path along C beside separate runs, in turns: what the values share.

Ten values of C, evenly spaced in their logarithm, each to a certified relative gap of 1e-3. A path
(:func:`structopt.fit_path`) encodes the data once and keeps its cuts and its backend; a separate
run does everything anew. The closer the values, the more they share. Letters are looked for in the
folder that ``STRUCTOPT_DATA`` names.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from string import ascii_lowercase
from typing import Any

import numpy as np

from structopt.datasets import load_digit_words, load_letters
from structopt.errors import InvalidInputError
from structopt.formulations.base import Formulation
from structopt.formulations.l1_m3n import L1M3N
from structopt.formulations.lp_struct import LPStruct
from structopt.formulations.m3n import M3N
from structopt.lab.harness.machine import Sample, turns
from structopt.lab.harness.table import Table
from structopt.learn.estimator import StructuredClassifier
from structopt.learn.path import fit_path
from structopt.structures.chain.structure import Chain

TOLERANCE = 1e-3


@dataclass(frozen=True)
class Case:
    """A learning problem, and the C in the middle."""

    data: str
    formulation: Formulation
    middle: float

    def values(self, count: int, decades: float) -> Any:
        """Return values of C around the middle one, from small to large."""
        return self.middle * np.logspace(-decades / 2, decades / 2, count)

    @property
    def name(self) -> str:
        """What is learned from what."""
        return f"{type(self.formulation).__name__}, {self.data}"


CASES = {
    "digits-m3n": Case("200 digit words", M3N(), 0.1),
    "digits-l1": Case("200 digit words", L1M3N(), 1.0),
    "digits-lp": Case("200 digit words", LPStruct(nonnegative=False), 1.0),
    "letters-m3n": Case("letters, fold 1", M3N(), 0.1),
}


@dataclass(frozen=True)
class Run:
    """CPU seconds, rounds, and whether every value reached its gap."""

    seconds: float
    rounds: int
    certified: bool


@dataclass
class PathBench:
    """The runs by case and way."""

    n_values: int
    decades: float
    runs: dict[tuple[str, str], list[Run]] = field(default_factory=dict)

    def seconds(self, case: str, way: str) -> float:
        """Return the median of the CPU seconds."""
        return Sample(tuple(run.seconds for run in self.runs[case, way])).median

    def ratio(self, case: str) -> float:
        """Return what a path costs, as a share of separate runs."""
        return self.seconds(case, "path") / self.seconds(case, "separate")

    @property
    def certified(self) -> bool:
        """Whether every run proved the gap that it was asked for."""
        return all(run.certified for runs in self.runs.values() for run in runs)

    def table(self) -> Table:
        """Return one row a case."""
        rows = []
        for case in dict.fromkeys(case for case, _ in self.runs):
            passes = [self.runs[case, way][-1].rounds for way in ("separate", "path")]
            times = [self.seconds(case, way) for way in ("separate", "path")]
            rows.append(
                (
                    CASES[case].name,
                    "{:.2g}-{:.2g}".format(*CASES[case].values(2, self.decades)),
                    *(f"{seconds:.2f}" for seconds in times),
                    f"{self.ratio(case):.2f}",
                    *(f"{count}" for count in passes),
                )
            )
        return Table(
            f"A path over {self.n_values} values of C",
            ("problem", "C", "separate CPU s", "path CPU s", "ratio", "separate rounds",
             "path rounds"),
            tuple(rows),
            (f"Every value to a certified relative gap of {TOLERANCE:g}; medians of CPU seconds of "
             "one thread, encoding counted, compilation left out.",),
        )  # fmt: skip


def bench_path(
    cases: Sequence[str] = tuple(CASES),
    *,
    n_values: int = 10,
    decades: float = 1.0,
    n_words: int | None = None,
    repeats: int = 1,
    report: Callable[[str], None] | None = None,
) -> PathBench:
    """Learn along C as a path and one by one, in turns.

    Parameters
    ----------
    cases : sequence of str
        Out of `CASES`.
    n_values : int
        Values of C.
    decades : float
        How far they reach: the largest is ``10 ** decades`` times the smallest.
    n_words : int, optional
        Learn from the first words only.
    repeats : int
    report : callable, optional
        Told in words what is going on.

    Raises
    ------
    MissingDataError
        The letters are not where they are looked for.

    Examples
    --------
    >>> bench_path(["digits-m3n"], n_values=2, n_words=10).certified
    True
    """
    if not set(cases) <= set(CASES) or min(repeats, n_values) < 1 or not decades > 0:
        raise InvalidInputError(
            f"Cases are out of {list(CASES)}, n_values and repeats at least 1, decades above 0; "
            f"got {list(cases)}, {n_values}, {repeats} and {decades}."
        )
    say = report or (lambda _: None)
    ways = {"separate": _separately, "path": _together}
    bench = PathBench(n_values, decades)
    for name in cases:
        case = CASES[name]
        X, Y, structure = _data(case.data)
        X, Y = X[:n_words], Y[:n_words]
        values = case.values(n_values, decades)
        model = StructuredClassifier(structure, case.formulation, tol=TOLERANCE)
        for way in ways:
            ways[way](model, X[:15], Y[:15], values[:2])  # compiles
        for repetition in range(repeats):
            for way in turns(list(ways), repetition):
                say(f"repetition {repetition + 1} of {repeats}: {case.name}, {way}")
                began = time.process_time()
                results = ways[way](model, X, Y, values)
                run = Run(
                    time.process_time() - began,
                    sum(len(result.history) for result in results),
                    all(result.certificate.certified for result in results),
                )
                bench.runs.setdefault((name, way), []).append(run)
    return bench


def _together(model: StructuredClassifier, X: Any, Y: Any, values: Any) -> list[Any]:
    return list(fit_path(model, X, Y, values).results)


def _separately(model: StructuredClassifier, X: Any, Y: Any, values: Any) -> list[Any]:
    return [fit_path(model, X, Y, [value]).results[0] for value in values]


def _data(name: str) -> tuple[Any, Any, Chain]:
    if name.startswith("letters"):
        return *load_letters([1]), Chain(labels=list(ascii_lowercase))
    return *load_digit_words(200, seed=0), Chain(labels=range(10))
