"""What relative margins cost: StructRMM beside StructSVM on the same data, in turns.

B is a fraction of the largest |w . delta| that StructSVM's weights give, found beforehand. Both
learn to a certified relative gap of 1e-3. Letters are looked for in the folder that
``STRUCTOPT_DATA`` names.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from string import ascii_lowercase
from typing import Any

import numpy as np

from structopt.datasets import load_digit_words, load_digits_classes, load_letters
from structopt.engines.dataset import DataSet
from structopt.formulations.base import Formulation
from structopt.formulations.struct_rmm import StructRMM
from structopt.formulations.struct_svm import StructSVM
from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.study import Cell, Row, every, in_turns, known, median, where
from structopt.lab.harness.table import Table
from structopt.lab.reproduce.struct_rmm.relative_margins import largest_projection
from structopt.learn.estimator import StructuredClassifier
from structopt.structures.base.structure import Structure
from structopt.structures.chain.structure import Chain
from structopt.structures.multiclass.structure import Multiclass

TOLERANCE = 1e-3
FRACTIONS = (0.9, 0.7, 0.5)
PLAIN = "StructSVM"


@dataclass(frozen=True)
class Case:
    """A data set, what C it takes, and the margin's rescaling."""

    name: str
    load: Callable[[], tuple[Structure, Any, Any]]
    C: float
    rescale: Any = "unit"


def _digits() -> tuple[Structure, Any, Any]:
    X, y = load_digits_classes()
    chosen = np.random.default_rng(0).permutation(len(y))[:1195]
    return Multiclass(), np.asarray(X)[chosen], np.asarray(y)[chosen]


CASES = {
    "digits": Case("digits, 1,195 images", _digits, 1000.0),
    "words": Case(
        "digit words, 200",
        lambda: (Chain(labels=range(10)), *load_digit_words(200, seed=0)),
        100.0,
    ),
    "letters": Case(
        "letters, 704 words, margin rescaling",
        lambda: (Chain(labels=list(ascii_lowercase)), *load_letters([1])),
        70.0,
        "margin",
    ),
}


@dataclass
class MarginBench(Bench):
    """Learning with and without bounds, in turns.

    Parameters
    ----------
    cases : sequence of str
        Out of `CASES`.
    most : int, optional
        Learn from the first examples only.
    repeats : int

    Examples
    --------
    >>> from structopt.lab.harness.runner import run
    >>> bench = MarginBench(["words"], most=10, repeats=1)
    >>> bench.proved(run(bench, bench.cells()).rows)
    True
    """

    name = "bench-margins"

    cases: Sequence[str] = arguments.argument(
        tuple(CASES)[:2], f"{', '.join(CASES)} (which needs STRUCTOPT_DATA)", nargs="+",
        metavar="CASE",
    )  # fmt: skip
    most: int | None = None
    repeats: int = arguments.repeats(3)
    _problems: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    def cells(self) -> list[Cell]:
        """Return a cell a case, contender and turn."""
        contenders = [{"B": b} for b in (PLAIN, *FRACTIONS)]
        return [
            {"case": case} | cell
            for case in known(self.cases, list(CASES), "case")
            for cell in in_turns(contenders, self.repeats)
        ]

    def warm_up(self, cell: Cell) -> None:
        """Learn without bounds, which says how large they would be."""
        if cell["case"] not in self._problems:
            case = CASES[cell["case"]]
            structure, X, Y = case.load()
            X, Y = X[: self.most], Y[: self.most]
            plain = StructSVM(case.C, rescale=case.rescale)
            model = StructuredClassifier(structure, plain, tol=TOLERANCE).fit(X, Y)
            data = DataSet.of(model.structure_, X, Y)
            largest = largest_projection(data, model.result_.weights)
            contenders: dict[Any, Formulation] = {PLAIN: plain}
            for share in FRACTIONS:
                contenders[share] = StructRMM(case.C, B=share * largest, rescale=case.rescale)
            self._problems[cell["case"]] = structure, X, Y, contenders
            self.run({"case": cell["case"], "B": FRACTIONS[0]})  # compiles

    def run(self, cell: Cell) -> dict[str, Any]:
        """Learn."""
        structure, X, Y, contenders = self._problems[cell["case"]]
        began = time.process_time()
        model = StructuredClassifier(structure, contenders[cell["B"]], tol=TOLERANCE).fit(X, Y)
        certified = model.result_.certificate.certified
        return {"cpu": time.process_time() - began, "certified": certified}

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return one row a case."""
        lines = []
        for name in every(rows, "case"):
            case = CASES[name]
            plain, *bounded = (
                median(where(rows, case=name, B=b), "cpu") for b in (PLAIN, *FRACTIONS)
            )
            ratios = (f"{seconds / plain:.2f}" for seconds in bounded)
            lines.append((f"{case.name}, C = {case.C:g}", f"{plain:.2f}", *ratios))
        return [Table(
            "Relative margins",
            ("data", "StructSVM CPU s", *(f"B = {fraction:g}" for fraction in FRACTIONS)),
            tuple(lines),
            ("CPU time of StructRMM over that of StructSVM, medians; B as a fraction of the "
             f"largest projection that StructSVM finds; each to a certified {TOLERANCE:g}.",),
        )]  # fmt: skip
