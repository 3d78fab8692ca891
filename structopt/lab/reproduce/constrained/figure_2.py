r"""Synthetic constrained labels: LO, L+I and IBT against the number of training examples.

Five components, half of the label vectors legal, a fraction kappa of the examples not locally
labelled; the perceptron until a cycle without mistakes, 100 cycles at most.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, ClassVar

from structopt.datasets import make_constrained_labels
from structopt.lab.harness.study import Cell, Row
from structopt.lab.reproduce import curves
from structopt.lab.reproduce.experiment import Experiment
from structopt.lab.reproduce.number import Number, mean
from structopt.learn.schemes import SCHEMES, ConstraintScheme
from structopt.structures.label_vector.structure import LabelVector

PANELS = {0.0: 100, 0.15: 300, 1.0: 100, 0.1: 300}
"""kappa of the three panels, and their d; panel (b) again with the kappa that the text has."""
PRINTED = ", component by component"
LINES = (*SCHEMES, "LO" + PRINTED, "L+I" + PRINTED)


class ConstrainedFigure2(Experiment):
    """Punyakanok, Roth, Yih and Zimak (2005), Figure 2."""

    name = "constrained-figure-2"
    differences: ClassVar[str] = (
        "the paper states neither the law of the true hypothesis nor the sizes it trains on; here "
        "w is uniform on the sphere, theta on [-1/2, 1/2], x normal. Accuracy is the share of "
        "components that are right on other examples with the same kappa. Its text says kappa = "
        "0.1 for panel (b), its caption 0.15: both are run. Its Figure 1(a) updates component by "
        "component, in the order of the data (lines that say so); the other lines visit examples "
        "in random order and update their wrong components together, as its Figure 1(b) does."
    )
    version = 2

    def cells(self, full: bool) -> list[Cell]:
        """One job a panel, training size and trial: all lines."""
        trials = range(10 if full else 3)
        sizes = (100, 200, 500, 1000, 2000, 5000) if full else (100, 300, 1000, 3000)
        tests = 2000 if full else 1000
        return [
            {"kappa": kappa, "d": d, "examples": size, "trial": trial, "tests": tests}
            for kappa, d in PANELS.items()
            for size in sizes
            for trial in trials
        ]

    def run(self, cell: Cell) -> dict[str, Any]:
        """Learn by each scheme and score it."""
        n, tests = cell["examples"], cell["tests"]
        data = make_constrained_labels(
            n + tests, n_inputs=cell["d"], kappa=cell["kappa"], seed=cell["trial"]
        )
        structure, found = LabelVector(data.legal), {}
        for name in LINES:
            scheme = _scheme(name, structure, cell["trial"])
            scheme.fit(data.X[:20], data.Y[:20])  # loads compiled code
            began = time.process_time()
            scheme.fit(data.X[:n], data.Y[:n])
            found[f"CPU s, {name}"] = time.process_time() - began
            found[name] = 100.0 * scheme.score(data.X[n:], data.Y[n:])
        return found

    def numbers(self, rows: Sequence[Row]) -> list[Number]:
        """Return the accuracy of every scheme, and the CPU seconds of learning."""
        seconds = [f"CPU s, {name}" for name in SCHEMES]
        return [
            *curves.points(rows, x="examples", lines=LINES, panel="kappa", unit=" %"),
            *curves.points(rows, x="examples", lines=seconds, panel="kappa"),
        ]

    def remarks(self, rows: Sequence[Row]) -> list[str]:
        """Say where IBT overtakes L+I, beside what the paper says."""
        said = {
            0.0: "L+I is ahead at every size",
            0.15: "L+I is ahead while examples are few",
            1.0: "IBT is ahead",
            0.1: "L+I is ahead while examples are few",
        }
        found = []
        for kappa, paper in said.items():
            here = [row for row in rows if row["kappa"] == kappa]
            sizes = sorted({row["examples"] for row in here})
            ahead = [s for s in sizes if _lead([r for r in here if r["examples"] == s]) > 0]
            found.append(f"kappa = {kappa}: IBT is ahead of L+I at {ahead} (paper: {paper}).")
        return found

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw accuracy against examples, a panel each kappa."""
        curves.draw(
            figure, rows, x="examples", lines=LINES, panel="kappa", ylabel="accuracy %", log=True
        )


def _scheme(name: str, structure: LabelVector, trial: int) -> ConstraintScheme:
    learner = "components" if name.endswith(PRINTED) else "perceptron"
    return ConstraintScheme(
        name.removesuffix(PRINTED), structure, learner=learner, max_iter=100, random_state=trial
    )


def _lead(rows: Sequence[Row]) -> float:
    return mean(row["IBT"] - row["L+I"] for row in rows) or 0.0


experiment = ConstrainedFigure2()
