r"""What ``structopt demo`` does: the same problems, solved by every backend that takes them.

Words written in handwritten digits (:func:`structopt.datasets.load_digit_words`) are learned three
ways: by a max-margin Markov network that reads whole words, by the user's own formulation of
`ElasticNet` in eight lines, and by LP-Struct on single digits. Every run is certified, and the
backends must agree on each optimum.

>>> [f"{plan.name}: {', '.join(plan.backends)}" for plan in _plans(quick=True)]
['M3N: ascent, clarabel', 'elastic net: ascent, clarabel', 'LP-Struct: highs, cvxpy']
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from structopt.errors import MissingDependencyError
from structopt.formulations.base import Formulation
from structopt.run.events import Callback

if TYPE_CHECKING:
    from structopt.formulations.base import Declaration
    from structopt.run.result import Result

logger = logging.getLogger(__name__)

TOL = 1e-2
"""Relative certified gap: sizes and tolerance keep the slowest backend at some seconds."""
DIGITS = tuple(range(10))
ROUNDING = 1e-9

Watch = Callable[[str, float], AbstractContextManager[Callback]]
"""Takes a label and the tolerance of a run, gives the callback that watches it."""


class ElasticNet(Formulation):
    r"""``min tau |w|_1 + 1/2 |w|^2 + C sum xi  s.t.  w . delta_i(y) >= loss_i(y) - xi_i``.

    Nothing in structopt knows this class: it stands here for what a user would write.
    """

    def __init__(self, C: float = 1.0, tau: float = 0.1) -> None:
        self.C, self.tau = C, tau

    def master(self, m: Declaration) -> None:
        """Declare the programme."""
        import cvxpy as cp

        w, xi = m.weights(), m.slacks()
        m.minimize(self.tau * cp.norm1(w) + cp.sum_squares(w) / 2 + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


@dataclass(frozen=True)
class Run:
    """One backend's run: its result, and the share of test digits that it reads correctly."""

    backend: str
    result: Result
    accuracy: float


@dataclass(frozen=True)
class Problem:
    """One learning problem and the runs of its backends.

    Attributes
    ----------
    name, data : str
        What is minimised, and on what.
    runs : tuple of Run
    """

    name: str
    data: str
    runs: tuple[Run, ...]

    @property
    def bounds(self) -> tuple[float, float]:
        """The best lower and the best upper bound on the optimum that any backend proved."""
        certificates = [run.result.certificate for run in self.runs]
        return max(c.dual for c in certificates), min(c.primal for c in certificates)

    @property
    def certified(self) -> bool:
        """Whether every run is certified."""
        return all(run.result.certificate.certified for run in self.runs)

    @property
    def agree(self) -> bool:
        """Whether all runs are certified and no one's lower bound exceeds another's objective."""
        low, high = self.bounds
        return self.certified and low <= high + ROUNDING * max(1.0, abs(high))

    @property
    def results(self) -> dict[str, Result]:
        """The results by backend, as reports take them."""
        return {run.backend: run.result for run in self.runs}


@dataclass(frozen=True)
class Demo:
    """All problems, the files that were written, and what could not be drawn and why."""

    problems: tuple[Problem, ...]
    seconds: float
    files: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Plan:
    name: str
    data: str
    structure: Any
    formulation: Formulation
    backends: tuple[str, ...]
    examples: tuple[Any, ...] = field(repr=False)


def run_demo(
    out: str | os.PathLike[str] | None = None, *, quick: bool = False, watch: Watch | None = None
) -> Demo:
    """Train every formulation with every backend, check that they agree, and write reports.

    Parameters
    ----------
    out : path, optional
        Folder for the reports and figures; without it nothing is written.
    quick : bool
        Fewer words, fewer backends.
    watch : callable, optional
        ``watch(label, tol)`` is entered around each run and gives its callback.
    """
    began = time.perf_counter()
    plans = _plans(quick)
    for plan in plans:
        _warm_up(plan, watch)
    problems = tuple(_solve(plan, watch) for plan in plans)
    demo = Demo(problems, time.perf_counter() - began)
    return demo if out is None else write_demo(demo, out)


