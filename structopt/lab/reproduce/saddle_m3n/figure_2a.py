"""Segmentation of a laser scan: test error and training loss against iterations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from structopt.arrays import Floats
from structopt.datasets.lidar import load_scan
from structopt.engines.dataset import DataSet
from structopt.lab.harness.study import Cell, Row
from structopt.lab.reproduce.experiment import Experiment
from structopt.lab.reproduce.number import Number, mean
from structopt.lab.reproduce.saddle_m3n import curves as saddle_curves
from structopt.lab.reproduce.saddle_m3n.scenes import FEATURES, SPIN, scenes
from structopt.structures.cut.structure import GraphCut

SETS = (5, 3, 3)
"""Scenes for training, validation and test, as in the paper."""


class SaddleM3nFigure2a(Experiment):
    """Taskar, Lacoste-Julien and Jordan (2006), Figure 2 (a)."""

    name = "saddle-m3n-figure-2a"
    version = 2
    data: ClassVar[tuple[str, ...]] = ("lidar_ground/topography_west.npz",)
    differences: ClassVar[str] = (
        "the paper's scans of puppets (11 scenes of about 7,000 points, seen from one side, edges "
        "from the scanner) are not public. Here an airborne laser scan of hilly land, ground "
        "(12% of the points) against the rest, cut into 11 scenes of 3,537 points, 5, 3 and 3 of "
        "them as in the paper, with edges to the 4 nearest points. Spin images have 10 x 5 bins, "
        "radii of 3 and 10 metres (the paper's are not stated), and 45 principal components of "
        "the scaled values in the training scenes, with a constant; an edge has the constant 1. "
        "They turn around normals of 12 neighbours, those called upright around the vertical. The "
        "9 features are the data set's (heights above the lowest point near, plane fit, returns, "
        "intensity), with 2 of an edge. 200 iterations instead of 600."
    )

    def cells(self, full: bool) -> list[Cell]:
        """One job a split of the scenes, features and learner."""
        passes, splits = (200, 3) if full else (30, 1)
        return [
            {"learner": learner, "features": features, "iterations": passes, "sets": list(SETS),
             "seed": seed}
            for seed in range(splits)
            for features in FEATURES
            for learner in saddle_curves.LEARNERS
        ]  # fmt: skip

    def run(self, cell: Cell) -> dict[str, Any]:
        """Learn on some scenes; measure on others after every iteration or round."""
        train, held, test = scenes(load_scan(), cell["features"], cell["sets"], cell["seed"])
        structure = GraphCut().fitted(*train)
        nodes = sum(map(len, train[1]))

        def errors(weights: Floats) -> dict[str, float]:
            return {
                name: 100.0 * error(structure.predict(part[0], weights), part[1])
                for name, part in (("validation", held), ("test", test))
            }

        found = saddle_curves.trace(
            cell["learner"], structure, DataSet.of(structure, *train), C=math.inf,
            iterations=cell["iterations"], parts=nodes, errors=errors,
            places=range(1, cell["iterations"]),
        )  # fmt: skip
        ground = float(np.mean(np.concatenate(test[1])))
        edges = sum(len(x[0]) for x in train[0])
        return found | {
            "nodes": nodes, "edges": edges, "majority": 100.0 * min(ground, 1.0 - ground),
        }  # fmt: skip

    def numbers(self, rows: Sequence[Row]) -> list[Number]:
        """Return the errors beside the paper's, means over the splits."""
        paper = {
            f"{SPIN}, {saddle_curves.EXTRAGRADIENT}": 3.0,
            f"{SPIN}, {saddle_curves.PRINTED}": 3.0,
            f"{SPIN}, {saddle_curves.PERCEPTRON}": 4.0,
        }
        named = [row | {"learner": f"{row['features']}, {row['learner']}"} for row in rows]
        return saddle_curves.numbers(named, paper) + saddle_curves.seconds(named)

    def remarks(self, rows: Sequence[Row]) -> list[str]:
        """Say how hard the task is."""
        if not rows:
            return []
        guess = {row["seed"]: row["majority"] for row in rows}
        return [
            f"Means and deviations over {len(guess)} splits of the scenes. {rows[0]['nodes']} "
            f"training points and {rows[0]['edges']} edges (paper: 37,000 and 88,000); always "
            f"guessing the larger class errs at {mean(guess.values()):.1f}%. Training loss is the "
            "hinge a point.",
            "CPU seconds include the features and all measurements: validation is looked at after "
            "every iteration of the method as printed and of the perceptron, and at the ends of "
            "rounds, ten iterations and more, of the adaptive one.",
            "Paper: about 3% against 4%, consistently, over 600 iterations.",
        ]

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw the curves of the paper's features on the first split."""
        saddle_curves.draw([r for r in rows if (r["features"], r["seed"]) == (SPIN, 0)], figure)


def error(predicted: Sequence[Any], gold: Sequence[Any]) -> float:
    """Return the share of points with a wrong label."""
    wrong = sum(int(np.sum(np.asarray(p) != y)) for p, y in zip(predicted, gold, strict=True))
    return wrong / sum(len(y) for y in gold)


experiment = SaddleM3nFigure2a()
