r"""``structopt demo``: a comparison of three cases, on data that come with scikit-learn.

Words written in handwritten digits (:func:`structopt.datasets.load_digit_words`) are learned three
ways: by a max-margin Markov network that reads whole words, by the user's own formulation of
`ElasticNet` in eight lines, and by LP-Struct on single digits. Every run is certified, and the
backends must agree on each optimum.

>>> [f"{case.formulation}: {', '.join(case.backends)}" for case in cases(quick=True)]
['M3N: ascent, clarabel', 'elastic net: ascent, clarabel', 'LP-Struct: highs, cvxpy']
"""

from __future__ import annotations

import time
from dataclasses import dataclass

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
from structopt.report.html import comparison
from structopt.structures.chain.structure import Chain
from structopt.structures.multiclass.structure import Multiclass

TOL, LIMIT = 1e-2, 120.0
"""Relative certified gap, and CPU seconds: they keep the slowest backend at some seconds."""
DIGITS = tuple(range(10))


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
        """Train every formulation with every backend, check that they agree, write reports."""
        console, began = Console(), time.perf_counter()
        console.print("Handwritten digit words, three formulations, every backend that takes them.")
        with watching("demo") as watch:
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
        written(write_files(self.out, files_of(problems)), console)
        console.print(
            "Next: open one of the reports in a browser; look at structopt/lab/demo.py, "
            "where a formulation of one's own takes eight lines; try `structopt bench masters "
            "--quick`.", markup=False,
        )  # fmt: skip
        return 0 if all(p.agree and certified(p) for p in problems) else FAILED


def cases(quick: bool) -> list[Case]:
    """Return the three problems, each with the backends that are to solve it."""
    words, singles = (8, 5) if quick else (16, 12)
    X, Y = load_digit_words(words)
    test = load_digit_words(40 if quick else 400, split="test")
    x, y, x_test, y_test = (np.concatenate(part) for part in (X[:singles], Y[:singles], *test))
    of_words = Data(Chain(labels=DIGITS), X, Y, test)
    of_digits = Data(Multiclass(labels=DIGITS), x, y, (x_test, y_test))
    every = ("ascent", "clarabel") if quick else ("ascent", "osqp", "clarabel", "cvxpy")
    linear = ("highs", "cvxpy") if quick else ("highs", "osqp", "clarabel", "cvxpy")
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