def write_demo(demo: Demo, out: str | os.PathLike[str]) -> Demo:
    """Write a report and a figure of each problem; return the demo with its files."""
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    files = [_report(problem, folder) for problem in demo.problems]
    notes: list[str] = []
    try:
        files += [_figure(problem, folder) for problem in demo.problems]
    except MissingDependencyError as error:
        notes.append(str(error))
    return replace(demo, files=tuple(files), notes=tuple(notes))


def _plans(quick: bool) -> list[_Plan]:
    import numpy as np

    from structopt.datasets import load_digit_words
    from structopt.formulations.lp_struct import LPStruct
    from structopt.formulations.m3n import M3N
    from structopt.structures.chain.structure import Chain
    from structopt.structures.multiclass.structure import Multiclass

    words, singles = (8, 5) if quick else (16, 12)
    X, Y = load_digit_words(words)
    test = load_digit_words(40 if quick else 400, split="test")
    single = (np.concatenate(X[:singles]), np.concatenate(Y[:singles]))
    single_test = (np.concatenate(test[0]), np.concatenate(test[1]))
    every = ("ascent", "clarabel") if quick else ("ascent", "osqp", "clarabel", "cvxpy")
    linear = ("highs", "cvxpy") if quick else ("highs", "osqp", "clarabel", "cvxpy")
    chain = Chain(labels=DIGITS)
    of_words = f"{words} words, {sum(map(len, Y))} digits"
    return [
        _Plan("M3N", of_words, chain, M3N(C=0.1), every, (X, Y, *test)),
        _Plan("elastic net", of_words, chain, ElasticNet(C=0.1), every[:2], (X, Y, *test)),
        _Plan(
            "LP-Struct",
            f"{len(single[1])} single digits",
            Multiclass(labels=DIGITS),
            LPStruct(C=1.0, nonnegative=False),
            linear,
            (*single, *single_test),
        ),
    ]


def _warm_up(plan: _Plan, watch: Watch | None) -> None:
    """Compile the loops before time is taken: once a machine, as they are cached on disk."""
    X, Y, *_ = plan.examples
    _fit(plan, plan.backends[0], X[:2], Y[:2], f"{plan.name}: compiling", watch)


def _solve(plan: _Plan, watch: Watch | None) -> Problem:
    X, Y, X_test, Y_test = plan.examples
    runs = []
    for backend in plan.backends:
        model = _fit(plan, backend, X, Y, f"{plan.name} by {backend}", watch)
        runs.append(Run(backend, model.result_, model.score(X_test, Y_test)))
    return Problem(plan.name, plan.data, tuple(runs))


def _fit(plan: _Plan, backend: str, X: Any, Y: Any, label: str, watch: Watch | None) -> Any:
    from structopt.learn.estimator import StructuredClassifier

    logger.info("%s", label)
    with nullcontext() if watch is None else watch(label, TOL) as callback:
        return StructuredClassifier(
            plan.structure,
            plan.formulation,
            backend=backend,
            tol=TOL,
            callbacks=() if callback is None else (callback,),
        ).fit(X, Y)


def _slug(problem: Problem) -> str:
    return problem.name.lower().replace(" ", "-")


def _report(problem: Problem, folder: Path) -> Path:
    from structopt.report import write_comparison

    path = folder / f"{_slug(problem)}.html"
    accuracy = ", ".join(f"{run.backend} {run.accuracy:.1%}" for run in problem.runs)
    write_comparison(
        problem.results,
        path,
        title=f"structopt demo: {problem.name} on {problem.data}",
        note=f"Test digits read correctly: {accuracy}.",
    )
    return path


def _figure(problem: Problem, folder: Path) -> Path:
    from structopt.report import plot_bounds

    path = folder / f"{_slug(problem)}.png"
    plot_bounds(problem.results, path, title=f"{problem.name} on {problem.data}")
    return path
