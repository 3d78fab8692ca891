"""Three algorithms for the L1-M3N on the first synthetic data set: error and training time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from structopt.datasets import make_chain_crf
from structopt.lab.harness.study import Cell, Row, every, where
from structopt.lab.reproduce.l1_m3n.figure_2 import SEQUENCES, split
from structopt.lab.reproduce.l1_m3n.figure_3 import INPUTS
from structopt.lab.reproduce.l1_m3n.three_algorithms import (
    CUTTING,
    EM,
    SAID,
    SUBGRADIENT,
    ThreeAlgorithms,
)

SCALE = 14000.0
"""The paper counts lambda of EM in these."""
FIXED = 3.0
"""C of EM, which the paper keeps fixed but does not state: about where its counts are found."""
ROOTS = (0.5, 0.7, 0.87, 1.0, 1.41, 1.73, 2.0, 3.0, 4.0)
SHARES = (0.036, 0.069, 0.14, 0.21, 0.35, 0.5, 0.64, 0.78, 0.93)


class L1M3nFigure5(ThreeAlgorithms):
    """Zhu, Xing and Zhang (2009), Figure 5."""

    name = "l1-m3n-figure-5"
    differences: ClassVar[str] = (
        f"the data as for Figure 2; C of EM is not stated, here {FIXED:g}, chosen of 3 and 10 as "
        "the one that comes close to the counts of Table 1. Every algorithm runs to a certified "
        "gap of 1% (the paper: 15 rounds of EM; it does not say when the others stop), on one core "
        "of today. " + SAID
    )

    values: ClassVar = {
        SUBGRADIENT: ROOTS,
        CUTTING: ROOTS,
        EM: tuple(round(share * SCALE, 3) for share in SHARES),
    }
    folds, fixed, tol, labels = (3, 10), FIXED, 1e-2, (0, 1)

    def more(self, algorithm: str) -> Cell:
        """C of EM."""
        return {"C": FIXED} if algorithm == EM else {}

    def part(self, cell: Cell) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
        """A tenth of the first data set, and the rest."""
        X, Y = make_chain_crf(cell.get("sequences", SEQUENCES), seed=0)
        return split(X, Y, np.arange(len(X)) % 10 == cell["fold"])

    def kept(self, weights: Any) -> dict[str, Any]:
        """The weights of states."""
        return {"weights": weights[: 2 * INPUTS]}

    def remarks(self, rows: Sequence[Row]) -> list[str]:
        """Say how much each varies, beside what the paper says."""
        found = []
        for name in every(rows, "algorithm"):
            here = self.numbers(where(rows, algorithm=name))
            error, cpu = ([n.value or 0.0 for n in here if n.metric == m]
                          for m in ("error %", "CPU s"))  # fmt: skip
            found.append(
                f"{name}: error {min(error):.1f} to {max(error):.1f}%, {min(cpu):.2f} to "
                f"{max(cpu):.2f} s."
            )
        return [
            *found,
            "Paper: sub-gradient 0.20 to 0.40, 5 to 15 s, falling with lambda; cutting plane 0.20 "
            "to 0.40, up to 600 s, rising fast with C; EM near its best error throughout and 55 "
            "to 65 s. Here too EM varies least in error; no algorithm needs more than seconds.",
        ]


experiment = L1M3nFigure5()
