r"""The bounds on the accuracy of learning locally and globally, against the number of examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from structopt.lab.harness.study import Cell, Row
from structopt.lab.reproduce import curves
from structopt.lab.reproduce.experiment import Experiment
from structopt.lab.reproduce.number import Number
from structopt.learn.bounds import global_error, local_error

BEST = (0.0, 0.1, 0.2)
"""epsilon_opt of the local curves."""
IBT = "IBT"
LINES = (*(f"LO, L+I, eps_opt {best:g}" for best in BEST), IBT)


class ConstrainedFigure5(Experiment):
    """Punyakanok, Roth, Yih and Zimak (2005), Figure 5: Corollaries 6.3 and 6.4."""

    name = "constrained-figure-5"
    differences: ClassVar[str] = (
        "the paper does not say c, d, delta and the range of the axis; here c = 5 and d = 100 as "
        "in its Figure 2, delta = 0.05. Values below 0 say nothing and are shown as they are."
    )

    def cells(self, full: bool) -> list[Cell]:
        """One job a number of examples."""
        places = np.geomspace(1e5, 1e8, 31 if full else 7)
        return [{"examples": round(m), "c": 5, "d": 100} for m in places]

    def run(self, cell: Cell) -> dict[str, Any]:
        """Evaluate the four bounds; 1 minus the error."""
        m, d = cell["examples"], cell["d"]
        local = {
            line: 1.0 - local_error(m, n_inputs=d, best=best)
            for line, best in zip(LINES, BEST, strict=False)
        }
        return local | {IBT: 1.0 - global_error(m, n_inputs=d, n_components=cell["c"])}

    def numbers(self, rows: Sequence[Row]) -> list[Number]:
        """Return the bounds on the accuracy."""
        return curves.points(rows, x="examples", lines=LINES)

    def remarks(self, rows: Sequence[Row]) -> list[str]:
        """Say where the curves cross, beside what the paper says."""
        found = []
        for line in LINES[:-1]:
            above = [row["examples"] for row in rows if row[IBT] > row[line]]
            where = f"from {min(above):.3g} examples on" if above else "nowhere"
            found.append(f"IBT's bound is the better one of {line}: {where}.")
        return [
            *found,
            "Paper: the separable curve (eps_opt 0) stays above IBT, which overtakes the others.",
        ]

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw the four curves."""
        curves.draw(figure, rows, x="examples", lines=LINES, ylabel="accuracy, bound", log=True)
        figure.axes[0].set_ylim(0.0, 1.0)


experiment = ConstrainedFigure5()
