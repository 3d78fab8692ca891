r"""The three algorithms for the L1-M3N, each along the constants of Zhu, Xing and Zhang (2009).

    sub-gradient     1/n sum of hinges,  |w|_1 <= lambda          against sqrt(lambda)
    cutting plane    1/2 |w|_1 + C/n sum of hinges                against sqrt(C)
    EM               lambda / K |w|_1^2 + C sum of hinges         against lambda, C fixed

Each also as printed: Algorithm 1, an LP after each example until no constraint is violated by more
than eps; Algorithm 2, T steps of length eta_t; Algorithm 3, 15 M3Ns from tau = 1 with (6).

The paper writes C times the sum, not the mean; but its numbers of nonzero weights are found here
with the mean, and not at all with the sum.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from structopt.formulations.adaptive_m3n import AdaptiveM3N
from structopt.formulations.l1_ball_m3n import L1BallM3N
from structopt.formulations.l1_m3n import L1M3N
from structopt.lab.harness.measure import error_percent, learn, proof
from structopt.lab.harness.study import Cell, Row, every, where
from structopt.lab.reproduce.experiment import Experiment
from structopt.lab.reproduce.number import Number, deviation, mean
from structopt.learn.estimator import StructuredClassifier
from structopt.report.draw.theme import OKABE_ITO
from structopt.structures.chain.structure import Chain

SUBGRADIENT, CUTTING, EM = "sub-gradient", "cutting plane", "EM"
AXIS = {SUBGRADIENT: "sqrt(lambda)", CUTTING: "sqrt(C)", EM: "lambda"}
PRINTED = ", as printed"
EPS, STEPS = 1e-3, 200
"""eps of Algorithm 1 and T of Algorithm 2 (with eta_t = 1 / sqrt(t)): the paper states neither."""
SAID = (
    f"As printed: Algorithm 1, an LP after each example, eps = {EPS:g}; Algorithm 2 with "
    f"eta_t = 1 / sqrt(t) and T = {STEPS}, none of which the paper states; "
    "Algorithm 3 with its update (6) and T = 15."
)


class ThreeAlgorithms(Experiment):
    """Error and training time of each algorithm along its constants.

    Attributes
    ----------
    values : dict of str to tuple of float
        By algorithm, the places on its axis.
    folds : (int, int)
        Parts to train on in turn, in the small and the full setting; the small one skips every
        second value.
    fixed, tol : float
        C of EM, and the relative gap at which all stop.
    labels : sequence
    printed : tuple of str
        The algorithms that are run as printed, too.
    """

    values: ClassVar[Mapping[str, Sequence[float]]]
    folds: ClassVar[tuple[int, int]]
    fixed: ClassVar[float]
    tol: ClassVar[float]
    labels: ClassVar[Sequence[Any]]
    printed: ClassVar[Sequence[str]] = (SUBGRADIENT, CUTTING, EM)

    @abstractmethod
    def part(self, cell: Cell) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
        """Return what to learn from and what to test on."""

    def more(self, algorithm: str) -> Cell:
        """Return what else is in the cells of an algorithm."""
        return {}

    def cells(self, full: bool) -> list[Cell]:
        """One job an algorithm, constant and part to train on."""
        return [
            {"algorithm": name, "value": value, "fold": fold} | self.more(algorithm)
            for algorithm, values in self.values.items()
            for name in (algorithm, algorithm + PRINTED)[: 1 + (algorithm in self.printed)]
            for value in values[:: 1 if full else 2]
            for fold in range(self.folds[full])
        ]

    def run(self, cell: Cell) -> dict[str, Any]:
        """Learn by one algorithm at one place of its axis."""
        (train, test), value = self.part(cell), cell["value"]
        algorithm, printed, _ = cell["algorithm"].partition(PRINTED)
        formulation, method = {
            SUBGRADIENT: (L1BallM3N(radius=value**2), "subgradient"),
            CUTTING: (L1M3N(C=value**2 / len(train[0])), "cutting-plane"),
            EM: (AdaptiveM3N(C=cell.get("C", self.fixed), lam=value), "em"),
        }[algorithm]
        more: dict[str, Any] = {"method": method, "tol": self.tol, "max_iter": 2000}
        if printed:
            more |= _AS_PRINTED[algorithm] | {"tol": 0.0}
        model = StructuredClassifier(Chain(labels=self.labels), formulation, **more)
        seconds = learn(model, *train)
        weights = model.result_.weights
        error = error_percent(model.structure_, weights, *test)
        return {"error": error, "seconds": seconds} | proof(model) | self.kept(weights)

    def kept(self, weights: Any) -> dict[str, Any]:
        """Return what is kept of the weights."""
        return {}

    def numbers(self, rows: Sequence[Row]) -> list[Number]:
        """Return the error and the CPU seconds of every algorithm at every constant."""
        found = []
        for algorithm, value in every(rows, "algorithm", "value"):
            here = where(rows, algorithm=algorithm, value=value)
            label = label_of(algorithm, value)
            for key, metric in (("error", "error %"), ("seconds", "CPU s")):
                values = [row[key] for row in here]
                found.append(Number(label, metric, mean(values), deviation(values)))
            found.append(Number(label, "largest gap", max(row["relative_gap"] for row in here)))
        return found

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw errors above and CPU seconds below, a column each algorithm."""
        names = list(dict.fromkeys(row["algorithm"].partition(PRINTED)[0] for row in rows))
        figure.set_size_inches(3.6 * len(names), 5.5)
        grid = figure.subplots(2, len(names), sharey="row", squeeze=False)
        for column, name in enumerate(names):
            for axes, key, text in zip(
                grid[:, column], ("error", "seconds"), ("error %", "CPU s"), strict=True
            ):
                for k, line in enumerate((name, name + PRINTED)):
                    here = where(rows, algorithm=line)
                    places = sorted({row["value"] for row in here})
                    values = [[row[key] for row in here if row["value"] == at] for at in places]
                    spreads = [deviation(v) or 0.0 for v in values]
                    axes.errorbar(
                        places, [np.mean(v) for v in values], spreads, label=line,
                        color=OKABE_ITO[k], marker="o", markersize=3, capsize=2,
                    )  # fmt: skip
                axes.set_ylabel(text if column == 0 else "")
                axes.grid(True, color="0.9")
                axes.spines[["top", "right"]].set_visible(False)
            grid[0, column].legend(frameon=False, fontsize=8)
            grid[1, column].set_xlabel(AXIS[name])


def label_of(algorithm: str, value: float) -> str:
    """Return the label of an algorithm at a place of its axis."""
    return f"{algorithm}, {AXIS[algorithm.partition(PRINTED)[0]]} {value:g}"


def _rate(t: int) -> float:
    return float(1.0 / t**0.5)


_AS_PRINTED: dict[str, dict[str, Any]] = {
    SUBGRADIENT: {"method_options": {"learning_rate": _rate}, "max_iter": STEPS},
    CUTTING: {"method": "working-sets", "method_options": {"eps": EPS}},
    EM: {"method_options": {"update": "paper"}},
}
