"""Segmentation of a laser scan: test error and training loss against iterations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from structopt.arrays import Floats
from structopt.datasets.lidar import load_lidar
from structopt.engines.dataset import DataSet
from structopt.lab.harness.study import Cell, Row
from structopt.lab.reproduce.experiment import Experiment
from structopt.lab.reproduce.number import Number
from structopt.lab.reproduce.saddle_m3n import curves as saddle_curves
from structopt.structures.cut.structure import GraphCut


class SaddleM3nFigure2a(Experiment):
    """Taskar, Lacoste-Julien and Jordan (2006), Figure 2 (a)."""

    name = "saddle-m3n-figure-2a"
    data: ClassVar[tuple[str, ...]] = ("lidar_ground/topography_west.npz",)
    differences: ClassVar[str] = (
        "the paper's scans of puppets (11 scenes of 7,000 points, 45 spin image features) are not "
        "public; here tiles of an airborne laser scan, ground against the rest, with 9 features of "
        "a point and 2 of an edge."
    )

    def cells(self, full: bool) -> list[Cell]:
        """One job a learner."""
        side, passes, sets = (50.0, 600, (10, 6, 6)) if full else (40.0, 100, (8, 6, 6))
        return [
            {"learner": learner, "side": side, "iterations": passes, "sets": list(sets), "seed": 0}
            for learner in saddle_curves.LEARNERS
        ]

    def run(self, cell: Cell) -> dict[str, Any]:
        """Learn on some tiles; measure on others after every few passes."""
        X, Y = load_lidar(side=cell["side"])
        order = np.random.default_rng(cell["seed"]).permutation(len(X))
        ends = np.cumsum([0, *cell["sets"]])
        train, held, test = (
            ([X[i] for i in order[a:b]], [Y[i] for i in order[a:b]]) for a, b in pairwise(ends)
        )
        structure = GraphCut().fitted(*train)
        nodes = sum(len(y) for y in train[1])

        def errors(weights: Floats) -> dict[str, float]:
            return {
                name: 100.0 * error(structure.predict(part[0], weights), part[1])
                for name, part in (("validation", held), ("test", test))
            }

        found = saddle_curves.trace(
            cell["learner"], structure, DataSet.of(structure, *train), C=math.inf,
            iterations=cell["iterations"], parts=nodes, errors=errors,
        )  # fmt: skip
        ground = [np.mean(np.concatenate(part[1])) for part in (train, test)]
        return found | {"nodes": nodes, "majority": 100.0 * min(ground[1], 1.0 - ground[1])}

    def numbers(self, rows: Sequence[Row]) -> list[Number]:
        """Return the errors beside the paper's."""
        paper = {saddle_curves.EXTRAGRADIENT: 3.0, saddle_curves.PERCEPTRON: 4.0}
        return saddle_curves.numbers(rows, paper)

    def remarks(self, rows: Sequence[Row]) -> list[str]:
        """Say how hard the task is."""
        return [
            f"{row['nodes']} training points; always guessing the larger class errs at "
            f"{row['majority']:.1f}%. Training loss is the hinge a point."
            for row in rows[:1]
        ] + ["Paper: about 3% against 4%, consistently, over 600 iterations."]

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw the curves."""
        saddle_curves.draw(rows, figure)


def error(predicted: Sequence[Any], gold: Sequence[Any]) -> float:
    """Return the share of points with a wrong label."""
    wrong = sum(int(np.sum(np.asarray(p) != y)) for p, y in zip(predicted, gold, strict=True))
    return wrong / sum(len(y) for y in gold)


experiment = SaddleM3nFigure2a()
