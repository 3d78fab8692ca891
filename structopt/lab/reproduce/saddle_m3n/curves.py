"""Test error against iterations: the extragradient method beside the averaged perceptron."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from structopt.arrays import Floats
from structopt.engines.dataset import DataSet
from structopt.formulations.m3n import M3N
from structopt.lab.harness.study import Row, every, where
from structopt.lab.reproduce.number import Number, deviation, mean
from structopt.methods.online.perceptron import Perceptron
from structopt.methods.saddle.extragradient import SaddleExtragradient, Variant
from structopt.report.draw.theme import OKABE_ITO
from structopt.structures.base.structure import Structure

EXTRAGRADIENT, PRINTED = "extragradient", "extragradient as printed"
PERCEPTRON = "averaged perceptron"
LEARNERS = (EXTRAGRADIENT, PRINTED, PERCEPTRON)
PLACES = (1, 2, 5, 10, 20, 50, 100, 200, 400, 600)


def trace(
    learner: str,
    structure: Structure,
    data: DataSet,
    *,
    C: float,
    iterations: int,
    parts: int,
    errors: Callable[[Floats], dict[str, float]],
    places: Sequence[int] = PLACES,
) -> dict[str, Any]:
    """Run a learner; return iterations, test and validation errors, and training loss a part.

    All are measured at ``places`` and at the end, the extragradient method at the ends of its
    rounds, where its relative gaps are told too; as printed every iteration is a round.
    """
    found: dict[str, list[Any]] = {"iterations": [], "loss": []}

    def measure(n: int, weights: Floats, loss: float | None) -> None:
        for key, value in {"iterations": n, "loss": loss, **errors(weights)}.items():
            found.setdefault(key, []).append(value)

    if learner in (EXTRAGRADIENT, PRINTED):
        variant: Variant = "paper" if learner == PRINTED else "adaptive"
        saddle = SaddleExtragradient(structure, M3N(C), data, variant=variant)
        while saddle.iterations < iterations:
            value = saddle.step().value
            w = saddle.current
            measure(saddle.iterations, w, (value - float(w @ w) / (2.0 * C)) / parts)
        gaps = [record.relative_gap for record in saddle.history]
        return found | {"relative_gap": gaps[-1], "gaps": gaps}
    perceptron = Perceptron(structure, M3N(C), data, max_iter=iterations)
    for n in range(1, iterations + 1):
        perceptron.step()
        if n in places or n == iterations:
            measure(n, perceptron.model(), None)
    return dict(found)


def chosen(row: Row) -> int:
    """Return where the validation error is lowest, the first of equal ones."""
    return min(range(len(row["validation"])), key=row["validation"].__getitem__)


def numbers(rows: Sequence[Row], paper: dict[str, float]) -> list[Number]:
    """Return the errors where validation stops and at the end, means over a learner's rows."""
    found = []
    for name in every(rows, "learner"):
        mine = where(rows, learner=name)
        stopped = "test error %, stopped by validation"
        values = {
            stopped: [row["test"][chosen(row)] for row in mine],
            "at iteration": [row["iterations"][chosen(row)] for row in mine],
            "test error % after all": [row["test"][-1] for row in mine],
            "iterations": [row["iterations"][-1] for row in mine],
            "training loss, first": [row["loss"][0] for row in mine],
            "training loss, last": [row["loss"][-1] for row in mine],
        }
        found += [
            Number(name, metric, mean(each), deviation(each),
                   paper=paper.get(name) if metric == stopped else None)
            for metric, each in values.items()
        ]  # fmt: skip
    return found


def seconds(rows: Sequence[Row]) -> list[Number]:
    """Return the CPU seconds of every learner, features and all measurements included."""
    return [
        Number(name, "CPU s", mean(spent), deviation(spent))
        for name in every(rows, "learner")
        for spent in [[row["cell_cpu"] for row in where(rows, learner=name)]]
    ]


def draw(rows: Sequence[Row], figure: Any) -> None:
    """Draw test errors (left axis) and the training loss (right axis) against iterations."""
    axes = figure.subplots()
    for k, row in enumerate(rows):
        axes.plot(row["iterations"], row["test"], color=OKABE_ITO[k], marker="o", markersize=3,
                  label=f"{row['learner']}, test error")  # fmt: skip
        if row["loss"][0] is not None:
            right = axes.twinx()
            right.plot(row["iterations"], row["loss"], color=OKABE_ITO[k], linestyle="--")
            right.set_ylabel("training loss a part (dashed)")
    axes.set_xscale("log")
    axes.set_xlabel("iterations (passes over the data)")
    axes.set_ylabel("test error %")
    axes.legend(frameon=False)
