r"""``structopt demo``: learn to read, see what was learned, and let backends check one another.

Words written in handwritten digits (:func:`structopt.datasets.load_digit_words`, from data that
come with scikit-learn) are learned by a max-margin Markov network that reads whole words; a report
shows the words it reads wrongly, what it goes by, and why no weights can be much better. Then
backends solve a few of the words three ways: that network, the user's own formulation of
`ElasticNet` in eight lines, and LP-Struct on single digits. Every run is certified, and the
backends must agree on each optimum.

>>> [f"{case.formulation}: {', '.join(case.backends)}" for case in cases(quick=True)]
['M3N: ascent, clarabel', 'elastic net: ascent, clarabel', 'LP-Struct: highs, cvxpy']
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import cvxpy as cp
import numpy as np
from rich.console import Console

from structopt.datasets import load_digit_words
from structopt.formulations.base import Declaration, Formulation
from structopt.formulations.lp_struct import LPStruct
from structopt.formulations.m3n import M3N
from structopt.lab.compare.cases import Case, Data
from structopt.lab.compare.runs import Problem, run_cases, split_table
from structopt.lab.harness import arguments
from structopt.lab.harness.output import write_files
from structopt.lab.harness.terminal import FAILED, show, watching, written
from structopt.learn.estimator import StructuredClassifier
from structopt.report.html import comparison
from structopt.structures.chain.structure import Chain
from structopt.structures.multiclass.structure import Multiclass

TOL, LIMIT = 1e-2, 120.0
"""Relative certified gap, and CPU seconds: they keep the slowest backend at some seconds."""
DIGITS = tuple(range(10))
PIXELS = (8, 8)


class ElasticNet(Formulation):
    r"""``min tau |w|_1 + 1/2 |w|^2 + C sum xi  s.t.  w . delta_i(y) >= loss_i(y) - xi_i``.

    Nothing in structopt knows this class: it stands here for what a user would write.
    """

    def __init__(self, C: float = 1.0, tau: float = 0.1) -> None:
        self.C, self.tau = C, tau

    def master(self, m: Declaration) -> None:
        """Declare the programme."""
        w, xi = m.weights(), m.slacks()
        m.minimize(self.tau * cp.norm1(w) + cp.sum_squares(w) / 2 + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


@dataclass
class Demo(arguments.Command):
    """The command."""

    quick: bool = arguments.quick("fewer words and backends: seconds")
    out: str = arguments.out("structopt-demo", "where reports go")

    def execute(self, command: str) -> int:
        """Learn and report, then train formulations with several backends that must agree."""
        console, began = Console(), time.perf_counter()
        files: dict[str, str | bytes] = {}
        with watching("demo") as watch:
            console.print("Learning to read words of handwritten digits ...")
            model = learned(self.quick)
            files["report.html"], right = report_of(model, self.quick)
            bound = model.result_.certificate.relative_gap
            console.print(
                f"{right:.1f}% of unseen digits are read correctly, and no weights are better by "
                f"more than {100.0 * bound:.2g}%. Now other backends check some of it:",
                markup=False,
            )
            problems = run_cases(cases(self.quick), TOL, LIMIT, watch)
        show(split_table(problems), console)
        for problem in problems:
            low, high = problem.bounds
            verdict = "all runs are certified, and the backends agree"
            if not problem.agree:
                verdict = "THE BACKENDS DISAGREE"
            elif not certified(problem):
                verdict = "NOT CERTIFIED"
            console.print(
                f"{problem.formulation}: {verdict}; the optimum lies in [{low:.6g}, {high:.6g}].",
                markup=False,
            )
        console.print(f"{time.perf_counter() - began:.0f} s in all.")
        written(write_files(self.out, files | files_of(problems)), console)
        console.print(
            "Next: open report.html in a browser; look at structopt/lab/demo.py, "
            "where a formulation of one's own takes eight lines; try `structopt bench masters "
            "--quick`.", markup=False,
        )  # fmt: skip
        return 0 if all(p.agree and certified(p) for p in problems) else FAILED


def learned(quick: bool) -> StructuredClassifier:
    """Learn to read words."""
    X, Y = load_digit_words(20 if quick else 120)
    # by cutting planes, as the backends that are compared below: one set of kernels to compile
    model = StructuredClassifier(
        Chain(labels=DIGITS), M3N(C=0.1), method="cutting-plane", tol=1e-2 if quick else 1e-3
    )
    return model.fit(X, Y)


def report_of(model: StructuredClassifier, quick: bool) -> tuple[bytes, float]:
    """Return the report of a model on unseen words, and the percentage of digits it reads."""
    X, Y = load_digit_words(40 if quick else 200, split="test")
    images = [x.reshape(-1, *PIXELS) for x in X]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.html")
        title = "structopt demo: reading words of handwritten digits"
        model.report(path, X, Y, title=title, inputs=images)
        return path.read_bytes(), 100.0 * model.score(X, Y)


def cases(quick: bool) -> list[Case]:
    """Return the three problems, each with the backends that are to solve it."""
    words, singles = (8, 5) if quick else (16, 12)
    X, Y = load_digit_words(words)
    test = load_digit_words(40 if quick else 400, split="test")
    x, y, x_test, y_test = (np.concatenate(part) for part in (X[:singles], Y[:singles], *test))
    of_words = Data(Chain(labels=DIGITS), X, Y, test)
    of_digits = Data(Multiclass(labels=DIGITS), x, y, (x_test, y_test))
    every = ("ascent", "clarabel") if quick else ("ascent", "osqp", "cvxpy")
    linear = ("highs", "cvxpy") if quick else ("highs", "clarabel")
    return [
        Case("M3N", "words", M3N(C=0.1), of_words, every),
        Case("elastic net", "words", ElasticNet(C=0.1), of_words, every[:2]),
        Case("LP-Struct", "digits", LPStruct(C=1.0, nonnegative=False),
             of_digits, linear),
    ]  # fmt: skip


def certified(problem: Problem) -> bool:
    """Whether every backend took the problem and certified its run."""
    return not problem.refusals and not any(run.reason for run in problem.runs.values())


def files_of(problems: list[Problem]) -> dict[str, str | bytes]:
    """Return a report of each problem."""
    files: dict[str, str | bytes] = {}
    for problem in problems:
        right = ", ".join(f"{b} {run.right:.1f}%" for b, run in problem.runs.items())
        note = f"Test digits read correctly: {right}."
        files[f"{_slug(problem)}.html"] = comparison(
            problem.results, title=f"structopt demo: {_title(problem)}", note=note
        )
    return files


def _title(problem: Problem) -> str:
    return f"{problem.formulation} on {problem.data} ({problem.size})"


def _slug(problem: Problem) -> str:
    return problem.formulation.lower().replace(" ", "-")
