r"""A comparison drawn: performance profiles, and what a tolerance costs.

The profile of Dolan and More shows the share of the problems a solver takes that it solves within
tau times the best time, rho_s(tau).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.lab.compare.comparison import Comparison
from structopt.lab.compare.stats import Costs, profile, shifted_mean, slices
from structopt.lab.harness.drawing import new_figure
from structopt.report.chart import Chart, Line, line_chart
from structopt.report.draw.theme import OKABE_ITO
from structopt.report.template import plain_number

_DASHES = ("-", "--", ":", "-.")
PROFILE = "times the best CPU seconds", "share of problems solved"
PRICE = "tolerance", "mean CPU seconds"


def figures(done: Comparison) -> dict[str, Any]:
    """Return matplotlib figures by file name: one profile a set, and the price of tolerances."""
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
        curves = _profile(costs)
        for solver, (x, y) in curves.items():
            ax.plot(x, y, drawstyle="steps-post", **looks[solver])
        most = max((x[-1] for x, _ in curves.values()), default=2.0)
        ax.set(xscale="log", xlabel=PROFILE[0], ylim=(0.0, 1.03), xlim=(1.0, most),
               title=f"{which} at {tolerance:g}")  # fmt: skip
    axes[0].set_ylabel(PROFILE[1])
    axes[-1].legend(fontsize="small", frameon=False)
    return figure


def _prices(which: str, parts: dict[float, Costs], looks: dict[str, dict[str, Any]]) -> Any:
    figure = new_figure(6.0, 4.0)
    ax = figure.subplots()
    for solver, look in looks.items():
        x, y = _price(solver, parts)
        if len(x):
            ax.plot(x, y, marker="o", **look)
    ax.set(xscale="log", yscale="log", xlabel=PRICE[0], ylabel=PRICE[1],
           title=f"{which}: what a tolerance costs (failures at the limit)")  # fmt: skip
    ax.invert_xaxis()
    ax.legend(fontsize="small", frameon=False)
    return figure


def charts(done: Comparison) -> list[Chart]:
    """Return the same for a page, a small chart each."""
    parts, order = slices(done.rows), list(_looks(done))
    drawn = []
    for i, ((which, tolerance), costs) in enumerate(parts.items()):
        curves = _profile(costs)
        lines = [Line(name, x, y, order.index(name)) for name, (x, y) in curves.items()]
        said = (
            f"{name} solves {plain_number(100 * y[-1], 3)} %" for name, (_, y) in curves.items()
        )
        drawn.append(line_chart(
            f"profile-{i}", lines, title=f"{which} at {tolerance:g}", description="; ".join(said),
            x_label=PROFILE[0], y_label=PROFILE[1], x_from=1.0, x_log=True, y_limits=(0.0, 1.03),
        ))  # fmt: skip
    for i, which in enumerate(dict.fromkeys(name for name, _ in parts)):
        here = {tol: costs for (name, tol), costs in parts.items() if name == which}
        if len(here) > 1:
            prices = {solver: _price(solver, here) for solver in order}
            lines = [Line(name, x, y, order.index(name), joined=True)
                     for name, (x, y) in prices.items() if len(x)]  # fmt: skip
            drawn.append(line_chart(
                f"price-{i}", lines, title=f"{which}: what a tolerance costs",
                caption="Failures count as the limit.", x_label=PRICE[0], y_label=PRICE[1],
                x_from=max(here), x_to=min(here), x_log=True, log=True,
            ))  # fmt: skip
    return drawn


def _profile(costs: Costs) -> dict[str, tuple[Floats, Floats]]:
    """Return of each solver the share of problems that it solves within a factor of the best."""
    ratios = profile(costs)
    finite = [r for values in ratios.values() for r in values if math.isfinite(r)]
    most, curves = 1.2 * max([2.0, *finite]), {}
    for solver, values in ratios.items():
        solved = np.array([r for r in values if math.isfinite(r)])
        share = np.arange(1, len(solved) + 1) / len(values)
        last = share[-1] if len(share) else 0.0
        curves[solver] = np.array([1.0, *solved, most]), np.array([0.0, *share, last])
    return curves


def _price(solver: str, parts: dict[float, Costs]) -> tuple[Floats, Floats]:
    """Return tolerances and what they cost a solver on average."""
    here = [(tol, costs) for tol, costs in sorted(parts.items(), reverse=True) if solver in costs]
    spent = [shifted_mean(c.seconds for c in costs[solver].values()) for _, costs in here]
    return np.array([tol for tol, _ in here]), np.array(spent)
