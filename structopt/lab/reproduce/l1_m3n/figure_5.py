"""Three algorithms for the L1-M3N on the first synthetic data set: error and training time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from structopt.datasets import make_chain_crf
from structopt.lab.harness.experiment import Cell, Experiment, Number, Row
from structopt.lab.reproduce.l1_m3n import three_algorithms
from structopt.lab.reproduce.l1_m3n.figure_2 import SEQUENCES, split
from structopt.lab.reproduce.l1_m3n.three_algorithms import CUTTING, EM, SUBGRADIENT

SCALE = 14000.0
"""The paper counts lambda of EM in these."""
FIXED = 3.0
"""C of EM, which the paper keeps fixed but does not state: about where its counts are found."""
ROOTS = (0.5, 0.7, 0.87, 1.0, 1.41, 1.73, 2.0, 3.0, 4.0)
SHARES = (0.036, 0.069, 0.14, 0.21, 0.35, 0.5, 0.64, 0.78, 0.93)
VALUES = {
    SUBGRADIENT: ROOTS,
    CUTTING: ROOTS,
    EM: tuple(round(share * SCALE, 3) for share in SHARES),
}


class L1M3nFigure5(Experiment):
    """Zhu, Xing and Zhang (2009), Figure 5."""

    name = "l1-m3n-figure-5"
    differences: ClassVar[str] = (
        f"the data as for Figure 2; C of EM is not stated, here {FIXED:g}, chosen of 3 and 10 as "
        "the one that comes close to the counts of Table 1. Every algorithm runs to a certified "
        "gap of 1% (the paper: 15 rounds of EM; it does not say when the others stop), on one core "
        "of today."
    )

    def cells(self, full: bool) -> list[Cell]:
        """One job an algorithm, constant and part to train on, 10-fold."""
        folds, step = (10, 1) if full else (3, 2)
        return [
            {"algorithm": algorithm, "value": value, "fold": fold}
            | ({"C": FIXED} if algorithm == EM else {})
            for algorithm, values in VALUES.items()
            for value in values[::step]
            for fold in range(folds)
        ]

    def run(self, cell: Cell) -> dict[str, Any]:
        """Learn on a tenth of the first data set, test on the rest."""
        X, Y = make_chain_crf(cell.get("sequences", SEQUENCES), seed=0)
        train, test = split(X, Y, np.arange(len(X)) % 10 == cell["fold"])
        found, weights = three_algorithms.solve(
            cell["algorithm"], cell["value"], train, test, [0, 1], fixed=cell.get("C", FIXED),
            tol=1e-2, max_iter=2000,
        )  # fmt: skip
        return found | {"weights": weights[: 2 * X[0].shape[1]]}

    def numbers(self, rows: Sequence[Row]) -> list[Number]:
        """Return error and CPU seconds."""
        return three_algorithms.error_and_time(rows)

    def remarks(self, rows: Sequence[Row]) -> list[str]:
        """Say how much each varies, beside what the paper says."""
        found = []
        for name in dict.fromkeys(row["algorithm"] for row in rows):
            here = self.numbers([r for r in rows if r["algorithm"] == name])
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

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw errors and times."""
        three_algorithms.draw(rows, figure)


experiment = L1M3nFigure5()
