"""Synthetic chains with few relevant inputs: the error of six models against training data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from structopt.datasets import chain_crf, make_chain_crf
from structopt.lab.harness.measure import error_percent
from structopt.lab.harness.study import Cell, Row, every, where
from structopt.lab.reproduce.experiment import Experiment
from structopt.lab.reproduce.l1_m3n import sparse_models
from structopt.lab.reproduce.l1_m3n.sparse_models import MODELS
from structopt.lab.reproduce.number import Number, deviation, mean
from structopt.structures.chain.structure import Chain

GRID: dict[str, tuple[float, ...]] = {
    "CRF": (0.0,),
    "L2-CRF": (1.0, 10.0, 100.0, 1000.0, 1e4),
    "L1-CRF": (3.0, 6.0, 12.0, 25.0, 50.0),
    "M3N": (1e-6, 1e-5, 1e-4, 1e-3, 1e-2),
    "L1-M3N": (0.005, 0.01, 0.02, 0.05, 0.1),
    "LapM3N": (0.001, 0.002, 0.005, 0.01, 0.02, 0.05),
}
TRUTH = "the true field"
SEQUENCES = 1000


class L1M3nFigure2(Experiment):
    """Zhu, Xing and Zhang (2009), Figure 2."""

    name = "l1-m3n-figure-2"
    version = 2
    differences: ClassVar[str] = (
        "the paper does not state the law of the fields' weights (here uniform on [0, 1], as its "
        "Figure 3 suggests) nor how constants are chosen (here the best of a grid on every "
        "other test sequence, for every model and size; errors are those of the rest). Models stop "
        "at a certified gap of 1%."
    )

    def cells(self, full: bool) -> list[Cell]:
        """One job a field, number of parts, part to train on and model: all its constants."""
        fields, folds = (10, 20) if full else (3, 2)
        shares = (20, 10, 7, 5, 4) if full else (20, 10, 4)
        return [
            {"field": field, "parts": parts, "fold": fold, "model": model,
             "constants": list(GRID[model])}
            for parts in shares
            for field in range(fields)
            for fold in range(min(parts, folds))
            for model in MODELS
        ]  # fmt: skip

    def run(self, cell: Cell) -> dict[str, Any]:
        """Learn on one part, test on the others."""
        X, Y = make_chain_crf(
            cell.get("sequences", SEQUENCES), correlated=cell.get("correlated", True),
            seed=cell["field"],
        )  # fmt: skip
        chosen = np.arange(len(X)) % cell["parts"] == cell["fold"]
        train, test = split(X, Y, chosen)
        found = sparse_models.along(cell["model"], cell["constants"], train, test, [0, 1], tol=1e-2)
        del found["weights"]
        found["train"] = len(train[0])
        if cell["model"] == MODELS[0]:
            found["truth"] = true_error(cell["field"], *test)
        return found

    def numbers(self, rows: Sequence[Row]) -> list[Number]:
        """Return the error of every model at its best constant."""
        found = sparse_models.at_their_best(rows, "parts", _label)
        for parts in every(rows, "parts"):
            truths = [row.get("truth") for row in where(rows, parts=parts)]
            found.append(Number(_label(parts), f"{TRUTH} %", mean(truths), deviation(truths)))
        return found

    def remarks(self, rows: Sequence[Row]) -> list[str]:
        """Say which constants were chosen, and what the paper's curves look like."""
        return [
            "Paper: between 0.18 and 0.30, falling with the size; CRF by far the worst, L1-M3N, "
            "L1-CRF and LapM3N alike and best, M3N and L2-CRF alike in between.",
            "Spreads are over fields and parts, and fields differ most.",
            sparse_models.edges(rows, "parts", GRID),
            sparse_models.spent(rows),
        ]

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw error against training size."""
        sparse_models.draw(self.numbers(rows), figure, "training size", (*MODELS, TRUTH))


def _label(parts: int) -> str:
    return f"train {round(SEQUENCES / parts)}"


def split(X: Sequence[Any], Y: Sequence[Any], chosen: Any) -> tuple[Any, Any]:
    """Return the chosen examples and the others."""
    first, rest = (np.flatnonzero(part).tolist() for part in (chosen, ~chosen))
    return ([X[i] for i in first], [Y[i] for i in first]), (
        [X[i] for i in rest],
        [Y[i] for i in rest],
    )


def true_error(field: int, X: Sequence[Any], Y: Sequence[Any]) -> float:
    """Return the error of the field that drew the labels."""
    crf = chain_crf(seed=field)
    weights = np.concatenate([crf.state.ravel(), crf.transition.ravel()])
    return error_percent(Chain(labels=[0, 1]).fitted(X, Y), weights, X, Y)


experiment = L1M3nFigure2()
