r"""Rare classes: trained for a measure, and judged by each of them, as in SVM^perf's experiments.

A batch is one example. Linear machines are trained for the error rate, for F1, for the
precision/recall break-even point (sets as large as gold, where precision is recall), for the
precision of the ten best and for the area under the ROC curve; C is chosen on a second batch by the
measure that a machine is trained for, F1 for the error rate. Data: two Gaussian classes
(`make_rare_items`), and each digit against the rest.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.metrics import f1_score, roc_auc_score

from structopt.arrays import Floats
from structopt.datasets.optdigits import load_optdigits
from structopt.datasets.rankings import make_rare_items
from structopt.errors import ConvergenceWarning
from structopt.formulations.m3n import M3N
from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.study import Cell, Row, every, known, turns, where
from structopt.lab.harness.table import Table
from structopt.learn.estimator import StructuredClassifier
from structopt.structures.losses.contingency import ErrorRate, FScore, Precision
from structopt.structures.losses.discounted_gain import PrecisionAt
from structopt.structures.losses.swapped_pairs import SwappedPairs
from structopt.structures.ranking.structure import Ranking
from structopt.structures.subset.structure import Subset

DATA = ("gaussians", "digits")
ITEMS = 800
"""Of the batch to learn from, and of the one to choose C on."""
SETS, ORDERS = tuple(10.0**k for k in range(-5, 1)), tuple(10.0**k for k in range(-1, 4))
"""Values of C: scores of sets are sums over items, those of orders means over pairs."""
MEASURES = ("F1", "break-even", "precision at 10", "AUC")
LEARNERS = {
    "error rate": ("F1", SETS), "F1": ("F1", SETS), "break-even": ("break-even", SETS),
    "precision at 10": ("precision at 10", ORDERS), "AUC": ("AUC", ORDERS),
}  # fmt: skip
"""The measure that C is chosen by, and among which values."""


@dataclass
class RareItemsBench(Bench):
    """Every machine on every draw.

    Parameters
    ----------
    data : sequence of str
    draws : int
        Of Gaussians; of digits, ten machines a draw.
    share, distance : float
        Of the Gaussian classes.
    only : sequence of str, optional
        Learners.
    """

    name = "bench-rare-items"

    data: Sequence[str] = arguments.argument(
        DATA, "gaussians, digits (both)", nargs="+", metavar="NAME"
    )
    draws: int = arguments.argument(10, "draws of each")
    share: float = arguments.argument(0.03, "of positive items among Gaussians")
    distance: float = arguments.argument(3.0, "between the Gaussian classes")
    only: Sequence[str] | None = arguments.argument(
        None, "of these learners only", nargs="+", metavar="NAME"
    )
    tol: float = 1e-2

    def __post_init__(self) -> None:
        known(self.data, DATA, "data")
        self.learners = known(self.only or list(LEARNERS), list(LEARNERS), "learner")

    def cells(self) -> list[Cell]:
        """Return a cell a draw, class and learner."""
        return [
            {"data": data, "turn": draw, "class": digit, "who": who}
            for draw in range(self.draws)
            for data in self.data
            for digit in range(10 if data == "digits" else 1)
            for who in turns(self.learners, draw)
        ]

    def run(self, cell: Cell) -> dict[str, Any]:
        """Learn at every C, and judge the one that is best on the second batch."""
        (X, y), second, test = self._drawn(cell)
        chosen_by, values = LEARNERS[cell["who"]]
        structure = _structure(cell["who"], int(y.sum()))
        began, fits = time.process_time(), []
        for C in values:
            model = StructuredClassifier(structure, M3N(C=C), tol=self.tol)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                fits.append(model.fit([X], [y]).result_)
        seconds = time.process_time() - began
        found = [measured(second[0] @ fit.weights, second[1])[chosen_by] for fit in fits]
        best = fits[int(np.argmax(found))]
        certified = all(fit.certificate.certified for fit in fits)
        numbers = measured(test[0] @ best.weights, test[1])
        return numbers | {"seconds": seconds / len(values), "certified": certified}

    def _drawn(self, cell: Cell) -> list[tuple[Floats, Any]]:
        """Return inputs and labels to learn from, to choose by, and to judge by."""
        if cell["data"] == "digits":
            inputs, digits = load_optdigits()
            order = np.random.default_rng(cell["turn"]).permutation(len(inputs))
            rows = np.column_stack([inputs, np.ones(len(inputs))])[order]
            labels = (digits[order] == cell["class"]).astype(np.int64)
        else:
            given = {"share": self.share, "distance": self.distance, "seed": cell["turn"]}
            X, Y = make_rare_items(7, n_items=ITEMS, **given)
            rows, labels = np.vstack(X), np.concatenate(Y)
        ends = [0, ITEMS, 2 * ITEMS, len(rows)]
        return [(rows[a:b], labels[a:b]) for a, b in pairwise(ends)]

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return a row for each data and learner: means over draws of what is measured."""
        lines = []
        for data in every(rows, "data"):
            for who in self.learners:
                own = where(rows, data=data, who=who)
                shown = [_mean(own, m, "{:.1f}", 100.0) for m in MEASURES]
                if who not in ("error rate", "F1"):
                    shown[0] = ""  # sets of one size, and orders, learn no threshold
                lines.append((data, who, *shown, _mean(own, "seconds", "{:.2f}")))
        draws = len(every(rows, "turn"))
        note = f"Per cent, means over {draws} draws ± their standard deviation (digits: of means "
        note += "over ten classes); CPU seconds of one fit. " + " ".join(left_out)
        title = ("data", "trained for", *MEASURES, "CPU s")
        return [Table("Rare classes", title, tuple(lines), (note,))]


def measured(scores: Floats, y: Any) -> dict[str, float]:
    """Return what scores are worth, by each measure.

    >>> measured(np.array([3.0, 2.0, -1.0]), np.array([1, 0, 1]))["break-even"]
    0.5
    """
    order, positives = np.argsort(-scores, kind="stable"), int(y.sum())
    return {
        "F1": float(f1_score(y, scores > 0, zero_division=0.0)),
        "break-even": float(y[order[:positives]].mean()),
        "precision at 10": float(y[order[:10]].mean()),
        "AUC": float(roc_auc_score(y, scores)),
    }


def _structure(who: str, positives: int) -> Any:
    """Return what is trained for a measure."""
    made: dict[str, Callable[[], Any]] = {
        "error rate": lambda: Subset(ErrorRate()),
        "F1": lambda: Subset(FScore()),
        "break-even": lambda: Subset(Precision(), size=positives),
        "precision at 10": lambda: Ranking(PrecisionAt(10)),
        "AUC": lambda: Ranking(SwappedPairs()),
    }
    return made[who]()


def _mean(rows: Sequence[Row], key: str, form: str, scale: float = 1.0) -> str:
    """Return mean and standard deviation over draws."""
    by_draw = [
        scale * float(np.mean([row[key] for row in where(rows, turn=turn)]))
        for turn in every(rows, "turn")
    ]
    if len(by_draw) < 2:
        return form.format(by_draw[0])
    return f"{form.format(np.mean(by_draw))} ± {form.format(np.std(by_draw, ddof=1))}"
