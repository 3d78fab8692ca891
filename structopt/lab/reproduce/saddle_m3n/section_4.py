r"""The rate of convergence that section 4 promises, measured: the certified gap against iterations.

The extragradient method converges linearly, gap_k about a q^k, says the paper; exponentiated
gradient has a sublinear guarantee, gap_k about a k^-p, and structured SMO none. Both laws
are fitted to the later half of every curve, and the one with the smaller residual in log gap is
named.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from structopt.datasets import make_chain_crf
from structopt.engines.dataset import DataSet
from structopt.formulations.m3n import M3N
from structopt.lab.harness.measure import solve
from structopt.lab.harness.study import Cell, Row
from structopt.lab.reproduce.experiment import Experiment
from structopt.lab.reproduce.number import Number, deviation, mean
from structopt.report.draw.theme import OKABE_ITO
from structopt.structures.chain.structure import Chain

METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "extragradient as printed": ("extragradient", {"variant": "paper"}),
    "extragradient": ("extragradient", {}),
    "dual extragradient": ("dual-extragradient", {}),
    "exponentiated gradient": ("exponentiated-gradient", {}),
    "structured SMO": ("structured-smo", {}),
    "Frank-Wolfe, pairwise steps": ("frank-wolfe", {}),
}
VISITS = ("structured-smo", "frank-wolfe")
"""Methods that count visits to single examples."""
LONGEST = 1500
"""Iterations that the figure shows."""
LEAST = 1e-9
"""The gap at which a run ends; below it rounding is what is seen."""


class SaddleM3nSection4(Experiment):
    """Taskar, Lacoste-Julien and Jordan (2006), section 4: "guaranteed to converge linearly"."""

    name = "saddle-m3n-section-4"
    differences: ClassVar[str] = (
        "the paper states the rate and shows no figure of it. Chains of a random field, since the "
        "extragradient method needs projections and exponentiated gradient sums over outputs, and "
        "both exist there. An iteration is a prediction and a correction, a step of all "
        "distributions, or a visit to every example."
    )

    def cells(self, full: bool) -> list[Cell]:
        """One job a method and draw."""
        draws, n, most, limit = (3, 40, 20_000, 8.0) if full else (1, 15, 2000, 10.0)
        return [
            {"method": name, "draw": k, "examples": n, "C": 0.1, "iterations": most, "limit": limit}
            for name in METHODS
            for k in range(draws)
        ]

    def run(self, cell: Cell) -> dict[str, Any]:
        """Run one method; keep its gaps."""
        X, Y = make_chain_crf(
            cell["examples"], n_features=10, n_relevant=4, length=5, seed=cell["draw"]
        )
        structure = Chain(labels=[0, 1]).fitted(X, Y)
        method, options = METHODS[cell["method"]]
        found = solve(
            structure, M3N(cell["C"]), DataSet.of(structure, X, Y), method=method, tol=LEAST,
            max_iter=cell["iterations"], time_limit=cell["limit"], **options,
        )  # fmt: skip
        visits = len(X) if method in VISITS else 1
        done = np.cumsum([record.iterations for record in found.result.history]) / visits
        gaps = np.array([record.relative_gap for record in found.result.history])
        before = np.minimum.accumulate(np.concatenate([[np.inf], gaps[:-1]]))
        kept = np.flatnonzero((gaps > 0) & (gaps < before))  # what stands still is rounding
        return {
            "iterations": done[kept].tolist(), "gaps": gaps[kept].tolist(), "cpu": found.cpu,
        }  # fmt: skip

    def numbers(self, rows: Sequence[Row]) -> list[Number]:
        """Return the last gaps, both laws and how far each is from the curve."""
        found = []
        for name in METHODS:
            here = [row for row in rows if row["method"] == name and len(row["gaps"]) > 3]
            if not here:
                continue
            fits = [laws(row["iterations"], row["gaps"]) for row in here]
            columns = {
                "last gap": [row["gaps"][-1] for row in here],
                "iterations": [row["iterations"][-1] for row in here],
                "factor a 100 iterations, if linear": [fit.factor for fit in fits],
                "power of k, if sublinear": [fit.power for fit in fits],
                "misfit, linear": [fit.linear for fit in fits],
                "misfit, sublinear": [fit.sublinear for fit in fits],
                "CPU s": [row["cpu"] for row in here],
            }
            for metric, values in columns.items():
                found.append(Number(name, metric, mean(values), deviation(values)))
        return found

    def remarks(self, rows: Sequence[Row]) -> list[str]:
        """Say which law each curve follows."""
        at = {(n.label, n.metric): n.value or 0.0 for n in self.numbers(rows)}
        names = [name for name in METHODS if (name, "misfit, linear") in at]
        linear = [n for n in names if at[n, "misfit, linear"] <= at[n, "misfit, sublinear"]]
        rest = [n for n in names if n not in linear]
        return [
            f"Linear fits better: {', '.join(linear) or 'none'}. Sublinear fits better: "
            f"{', '.join(rest) or 'none'}. Misfits are root mean squares in log10 of the gap, over "
            "the later half of the iterations.",
            "Paper: the extragradient method converges linearly, exponentiated gradient has "
            "sublinear guarantees, structured SMO none.",
        ]

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw the gaps on a logarithmic scale: linear convergence is a straight line."""
        axes = figure.subplots()
        for k, name in enumerate(METHODS):
            for row in rows:
                if row["method"] == name and row["gaps"]:
                    axes.plot(
                        row["iterations"], row["gaps"], color=OKABE_ITO[k % len(OKABE_ITO)],
                        label=name if row["draw"] == 0 else None,
                    )  # fmt: skip
        axes.set_yscale("log")
        axes.set_xlim(0, LONGEST)
        axes.set_xlabel("iterations")
        axes.set_ylabel("certified relative gap")
        axes.legend(frameon=False)
        axes.grid(True, color="0.9")


class Laws(NamedTuple):
    """Two laws fitted to a curve, and the root mean squares of what they miss in log10."""

    factor: float
    power: float
    linear: float
    sublinear: float


def laws(iterations: Sequence[float], gaps: Sequence[float]) -> Laws:
    """Fit ``a q^k`` and ``a k^-p`` to the later half of a curve.

    >>> k = np.arange(1.0, 101.0)
    >>> found = laws(k, 0.9**k)
    >>> round(found.factor, 8), found.linear < 1e-9 < found.sublinear
    (2.656e-05, True)
    >>> round(laws(k, 3 / k**2).power, 6)
    2.0
    """
    k, y = np.asarray(iterations), np.log10(gaps)
    later = k >= 0.5 * k[-1]
    k, y = (k[later], y[later]) if later.sum() > 2 else (k[-3:], y[-3:])
    line, curve = np.polyfit(k, y, 1), np.polyfit(np.log10(k), y, 1)
    miss = [
        float(np.sqrt(np.mean((y - np.polyval(fit, x)) ** 2)))
        for fit, x in ((line, k), (curve, np.log10(k)))
    ]
    return Laws(float(10 ** (100 * line[0])), float(-curve[0]), *miss)


experiment = SaddleM3nSection4()
