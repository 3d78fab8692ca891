"""Wang and Shawe-Taylor (2009), Figure 2: CPU time against rounds, simplex and extragradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from structopt import datasets
from structopt.backends.extragradient.backend import ExtragradientBackend
from structopt.features.words import WordFeatures
from structopt.formulations.lp_struct import LPStruct
from structopt.lab.harness.measure import CpuLimit, learn, proof
from structopt.lab.harness.study import Cell, Row
from structopt.lab.reproduce.experiment import Experiment
from structopt.lab.reproduce.number import Number, mean
from structopt.lab.reproduce.tagging import draw
from structopt.learn.estimator import StructuredClassifier
from structopt.report.draw.theme import OKABE_ITO
from structopt.structures.chain.structure import Chain

PRINTED = "extragradient, as printed"
BACKENDS = {"simplex": "highs", "extragradient": "extragradient", "proximal": "proximal"}
PAPER = {
    "simplex": (3879, 23),
    "extragradient": (856, 14),
    PRINTED: (856, 14),
    "proximal": (None, None),
}


class Times(Experiment):
    """The figure."""

    name = "lp-struct-figure-2"
    data = ("medpost/tag_cl.ioc.gz",)
    differences = (
        "as in lp-struct-table-1. The paper's numbers are those of its Table 1; a gap is shown "
        "here since the paper does not say when it stops. As printed: Algorithms 1 and 2, from "
        "w = 1, slacks raised to new rows, the iterate handed on, its own step and stopping rule."
    )
    version = 2

    def cells(self, full: bool) -> list[Cell]:
        """Return one run a backend and draw."""
        setting = (
            {"train": 5700, "C": 10.0, "limit": 300.0}
            if full
            else {"train": 60, "C": 100.0, "limit": 15.0}
        )
        return [
            {"solver": solver, "draw": k, **setting, "tol": 1e-2}
            for k in range(1 if full else 2)
            for solver in (*BACKENDS, PRINTED)
        ]

    def run(self, cell: Cell) -> dict[str, Any]:
        """Train once and note the CPU time after every round."""
        sentences = [(s.words, s.tags) for s in datasets.load_medpost()]
        (train,) = draw(sentences, (cell["train"],), cell["draw"], WordFeatures(("word",)))
        clock = CpuLimit(cell["limit"], last=True)
        model = StructuredClassifier(
            Chain(), LPStruct(cell["C"]), tol=cell["tol"], callbacks=[clock],
            **_printed() if cell["solver"] == PRINTED else {"backend": BACKENDS[cell["solver"]]},
        )  # fmt: skip
        cpu = learn(model, train.X, train.Y)
        gaps = [record.relative_gap for record in model.result_.history]
        seconds = [round(s, 4) for s in clock.seconds]
        return {"cpu": cpu, **proof(model), "seconds": seconds, "gaps": gaps}

    def numbers(self, rows: Sequence[Row]) -> list[Number]:
        """Return the ends of the curves."""
        found = []
        for solver, (seconds, rounds) in PAPER.items():
            of = [row for row in rows if row["solver"] == solver]
            gap = mean(row["relative_gap"] for row in of)
            found += [
                Number(solver, "CPU s", mean(row["cpu"] for row in of), None, seconds),
                Number(solver, "rounds", mean(row["rounds"] for row in of), None, rounds),
                Number(solver, "certified gap %", None if gap is None else 100.0 * gap),
            ]
        return found

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw time against rounds, and the gap against time."""
        left, right = figure.subplots(1, 2)
        for k, solver in enumerate(PAPER):
            for row in [row for row in rows if row["solver"] == solver]:
                look = {"color": OKABE_ITO[k], "marker": ".x+1"[k], "markersize": 4, "linewidth": 1}
                label = solver if row["draw"] == 0 else None
                gaps = [float("nan") if g is None else g for g in row["gaps"]]
                left.plot(range(1, len(gaps) + 1), row["seconds"], label=label, **look)
                right.plot(row["seconds"], gaps, **look)
        left.set(xlabel="rounds", ylabel="CPU seconds", xscale="log")
        right.set(xlabel="CPU seconds", ylabel="certified relative gap", yscale="log")
        left.legend(frameon=False)


def _printed() -> dict[str, Any]:
    """Return the options of the paper's algorithms as printed."""
    return {
        "backend": ExtragradientBackend(variant="paper"),
        "method": "cutting-plane",
        "method_options": {"start": 1.0},
    }


experiment = Times()
