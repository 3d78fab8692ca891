r"""A comparison drawn: performance profiles, and what a tolerance costs.

The profile of Dolan and More shows the share of the problems a solver takes that it solves within
tau times the best time, rho_s(tau).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from structopt.lab.compare.compare import Comparison
from structopt.lab.compare.stats import Costs, profile, shifted_mean, slices
from structopt.lab.harness.drawing import new_figure
from structopt.report.draw.theme import OKABE_ITO

_DASHES = ("-", "--", ":", "-.")


def figures(done: Comparison) -> dict[str, Any]:
    """Return matplotlib figures by file name: one profile a set, and the price of tolerances.

    Raises
    ------
    MissingDependencyError
        matplotlib is not installed.
    """
    parts, names = slices(done.rows), _looks(done)
    sets = list(dict.fromkeys(key[0] for key in parts))
    drawn: dict[str, Any] = {}
    for which in sets:
        here = {tol: costs for (name, tol), costs in parts.items() if name == which}
        slug = which.replace("/", "-").replace(" ", "-") or "problems"
        drawn[f"profile-{slug}"] = _profiles(which, here, names)
        if len(here) > 1:
            drawn[f"tolerance-{slug}"] = _prices(which, here, names)
    return drawn


def _looks(done: Comparison) -> dict[str, dict[str, Any]]:
    """Return colour and dashes of each solver: the same in every figure."""
    solvers = dict.fromkeys(row["solver"] for row in done.rows)
    return {
        solver: {
            "color": OKABE_ITO[i % len(OKABE_ITO)],
            "linestyle": _DASHES[i // len(OKABE_ITO) % len(_DASHES)],
            "label": solver,
        }
        for i, solver in enumerate(solvers)
    }


def _profiles(which: str, parts: dict[float, Costs], looks: dict[str, dict[str, Any]]) -> Any:
    figure = new_figure(4.2 * len(parts), 3.8)
    axes = figure.subplots(1, len(parts), sharey=True, squeeze=False)[0]
    for ax, (tolerance, costs) in zip(axes, sorted(parts.items(), reverse=True), strict=True):
        ratios = profile(costs)
        finite = [r for values in ratios.values() for r in values if math.isfinite(r)]
        most = 1.2 * max([2.0, *finite])
        for solver, values in ratios.items():
            solved = np.array([r for r in values if math.isfinite(r)])
            share = np.arange(1, len(solved) + 1) / len(values)
            x, y = [1.0, *solved, most], [0.0, *share, share[-1] if len(share) else 0.0]
            ax.plot(x, y, drawstyle="steps-post", **looks[solver])
        ax.set(xscale="log", xlabel="times the best CPU seconds", ylim=(0.0, 1.03),
               xlim=(1.0, most), title=f"{which} at {tolerance:g}")  # fmt: skip
    axes[0].set_ylabel("share of problems solved")
    axes[-1].legend(fontsize="small", frameon=False)
    return figure


def _prices(which: str, parts: dict[float, Costs], looks: dict[str, dict[str, Any]]) -> Any:
    figure = new_figure(6.0, 4.0)
    ax = figure.subplots()
    for solver, look in looks.items():
        points = [
            (tol, shifted_mean(c.seconds for c in costs[solver].values()))
            for tol, costs in sorted(parts.items(), reverse=True)
            if solver in costs
        ]
        if points:
            ax.plot(*zip(*points, strict=True), marker="o", **look)
    ax.set(xscale="log", yscale="log", xlabel="tolerance", ylabel="mean CPU seconds",
           title=f"{which}: what a tolerance costs (failures at the limit)")  # fmt: skip
    ax.invert_xaxis()
    ax.legend(fontsize="small", frameon=False)
    return figure
