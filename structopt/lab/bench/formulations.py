r"""Margin formulations beyond the plain hinge, each beside M3N on the same data, in turns.

The data are handwritten words (OCR letters, fold 1: 704 words, 4,004 weights, looked for in the
folder that ``STRUCTOPT_DATA`` names) or, with ``--invented``, words drawn at random. Measured is
the CPU time from the declaration to a certified relative gap of 1e-2, divided by M3N's of the same
turn; nothing counts that is not proved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from string import ascii_lowercase
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from structopt.datasets import load_letters, make_chain_crf
from structopt.engines.dataset import DataSet
from structopt.formulations.base import Declaration, Formulation
from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.measure import solve
from structopt.lab.harness.study import Cell, Row, every, in_turns, known, median, where
from structopt.lab.harness.table import Table
from structopt.structures.chain.structure import Chain

GAP = 1e-2
PLAIN = "M3N"


class Kind(NamedTuple):
    """A formulation: its objective as it is written, the goal, and its objective in CVXPY.

    ``objective(m, w, xi)`` may add constraints to m. The rules are Hamming margins, except where a
    margin is learned.
    """

    formula: str
    goal: float
    objective: Callable[[Any, Any, Any], Any]


def _cp() -> Any:
    import cvxpy as cp

    return cp


def _ridge(w: Any) -> Any:
    return _cp().sum_squares(w) / 2


def _smooth(size: int) -> Any:
    """Return a matrix L with L'L = 1 + the differences of weights that are next to each other."""
    steps = sp.eye_array(size - 1, size, k=1) - sp.eye_array(size - 1, size)
    return sp.csr_array(sp.vstack([sp.eye_array(size), steps]))


def _worst_group(m: Any, xi: Any, groups: int = 4) -> Any:
    cp, who = _cp(), np.arange(m.n_examples) % groups
    means = [cp.sum(xi[who == g]) / np.sum(who == g) for g in range(groups)]
    return m.n_examples * cp.max(cp.hstack(means))


def _bounded(m: Any, w: Any) -> Any:
    m.subject_to(w <= 0.5, w >= -0.5)
    return 0.1 * _cp().norm1(w)


def _blocks(w: Any, count: int = 26) -> Any:
    """Return the weights as a table of equal rows, and those that are left over."""
    width = w.size // count
    table = _cp().reshape(w[: count * width], (count, width), order="C")
    return table, w[count * width :]


def _block_norms(w: Any) -> Any:
    cp, (table, rest) = _cp(), _blocks(w)
    norms = cp.sum(cp.norm2(table, axis=1))
    return norms + cp.norm2(rest) if rest.size else norms


def _trace_norm(w: Any) -> Any:
    cp, (table, rest) = _cp(), _blocks(w)
    return cp.normNuc(table) + cp.norm2(rest) if rest.size else cp.normNuc(table)


def _learned(m: Any, w: Any, xi: Any) -> Any:
    rho = _cp().Variable(nonneg=True, name="rho")
    m.cuts(lambda cut: cut.delta @ w >= rho - cut.of(xi))
    return _ridge(w) + 0.1 * (_cp().sum(xi) - m.n_examples / 2 * rho)


