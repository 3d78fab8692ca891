"""Wang and Shawe-Taylor (2009), Figure 1: the extragradient method spirals into the optimum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from structopt import datasets
from structopt.engines.dataset import DataSet
from structopt.formulations.lp_struct import LPStruct
from structopt.lab.harness.study import Cell, Row
from structopt.lab.reproduce.experiment import Experiment
from structopt.lab.reproduce.number import Number
from structopt.methods.cutting_plane import CuttingPlane
from structopt.report.draw.theme import OKABE_ITO
from structopt.structures.multiclass.structure import Multiclass

KEPT = 4000
"""Points of a curve that are stored, evenly spaced."""
CERTIFIED = 1e-2
LONGER = "column generation, eps tightened to a certified 1%"


class Spiral(Experiment):
    """The figure: primal against dual objective of the iterates, without and with generation."""

    name = "lp-struct-figure-1"
    version = 2
    differences = (
        "the paper does not say which programme it shows; this one has random points of three "
        "classes. Masters are solved by Algorithm 2 as printed (start at w = 1, slacks raised to "
        "new rows, the iterate handed on, step and stopping rule), and rounds end when no output "
        "is violated; our certificate is computed afterwards."
    )

    def cells(self, full: bool) -> list[Cell]:
        """Return one programme; larger in the full setting."""
        return [{"examples": 60 if full else 15, "C": 0.3, "eps": 1e-3, "steps": 20_000, "seed": 0}]

    def run(self, cell: Cell) -> dict[str, Any]:
        """Solve with column generation, then the last master at once."""
        from structopt.backends.extragradient import solver
        from structopt.backends.extragradient.backend import ExtragradientBackend

        X, classes = datasets.make_classes(
            cell["examples"], n_features=2, separation=2.0, seed=cell["seed"]
        )
        y = list(classes)
        structure = Multiclass().fitted(X, y)
        rounds: list[list[Any]] = [[]]
        eps = cell["eps"]
        backend = ExtragradientBackend(
            variant="paper", eps1=eps, eps2=eps, every=1, callback=lambda it: rounds[-1].append(it)
        )
        run = CuttingPlane(
            structure,
            LPStruct(cell["C"]),
            DataSet.of(structure, X, y),
            backend=backend,
            max_iter=60,
        )
        for record in run:
            if not record.cuts_added:
                break
            rounds.append([])
        result = run.result()
        exact = CuttingPlane(run.structure, run.formulation, run.data, backend="highs", tol=1e-6)
        assert isinstance(run.backend, ExtragradientBackend), "as asked for"
        whole: list[Any] = []
        solver.solve(
            run.backend.problem(), variant="paper", tolerance=eps, eps=(eps, eps),
            max_iter=cell["steps"], every=1, callback=whole.append,
        )  # fmt: skip
        steps = sum(len(iterates) for iterates in rounds)
        tight = CuttingPlane(
            structure, LPStruct(cell["C"]), run.data, tol=CERTIFIED, max_iter=60,
            backend=ExtragradientBackend(variant="paper"),
        ).solve()  # fmt: skip
        return {
            "steps_certified": sum(record.iterations for record in tight.history),
            "rounds_certified": len(tight.history),
            "gap_certified": tight.certificate.relative_gap,
            "optimum": exact.solve().certificate.primal,
            "relative_gap": result.certificate.relative_gap,
            "rounds": len(result.history),
            "steps_generated": steps,
            "steps_whole": len(whole),
            "whole": _curve(whole, KEPT),
            "generated": [_curve(r, KEPT // len(rounds)) for r in rounds if r],
        }

    def numbers(self, rows: Sequence[Row]) -> list[Number]:
        """Return how many steps both ways took."""
        row = rows[0] if rows else {}
        gap = row.get("relative_gap")
        return [
            Number("all constraints at once", "steps", row.get("steps_whole")),
            Number("column generation", "steps", row.get("steps_generated")),
            Number("column generation", "rounds", row.get("rounds")),
            Number("column generation", "certified gap %", None if gap is None else 100.0 * gap),
            Number(LONGER, "steps", row.get("steps_certified")),
            Number(LONGER, "rounds", row.get("rounds_certified")),
            Number(LONGER, "certified gap %", 100.0 * row["gap_certified"] if row else None),
        ]

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw both spirals on the same axes as the paper."""
        row = rows[0]
        panels = figure.subplots(1, 2, sharex=True, sharey=True)
        curves = ([row["whole"]], row["generated"])
        for panel, parts, what in zip(
            panels, curves, ("the whole programme", "with column generation"), strict=True
        ):
            for k, (primal, dual) in enumerate(parts):
                panel.plot(primal, dual, linewidth=0.8, color=OKABE_ITO[k % 2])
            panel.axline((row["optimum"],) * 2, slope=1, color="0.7", linewidth=0.8, zorder=0)
            panel.plot(row["optimum"], row["optimum"], "k*", markersize=9)
            panel.set(title=what, xlabel="primal objective")
        panels[0].set_ylabel("dual objective")


def _curve(iterates: Sequence[Any], most: int) -> list[list[float]]:
    every = max(1, len(iterates) // max(1, most))
    chosen = iterates[::every]
    return [[round(it.primal, 5) for it in chosen], [round(it.dual, 5) for it in chosen]]


experiment = Spiral()
