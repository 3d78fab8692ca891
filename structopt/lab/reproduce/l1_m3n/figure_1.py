"""Projections on an l2 and an l1 ball in the plane: which of them set a coordinate to zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from structopt.lab.harness.study import Cell, Row
from structopt.lab.reproduce.experiment import Experiment
from structopt.lab.reproduce.number import Number
from structopt.methods.subgradient.l1_ball import project_l1_ball
from structopt.report.draw.theme import OKABE_ITO

POINTS = {"p1": (1.3, 1.0), "p2": (1.8, 0.3), "p3": (0.25, 1.6)}
"""Far from both axes, near the first, near the second."""


class L1M3nFigure1(Experiment):
    """Zhu, Xing and Zhang (2009), Figure 1."""

    name = "l1-m3n-figure-1"
    differences: ClassVar[str] = (
        "the paper gives no coordinates; the points are chosen to lie in its three regions. Balls "
        "of radius 1, Euclidean projections of both (the paper prints an l1 norm in (3))."
    )

    def cells(self, full: bool) -> list[Cell]:
        """One job a point."""
        return [{"point": name, "at": list(at)} for name, at in POINTS.items()]

    def run(self, cell: Cell) -> dict[str, Any]:
        """Project one point on both balls."""
        p = np.array(cell["at"])
        return {
            "l2": (p / max(1.0, float(np.linalg.norm(p)))).tolist(),
            "l1": project_l1_ball(p).point.tolist(),
        }

    def numbers(self, rows: Sequence[Row]) -> list[Number]:
        """Return both projections, coordinate by coordinate."""
        return [
            Number(row["point"], f"{ball}, {axis}", row[ball][k])
            for row in rows
            for ball in ("l2", "l1")
            for k, axis in enumerate(("first", "second"))
        ]

    def remarks(self, rows: Sequence[Row]) -> list[str]:
        """Say which projections are sparse, beside what the paper says."""
        sparse = {ball: [r["point"] for r in rows if 0.0 in r[ball]] for ball in ("l2", "l1")}
        shown = {ball: ", ".join(names) or "none" for ball, names in sparse.items()}
        return [
            f"A coordinate of 0 after the projection on the l1 ball: {shown['l1']}; on the l2 "
            f"ball: {shown['l2']}. Paper: p2 and p3 on the l1 ball, none on the l2 ball."
        ]

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw the first orthant, both balls, the regions between dashed lines, and the points."""
        figure.set_size_inches(5.0, 5.0)
        axes = figure.subplots()
        turn = np.linspace(0.0, np.pi / 2.0, 100)
        axes.plot(np.cos(turn), np.sin(turn), color="black", label="l2 ball")
        axes.plot([1, 0], [0, 1], color="black", linestyle="--", label="l1 ball")
        for x, y in ((1.0, 0.0), (0.0, 1.0)):  # beyond these, one coordinate becomes 0
            axes.plot([x, x + 1.0], [y, y + 1.0], color="0.7", linestyle=":")
        for k, row in enumerate(rows):
            colour = OKABE_ITO[1 + k]
            for ball, mark in (("l2", "o"), ("l1", "*")):
                (a, b), (c, d) = row["at"], row[ball]
                axes.plot([a, c], [b, d], color=colour, linewidth=0.8)
                axes.plot([c], [d], marker=mark, color=colour, markersize=8)
            axes.annotate(row["point"], row["at"], xytext=(4, 4), textcoords="offset points")
            axes.plot(*([v] for v in row["at"]), marker="s", color=colour)
        axes.set_xlim(0, 2)
        axes.set_ylim(0, 2)
        axes.set_aspect("equal")
        axes.legend(frameon=False)


experiment = L1M3nFigure1()
