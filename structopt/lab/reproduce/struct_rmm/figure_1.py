"""Shivaswamy and Jebara (2009), Figure 1: what scaling does to a large margin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from structopt import datasets
from structopt.engines.dataset import DataSet
from structopt.formulations.struct_rmm import StructRMM
from structopt.formulations.struct_svm import StructSVM
from structopt.lab.harness.study import Cell, Row
from structopt.lab.reproduce.experiment import Experiment
from structopt.lab.reproduce.number import Number
from structopt.lab.reproduce.struct_rmm.relative_margins import largest_projection
from structopt.methods.cutting_plane import CuttingPlane
from structopt.report.draw.theme import OKABE_ITO
from structopt.structures.enumerated.structure import Enumerated

FRACTION = 0.9
"""B as a share of the largest projection of StructSVM at the first scale, where they agree."""


class Clouds(Experiment):
    """The figure: one good output (triangle), many bad ones (squares), three scales."""

    name = "struct-rmm-figure-1"
    differences = (
        "the paper gives no coordinates; the clouds are drawn by datasets.make_scaled_clouds. B is "
        "the same at all scales: it bounds projections, which do not change when weights are "
        "scaled back."
    )

    def cells(self, full: bool) -> list[Cell]:
        """Return one cell a scale."""
        size = 400 if full else 40
        return [
            {"scale": scale, "points": size, "C": 1e4, "fraction": FRACTION, "seed": 0}
            for scale in (1.0, 2.0, 4.0)
        ]

    def run(self, cell: Cell) -> dict[str, Any]:
        """Learn both machines, and compare directions and spreads."""
        first = _learn(cell, 1.0, None)[0]
        B = cell["fraction"] * first["largest"]
        svm, points = _learn(cell, cell["scale"], None)
        rmm, _ = _learn(cell, cell["scale"], B)
        angle = np.degrees(np.arccos(np.clip(_unit(svm["w"]) @ _unit(rmm["w"]), -1.0, 1.0)))
        return {"B": B, "angle": angle, "points_drawn": points, "svm": svm, "rmm": rmm}

    def numbers(self, rows: Sequence[Row]) -> list[Number]:
        """Return the angle between both directions, and spread over margin of the projections."""
        found = []
        for scale in (1.0, 2.0, 4.0):
            row = next((row for row in rows if row["scale"] == scale), None)
            label = f"scale {scale:g}"
            angle = None if row is None else row["angle"]
            found.append(Number(label, "angle between both, degrees", angle))
            for key, name in (("svm", "StructSVM"), ("rmm", "StructRMM")):
                spread = None if row is None else row[key]["spread"]
                found.append(Number(label, f"{name} spread / margin", spread))
        return found

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw points and boundaries above, projections below."""
        figure.set_size_inches(10, 5)
        panels = figure.subplots(2, len(rows), squeeze=False, height_ratios=[3, 1])
        for column, row in enumerate(rows):
            top, bottom = panels[:, column]
            good, *bad = np.array(row["points_drawn"])
            top.plot(*np.array(bad).T, "s", color="0.6", markersize=3)
            top.plot(*good, "^", color="k", markersize=8)
            for k, (key, name) in enumerate((("svm", "large margin"), ("rmm", "relative margin"))):
                w = np.array(row[key]["w"])
                if np.any(w != 0):  # the boundary half a margin below the good output
                    through = good - w / (2 * (w @ w))
                    ahead = through + np.array([-w[1], w[0]])
                    top.axline(through, ahead, color=OKABE_ITO[1 - k], label=name)
                values = np.array([good, *bad]) @ w
                bottom.plot(
                    values - values[0], np.full(len(values), -k), "|", color=OKABE_ITO[1 - k]
                )
            top.set_title(f"first axis times {row['scale']:g}")
            bottom.set(yticks=[], xlabel="projection below the good output")
        panels[0, 0].legend(frameon=False, fontsize=8)


def _learn(cell: Cell, scale: float, B: float | None) -> tuple[dict[str, Any], list[list[float]]]:
    good, bad = datasets.make_scaled_clouds(cell["points"], scale=scale, seed=cell["seed"])
    points = np.vstack([good, bad])
    structure = Enumerated(range(len(points)), lambda x, y: points[y]).fitted([0], [0])
    data = DataSet.of(structure, [0], [0])
    formulation = StructSVM(cell["C"]) if B is None else StructRMM(cell["C"], B)
    result = CuttingPlane(structure, formulation, data, tol=1e-6).solve()
    below = (good - bad) @ result.weights
    return {
        "w": result.weights.tolist(),
        "largest": largest_projection(data, result.weights),
        "spread": float((below.max() - below.min()) / below.min()),
        "relative_gap": result.certificate.relative_gap,
    }, points.tolist()


def _unit(w: Any) -> Any:
    return np.asarray(w) / max(float(np.linalg.norm(w)), 1e-300)


experiment = Clouds()
