r"""The three algorithms for the L1-M3N, each along the constants of Zhu, Xing and Zhang (2009).

    sub-gradient     1/n sum of hinges,  |w|_1 <= lambda          against sqrt(lambda)
    cutting plane    1/2 |w|_1 + C/n sum of hinges                against sqrt(C)
    EM               lambda / K |w|_1^2 + C sum of hinges         against lambda, C fixed

The paper writes C times the sum, not the mean; but its numbers of nonzero weights are found here
with the mean, and not at all with the sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from structopt.formulations.adaptive_m3n import AdaptiveM3N
from structopt.formulations.l1_ball_m3n import L1BallM3N
from structopt.formulations.l1_m3n import L1M3N
from structopt.lab.harness.experiment import Number, Row, deviation, mean
from structopt.lab.harness.measure import learn, proof
from structopt.learn.estimator import StructuredClassifier, accuracy
from structopt.report.draw.theme import OKABE_ITO
from structopt.structures.chain.structure import Chain

SUBGRADIENT, CUTTING, EM = "sub-gradient", "cutting plane", "EM"
AXIS = {SUBGRADIENT: "sqrt(lambda)", CUTTING: "sqrt(C)", EM: "lambda"}


def solve(
    algorithm: str,
    value: float,
    train: tuple[Any, Any],
    test: tuple[Any, Any],
    labels: Sequence[Any],
    *,
    fixed: float,
    tol: float,
    max_iter: int,
) -> tuple[dict[str, Any], Any]:
    """Learn by one algorithm at one place of its axis; return its numbers and its weights."""
    formulation, method = {
        SUBGRADIENT: (L1BallM3N(radius=value**2), "subgradient"),
        CUTTING: (L1M3N(C=value**2 / len(train[0])), "cutting-plane"),
        EM: (AdaptiveM3N(C=fixed, lam=value), "em"),
    }[algorithm]
    model = StructuredClassifier(
        Chain(labels=labels), formulation, method=method, tol=tol, max_iter=max_iter
    )
    seconds = learn(model, *train)
    weights, structure = model.result_.weights, model.structure_
    error = 1.0 - accuracy(structure, test[1], structure.predict(test[0], weights))
    return {"error": 100.0 * error, "seconds": seconds} | proof(model), weights


def error_and_time(rows: Sequence[Row]) -> list[Number]:
    """Return the error and the CPU seconds of every algorithm at every constant."""
    found = []
    for algorithm, value in dict.fromkeys((row["algorithm"], row["value"]) for row in rows):
        here = [r for r in rows if (r["algorithm"], r["value"]) == (algorithm, value)]
        label = f"{algorithm}, {AXIS[algorithm]} {value:g}"
        for key, metric in (("error", "error %"), ("seconds", "CPU s")):
            values = [row[key] for row in here]
            found.append(Number(label, metric, mean(values), deviation(values)))
        found.append(Number(label, "largest gap", max(row["relative_gap"] for row in here)))
    return found


def draw(rows: Sequence[Row], figure: Any) -> None:
    """Draw errors above and CPU seconds below, a column each algorithm."""
    names = list(dict.fromkeys(row["algorithm"] for row in rows))
    figure.set_size_inches(3.6 * len(names), 5.5)
    grid = figure.subplots(2, len(names), sharey="row", squeeze=False)
    for column, name in enumerate(names):
        here = [row for row in rows if row["algorithm"] == name]
        places = sorted({row["value"] for row in here})
        for axes, key, text in zip(
            grid[:, column], ("error", "seconds"), ("error %", "CPU s"), strict=True
        ):
            values = [[row[key] for row in here if row["value"] == at] for at in places]
            spreads = [deviation(v) or 0.0 for v in values]
            axes.errorbar(places, [np.mean(v) for v in values], spreads, color=OKABE_ITO[0],
                          marker="o", markersize=3, capsize=2)  # fmt: skip
            axes.set_ylabel(text if column == 0 else "")
            axes.grid(True, color="0.9")
            axes.spines[["top", "right"]].set_visible(False)
        grid[0, column].set_title(name)
        grid[1, column].set_xlabel(AXIS[name])
