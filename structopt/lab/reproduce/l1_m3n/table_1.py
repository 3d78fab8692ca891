"""How many average weights are not zero, by algorithm and constant, on the first data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from structopt.lab.harness.study import Row, every, where
from structopt.lab.reproduce.experiment import Experiment
from structopt.lab.reproduce.l1_m3n.figure_3 import irrelevant
from structopt.lab.reproduce.l1_m3n.figure_5 import ROOTS, SCALE, SHARES, L1M3nFigure5
from structopt.lab.reproduce.l1_m3n.three_algorithms import (
    CUTTING,
    EM,
    PRINTED,
    SUBGRADIENT,
    label_of,
)
from structopt.lab.reproduce.number import Number

ZERO = 1e-4
"""Smaller weights count as 0 in EM, as in the paper; in the others only exact zeros do."""
PAPER = {
    SUBGRADIENT: dict(zip(ROOTS, ((138, 198), (136, 196), *[(140, 200)] * 7), strict=True)),
    CUTTING: dict(
        zip(
            ROOTS,
            ((0, 13), (0, 21), (2, 26), (16, 44), (103, 145), (122, 169), (134, 184), (139, 186),
             (140, 189)), strict=True,
        )
    ),
    EM: dict(
        zip(
            (round(share * SCALE, 3) for share in SHARES),
            ((140, 200), (140, 198), (128, 182), (108, 158), (48, 90), (18, 54), (2, 34), (0, 32),
             (0, 28)), strict=True,
        )
    ),
}  # fmt: skip
"""Irrelevant and total, of 140 and 200."""


class L1M3nTable1(L1M3nFigure5):
    """Zhu, Xing and Zhang (2009), Table 1: the runs of Figure 5, another look at them."""

    name = "l1-m3n-table-1"
    runs_of = "l1-m3n-figure-5"
    differences: ClassVar[str] = (
        L1M3nFigure5.differences
        + " The paper's C multiplies a sum of slacks, by its (P1); its counts are found here with "
        "C times their mean. The small setting averages 3 of the 10 parts, so fewer weights are "
        "nonzero in some part."
    )

    def numbers(self, rows: Sequence[Row]) -> list[Number]:
        """Return the counts beside the paper's."""
        found, noise = [], irrelevant()
        for algorithm, value in every(rows, "algorithm", "value"):
            here = where(rows, algorithm=algorithm, value=value)
            kind = algorithm.partition(PRINTED)[0]
            used = np.abs(np.mean([row["weights"] for row in here], axis=0)) > (
                ZERO if kind == EM else 0.0
            )
            paper = PAPER[kind].get(value, (None, None))
            label = label_of(algorithm, value)
            for metric, count, theirs in zip(
                ("irrelevant", "total"), (used[noise].sum(), used.sum()), paper, strict=True
            ):
                found.append(Number(label, metric, float(count), paper=theirs))
        return found

    def remarks(self, rows: Sequence[Row]) -> list[str]:
        """Say what the paper concludes."""
        return [
            "Paper: EM and cutting planes find alike numbers (in reverse order), the sub-gradient "
            "method keeps nearly all. Here its projections end exactly at zeros, so that small "
            "balls are sparse too; the paper blames its learning rate."
        ]

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw ours and the paper's counts side by side."""
        Experiment.draw(self, rows, figure)


experiment = L1M3nTable1()
