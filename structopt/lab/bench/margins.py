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
from structopt.errors import InvalidInputError
from structopt.formulations.base import Formulation
from structopt.formulations.struct_rmm import StructRMM
from structopt.formulations.struct_svm import StructSVM
from structopt.lab.harness.machine import Sample, turns
from structopt.lab.harness.table import Table
from structopt.learn.estimator import StructuredClassifier
from structopt.structures.base.oracles import best_other, worst
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


def _words() -> tuple[Structure, Any, Any]:
    return Chain(labels=range(10)), *load_digit_words(200, seed=0)


def _letters() -> tuple[Structure, Any, Any]:
    return Chain(labels=list(ascii_lowercase)), *load_letters([1])


CASES = {
    "digits": Case("digits, 1,195 images", _digits, 1000.0),
    "words": Case("digit words, 200", _words, 100.0),
    "letters": Case("letters, 704 words, margin rescaling", _letters, 70.0, "margin"),
}


@dataclass
class MarginBench:
    """CPU seconds by case and contender."""

    seconds: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    certified: bool = True

    def ratio(self, case: str, fraction: float) -> float:
        """Return the time of StructRMM at a fraction, over that of StructSVM."""
        return self._median(case, f"{fraction:g}") / self._median(case, PLAIN)

    def table(self) -> Table:
        """Return one row a case."""
        rows = [
            (
                f"{CASES[case].name}, C = {CASES[case].C:g}",
                f"{self._median(case, PLAIN):.2f}",
                *(f"{self.ratio(case, fraction):.2f}" for fraction in FRACTIONS),
            )
            for case in dict.fromkeys(case for case, _ in self.seconds)
        ]
        return Table(
            "Relative margins",
            ("data", "StructSVM CPU s", *(f"B = {fraction:g}" for fraction in FRACTIONS)),
            tuple(rows),
            ("CPU time of StructRMM over that of StructSVM, medians; B as a fraction of the "
             f"largest projection that StructSVM finds; each to a certified {TOLERANCE:g}.",),
        )  # fmt: skip

    def _median(self, case: str, who: str) -> float:
        return Sample(tuple(self.seconds[case, who])).median


def bench_margins(
    cases: Sequence[str] = tuple(CASES),
    *,
    most: int | None = None,
    repeats: int = 3,
    report: Callable[[str], None] = lambda text: None,
) -> MarginBench:
    """Learn with and without bounds, in turns.

    Parameters
    ----------
    cases : sequence of str
        Out of `CASES`.
    most : int, optional
        Learn from the first examples only.
    repeats : int
        Turns, of which the median counts.

    Examples
    --------
    >>> bench_margins(["words"], most=10, repeats=1).certified
    True
    """
    if not set(cases) <= set(CASES) or repeats < 1:
        raise InvalidInputError(
            f"Cases are out of {list(CASES)} and repeats at least 1; got {list(cases)}, {repeats}."
        )
    bench = MarginBench()
    for name in cases:
        case = CASES[name]
        structure, X, Y = case.load()
        X, Y = X[:most], Y[:most]
        report(f"{case.name}: the largest projection")
        contenders = _contenders(case, structure, X, Y)
        for turn in range(repeats):
            for who in turns(list(contenders), turn):
                report(f"repetition {turn + 1} of {repeats}: {case.name}, {who}")
                began = time.process_time()
                result = _learned(structure, contenders[who], X, Y).result_
                bench.seconds.setdefault((name, who), []).append(time.process_time() - began)
                bench.certified = bench.certified and result.certificate.certified
    return bench


def _contenders(case: Case, structure: Structure, X: Any, Y: Any) -> dict[str, Formulation]:
    plain = StructSVM(case.C, rescale=case.rescale)
    model = _learned(structure, plain, X, Y)  # compiles, too
    data = DataSet.of(model.structure_, X, Y)
    answers = [a for oracle in (worst, best_other) for a in data.ask(oracle, model.result_.weights)]
    scores = np.concatenate([a.score for a in answers])
    largest = float(np.abs(scores[np.isfinite(scores)]).max())
    bounded = {
        f"{fraction:g}": StructRMM(case.C, B=fraction * largest, rescale=case.rescale)
        for fraction in FRACTIONS
    }
    _learned(structure, bounded[f"{FRACTIONS[0]:g}"], X, Y)  # compiles
    return {PLAIN: plain, **bounded}


def _learned(structure: Structure, formulation: Formulation, X: Any, Y: Any) -> Any:
    return StructuredClassifier(structure, formulation, tol=TOLERANCE).fit(X, Y)
