"""A path along C beside separate runs, in turns: what the values share.

Ten values of C, evenly spaced in their logarithm, each to a certified relative gap of 1e-3. A path
(:func:`structopt.fit_path`) encodes the data once and keeps its cuts and its backend; a separate
run does everything anew. The closer the values, the more they share. Letters are looked for in the
folder that ``STRUCTOPT_DATA`` names.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from string import ascii_lowercase
from typing import Any

import numpy as np

from structopt.datasets import load_digit_words, load_letters
from structopt.errors import InvalidInputError
from structopt.formulations.base import Formulation
from structopt.formulations.l1_m3n import L1M3N
from structopt.formulations.lp_struct import LPStruct
from structopt.formulations.m3n import M3N
from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.study import Cell, Row, every, in_turns, known, median, where
from structopt.lab.harness.table import Table
from structopt.learn.estimator import StructuredClassifier
from structopt.learn.path import fit_path
from structopt.structures.chain.structure import Chain

TOLERANCE = 1e-3
WAYS = ("separate", "path")


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

    @cached_property
    def problem(self) -> tuple[Chain, Any, Any]:
        """The structure and its data."""
        if self.data.startswith("letters"):
            return Chain(labels=list(ascii_lowercase)), *load_letters([1])
        return Chain(labels=range(10)), *load_digit_words(200, seed=0)


CASES = {
    "digits-m3n": Case("200 digit words", M3N(), 0.1),
    "digits-l1": Case("200 digit words", L1M3N(), 1.0),
    "digits-lp": Case("200 digit words", LPStruct(nonnegative=False), 1.0),
    "letters-m3n": Case("letters, fold 1", M3N(), 0.1),
}


@dataclass
class PathBench(Bench):
    """Learning along C as a path and one by one, in turns.

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
    """

    name = "bench-path"

    cases: Sequence[str] = arguments.argument(
        tuple(CASES)[:3], f"{', '.join(CASES)} (which needs STRUCTOPT_DATA)", nargs="+",
        metavar="CASE",
    )  # fmt: skip
    n_values: int = arguments.argument(10, "values of C", flag="--values")
    decades: float = arguments.argument(1.0, "powers of ten that they span")
    n_words: int | None = arguments.argument(
        None, "training words (all)", flag="--words", type=int, metavar="N"
    )
    repeats: int = arguments.repeats(3)

    def cells(self) -> list[Cell]:
        """Return a cell a case, way and turn."""
        if self.n_values < 1 or not self.decades > 0:
            raise InvalidInputError(
                f"n_values is at least 1 and decades above 0; got {self.n_values}, {self.decades}."
            )
        return [
            {"case": case} | cell
            for case in known(self.cases, list(CASES), "case")
            for cell in in_turns([{"way": way} for way in WAYS], self.repeats)
        ]

    def warm_up(self, cell: Cell) -> None:
        """Learn from fifteen words."""
        self._results(cell, 15, 2)

    def run(self, cell: Cell) -> dict[str, Any]:
        """Learn at all values."""
        began = time.process_time()
        results = self._results(cell, self.n_words, self.n_values)
        return {
            "cpu": time.process_time() - began,
            "rounds": sum(len(result.history) for result in results),
            "certified": all(result.certificate.certified for result in results),
        }

    def _results(self, cell: Cell, n_words: int | None, n_values: int) -> list[Any]:
        case = CASES[cell["case"]]
        structure, X, Y = case.problem
        model = StructuredClassifier(structure, case.formulation, tol=TOLERANCE)
        values = case.values(self.n_values, self.decades)[:n_values]
        groups = [values] if cell["way"] == "path" else [[value] for value in values]
        return [r for g in groups for r in fit_path(model, X[:n_words], Y[:n_words], g).results]

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return one row a case."""
        lines = []
        for case in every(rows, "case"):
            runs = [where(rows, case=case, way=way) for way in WAYS]
            separate, path = (median(of, "cpu") for of in runs)
            lines.append(
                (
                    CASES[case].name,
                    "{:.2g}-{:.2g}".format(*CASES[case].values(2, self.decades)),
                    f"{separate:.2f}",
                    f"{path:.2f}",
                    f"{path / separate:.2f}",
                    *(f"{of[-1]['rounds']}" for of in runs),
                )
            )
        return [Table(
            f"A path over {self.n_values} values of C",
            ("problem", "C", "separate CPU s", "path CPU s", "ratio", "separate rounds",
             "path rounds"),
            tuple(lines),
            (f"Every value to a certified relative gap of {TOLERANCE:g}; medians of CPU seconds of "
             "one thread, encoding counted, compilation left out.",),
        )]  # fmt: skip
