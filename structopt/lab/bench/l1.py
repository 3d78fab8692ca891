"""Every way to learn an l1-regularised Markov network, side by side on handwritten words.

The problem is the paper's OCR100: 100 words of one fold, Hamming margins, ``P = 1/2 |w|_1 + C sum
hinge`` over 4,004 weights. Measured is the CPU time to a certified relative gap of 1e-1, 1e-2 and
1e-3; nothing counts that is not proved. The data are looked for in the folder that
``STRUCTOPT_DATA`` names.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from string import ascii_lowercase
from typing import Any

import numpy as np

from structopt.datasets import load_letters
from structopt.engines.dataset import DataSet
from structopt.formulations.l1_m3n import L1M3N
from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.measure import error_percent, solve
from structopt.lab.harness.study import Cell, Row, every, in_turns, median, where
from structopt.lab.harness.table import Table
from structopt.structures.chain.structure import Chain

GAPS = (1e-1, 1e-2, 1e-3)
LEARNERS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "cutting planes, proximal": ("cutting-plane", {"backend": "proximal"}),
    "cutting planes, plain simplex": ("cutting-plane", {"backend": "highs"}),
    "EM": ("em", {}),
    "sub-gradient": ("subgradient", {"max_iter": 1_000_000}),
    "sub-gradient, online": ("subgradient", {"max_iter": 1_000_000, "batch": 1}),
}


@dataclass
class L1Bench(Bench):
    """All learners, in turns.

    Parameters
    ----------
    words : int
        Drawn from fold 0 with ``seed``; the other folds are the test.
    C : float
    time_limit : float
        CPU seconds after which a learner gives up.
    repeats, seed : int
    """

    name = "bench-l1"

    words: int = arguments.argument(100, "training words")
    C: float = 1.0
    time_limit: float = arguments.limit(120.0)
    repeats: int = arguments.repeats(1)
    seed: int = 0

    def cells(self) -> list[Cell]:
        """Return a cell a learner and turn."""
        return in_turns([{"learner": learner} for learner in LEARNERS], self.repeats)

    @cached_property
    def problem(self) -> tuple[Chain, DataSet, tuple[Any, Any]]:
        """The structure, the encoded words, and what to test on."""
        X, Y, folds = load_letters(return_folds=True)
        drawn = np.random.default_rng(self.seed).permutation(np.flatnonzero(folds == 0))
        train, test = (
            ([X[i] for i in which], [Y[i] for i in which])
            for which in (drawn[: self.words], np.flatnonzero(folds != 0))
        )
        structure = Chain(labels=list(ascii_lowercase)).fitted(*train)
        return structure, DataSet.of(structure, *train), test

    def warm_up(self, cell: Cell) -> None:
        """Run for a second."""
        self._solved(cell["learner"], 1.0)

    def run(self, cell: Cell) -> dict[str, Any]:
        """Learn; note when each gap was proved."""
        solved = self._solved(cell["learner"], self.time_limit)
        structure, _, test = self.problem
        certificate = solved.result.certificate
        return {
            **{f"to {gap:g}": solved.to(gap) for gap in GAPS},
            "rounds": len(solved.result.history),
            "primal": certificate.primal,
            "dual": certificate.dual,
            "nonzeros": int(np.count_nonzero(solved.result.weights)),
            "error": error_percent(structure, solved.result.weights, *test),
        }

    def _solved(self, learner: str, time_limit: float) -> Any:
        method, options = LEARNERS[learner]
        structure, data, _ = self.problem
        return solve(
            structure, L1M3N(self.C), data, method=method, tol=min(GAPS), time_limit=time_limit,
            **options,
        )  # fmt: skip

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return one row a learner."""
        lines = []
        for learner in every(rows, "learner"):
            runs = where(rows, learner=learner)
            times, last = (median(runs, f"to {gap:g}") for gap in GAPS), runs[-1]
            lines.append(
                (
                    learner,
                    *(f"{t:.1f}" if math.isfinite(t) else f"> {self.time_limit:.0f}"
                      for t in times),
                    f"{last['rounds']}", f"{last['primal']:.2f}", f"{last['dual']:.2f}",
                    f"{last['nonzeros']}", f"{last['error']:.2f}",
                )
            )  # fmt: skip
        return [Table(
            f"L1-M3N on {self.words} words",
            ("method", "CPU s to 1e-1", "to 1e-2", "to 1e-3", "rounds", "objective", "lower bound",
             "nonzeros", "test error %"),
            tuple(lines),
            ("CPU seconds of one thread to a certified relative gap, encoding and compilation left "
             "out; the paper's runs took 2 hours a fold and did not converge.",),
        )]  # fmt: skip