KINDS = {
    PLAIN: Kind("1/2 |w|^2 + C sum xi", 1.0, lambda m, w, xi: _ridge(w) + 0.1 * _cp().sum(xi)),
    "squared hinge": Kind(
        "1/2 |w|^2 + C sum xi^2", 5.0, lambda m, w, xi: _ridge(w) + 0.1 * _cp().sum_squares(xi)
    ),
    "Huber": Kind(
        "1/2 |w|^2 + C sum huber(xi)", 5.0,
        lambda m, w, xi: _ridge(w) + 0.1 * _cp().sum(_cp().huber(xi)),
    ),
    "Mahalanobis": Kind(
        "1/2 |L w|^2 + C sum xi", 5.0,
        lambda m, w, xi: _ridge(_smooth(w.size) @ w) + 0.1 * _cp().sum(xi),
    ),
    "CVaR": Kind(
        "1/2 |w|^2 + C (sum of the n/4 largest xi)", 10.0,
        lambda m, w, xi: _ridge(w) + 0.1 * _cp().sum_largest(xi, m.n_examples // 4),
    ),
    "worst group": Kind(
        "1/2 |w|^2 + C n max_g mean_g xi", 10.0,
        lambda m, w, xi: _ridge(w) + 0.1 * _worst_group(m, xi),
    ),
    "nu": Kind("1/2 |w|^2 + C (sum xi - n rho / 2), margin rho", 10.0, _learned),
    "group lasso": Kind(
        "sum_g |w_g| + C sum xi", 30.0, lambda m, w, xi: _block_norms(w) + 0.1 * _cp().sum(xi)
    ),
    "l-infinity": Kind(
        "100 |w|_inf + C sum xi", 30.0,
        lambda m, w, xi: 100 * _cp().norm_inf(w) + 0.1 * _cp().sum(xi),
    ),
    "elastic net, bounds": Kind(
        "1/2 |w|^2 + |w|_1 / 10 + C sum xi, |w_j| <= 1/2", 30.0,
        lambda m, w, xi: _ridge(w) + _bounded(m, w) + 0.1 * _cp().sum(xi),
    ),
    "p-norm": Kind(
        "|w|_1.5 + C sum xi", 60.0, lambda m, w, xi: _cp().pnorm(w, 1.5) + 0.1 * _cp().sum(xi)
    ),
    "entropy": Kind(
        "KL(w, 0.1) / 10 + C sum xi", 60.0,
        lambda m, w, xi: 0.1 * (_cp().sum(_cp().kl_div(w, np.full(w.size, 0.1))) + _cp().sum(xi)),
    ),
    "log-sum-exp": Kind(
        "1/2 |w|^2 + C n log mean exp xi", 60.0,
        lambda m, w, xi: _ridge(w)
        + 0.1 * m.n_examples * (_cp().log_sum_exp(xi) - np.log(m.n_examples)),
    ),
    "trace norm": Kind(
        "|W|_* + C sum xi", 60.0, lambda m, w, xi: _trace_norm(w) + 0.1 * _cp().sum(xi)
    ),
}  # fmt: skip


class Beyond(Formulation):
    """A formulation of the table, C = 0.1."""

    def __init__(self, kind: str = PLAIN) -> None:
        self.kind = kind

    def master(self, m: Declaration) -> None:
        """Declare the programme."""
        w, xi = m.weights(), m.slacks()
        m.minimize(KINDS[self.kind].objective(m, w, xi))
        if KINDS[self.kind].objective is not _learned:
            m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


def letters_of_fold_1() -> tuple[tuple[list[Any], list[Any]], tuple[list[Any], list[Any]]]:
    """Return the words to learn from and those of the other folds, each with their letters."""
    X, Y, folds = load_letters(return_folds=True)
    first, others = np.flatnonzero(folds == 1), np.flatnonzero(folds != 1)
    return ([X[i] for i in first], [Y[i] for i in first]), (
        [X[i] for i in others],
        [Y[i] for i in others],
    )


@dataclass
class FormulationBench(Bench):
    """Every formulation, in turns.

    Parameters
    ----------
    kinds : sequence of str
        Out of `KINDS`; M3N always takes part.
    invented : int
        Draw so many words instead of reading letters.
    time_limit : float
        CPU seconds after which a formulation gives up.
    repeats : int
    """

    name = "bench-formulations"

    kinds: Sequence[str] = arguments.argument(
        tuple(KINDS), "which ones", nargs="+", metavar="KIND"
    )  # fmt: skip
    invented: int = arguments.argument(0, "words drawn at random instead of letters")
    time_limit: float = arguments.limit(60.0)
    repeats: int = arguments.repeats(3)

    def cells(self) -> list[Cell]:
        """Return a cell a formulation and turn."""
        chosen = dict.fromkeys([PLAIN, *known(self.kinds, list(KINDS), "formulation")])
        return in_turns([{"kind": kind} for kind in chosen], self.repeats)

    @cached_property
    def problem(self) -> tuple[Chain, DataSet]:
        """The structure and the encoded words."""
        if self.invented:
            X, Y = make_chain_crf(self.invented, seed=0)
            structure = Chain().fitted(X, Y)
        else:
            (X, Y), _ = letters_of_fold_1()
            structure = Chain(labels=list(ascii_lowercase)).fitted(X, Y)
        return structure, DataSet.of(structure, X, Y)

    def warm_up(self, cell: Cell) -> None:
        """Run for a second."""
        self._solved(cell, 1.0)

    def run(self, cell: Cell) -> dict[str, Any]:
        """Learn; note when the gap was proved."""
        solved = self._solved(cell, self.time_limit)
        certificate = solved.result.certificate
        return {
            "cpu": solved.to(GAP),
            "rounds": len(solved.result.history),
            "backend": solved.result.backend,
            "cuts": solved.result.history[-1].cuts,
            "objective": certificate.primal,
            "relative_gap": certificate.relative_gap,
            "certified": certificate.certified,
        }

    def _solved(self, cell: Cell, time_limit: float) -> Any:
        structure, data = self.problem
        return solve(
            structure, Beyond(cell["kind"]), data, tol=GAP, time_limit=time_limit, max_iter=10_000
        )

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return one row a formulation."""
        plain, lines = median(where(rows, kind=PLAIN), "cpu"), []
        for kind in every(rows, "kind"):
            runs = where(rows, kind=kind)
            cpu, last = median(runs, "cpu"), runs[-1]
            proved = math.isfinite(cpu)
            lines.append(
                (
                    kind,
                    KINDS[kind].formula,
                    f"{cpu:.2f}" if proved else f"> {self.time_limit:.0f}",
                    f"{cpu / plain:.1f}" if proved else f"> {self.time_limit / plain:.0f}",
                    f"{KINDS[kind].goal:g}",
                    f"{last['rounds']}", f"{last['cuts']}", last["backend"],
                    f"{last['objective']:.2f}", f"{last['relative_gap']:.1e}",
                )
            )  # fmt: skip
        what = f"{self.invented} invented words" if self.invented else "letters, fold 1"
        return [Table(
            f"Formulations beyond the plain hinge, {what}",
            ("formulation", "objective", "CPU s", "by M3N's", "goal", "rounds", "cuts", "backend",
             "P", "relative gap"),
            tuple(lines),
            (f"CPU seconds of one thread from the declaration to a certified relative gap of "
             f"{GAP:g}, C = 0.1, medians of {self.repeats}; compilation left out.",),
        )]  # fmt: skip
