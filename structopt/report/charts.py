r"""The charts of a run and of several runs: bounds closing, cuts, and where the time went.

With P_r and D_r the best upper and lower bound known after round r, one chart shows both, another
the relative gap (P_r - D_r) / \|P_r\| on a logarithmic axis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from structopt.report.chart import Chart, Line, bar_chart, line_chart
from structopt.report.series import BoundSeries, TimeSplit, bound_limits, gap_floor
from structopt.report.template import count, plain_number
from structopt.run.events import Round
from structopt.run.result import Result

_OVER_ROUNDS: dict[str, Any] = {"x_label": "round", "x_from": 1.0, "x_whole": True}
GAP_CAPTION = "Certified gap relative to the objective."
TIME_CAPTION = (
    "Oracle: finding violated constraints. Lift: turning them into rows. Solve: the master "
    "problems. Other: what no round accounts for."
)


# ---------------------------------------------------------------------- one run
def run_charts(result: Result, scrubber: str) -> list[Chart]:
    """Return the charts of one run: bounds, gap, cuts, nonzeros and time.

    `scrubber` is the ident of the slider that moves their markers.
    """
    history, split = result.history, TimeSplit.of(result)
    # one bar a part; zeros before it give each part the colour it has in stacked bars
    rows = [(what, [0.0] * j + [seconds]) for j, (what, seconds) in enumerate(split.items())]
    said = ", ".join(f"{what} {plain_number(s, 3)} s" for what, s in split.items())
    time = bar_chart("time", rows, title="Where the time went", description=said,
                     caption=TIME_CAPTION)  # fmt: skip
    if not history:
        return [time]
    run = BoundSeries.of(result)
    return [
        _run_bounds(run, history[-1], scrubber),
        _run_gap(run, result, scrubber),
        time,
        _run_cuts(run, history, scrubber),
        _run_nonzeros(run, result, scrubber),
    ]


def _run_bounds(run: BoundSeries, last: Round, scrubber: str) -> Chart:
    return line_chart(
        "bounds",
        [
            Line("upper bound (objective)", run.seconds, run.primal, 0),
            Line("lower bound", run.seconds, run.dual, 1, dashed=True),
        ],
        title="Bounds closing against time",
        description=f"After {plain_number(last.seconds, 3)} s the optimum is known to lie between "
        f"{plain_number(last.dual)} and {plain_number(last.primal)}.",
        caption="Best bounds known at each time; early ones may lie outside the frame.",
        x_label="seconds",
        y_label="objective",
        y_limits=bound_limits([run]),
        band=True,
        marker=(scrubber, "seconds"),
    )


def _run_gap(run: BoundSeries, result: Result, scrubber: str) -> Chart:
    tolerance = result.certificate.tolerance
    gap = np.maximum(run.relative_gap, gap_floor([run], tolerance))
    return line_chart(
        "gap",
        [Line("relative gap", run.rounds, gap, 0)],
        title="Relative gap against rounds",
        description=f"It ends at {plain_number(float(run.relative_gap[-1]), 3)} after "
        f"{count(len(run.rounds), 'round')}; {plain_number(tolerance)} was asked for.",
        caption=f"{GAP_CAPTION} Dotted: the tolerance, {plain_number(tolerance)}.",
        y_label="relative gap",
        **_OVER_ROUNDS,
        log=True,
        limit=tolerance if tolerance > 0 else None,
        marker=(scrubber, "rounds"),
    )


def _run_cuts(run: BoundSeries, history: Sequence[Round], scrubber: str) -> Chart:
    added = np.cumsum([r.cuts_added for r in history], dtype=np.float64)
    dropped = np.cumsum([r.cuts_dropped for r in history], dtype=np.float64)
    standing = np.array([r.cuts for r in history], dtype=np.float64)
    summary = f"{int(added[-1])} added, {int(dropped[-1])} dropped, {int(standing[-1])} standing."
    return line_chart(
        "cuts",
        [
            Line("added so far", run.rounds, added, 0),
            Line("standing", run.rounds, standing, 2),
            Line("dropped so far", run.rounds, dropped, 1, dashed=True),
        ],
        title="Cuts against rounds",
        description=summary,
        caption=summary,
        y_label="cuts",
        y_whole=True,
        **_OVER_ROUNDS,
        y_limits=(0.0, 1.05 * max(float(added[-1]), float(standing.max()), 1.0)),
        marker=(scrubber, "rounds"),
    )


def _run_nonzeros(run: BoundSeries, result: Result, scrubber: str) -> Chart:
    nonzeros = np.array([r.nonzeros for r in result.history], dtype=np.float64)
    summary = (
        f"The best weights have {int(np.count_nonzero(result.weights))} nonzeros of "
        f"{len(result.weights)}; the chart counts those of each round's master."
    )
    return line_chart(
        "nonzeros",
        [Line("nonzero weights", run.rounds, nonzeros, 0)],
        title="Nonzero weights against rounds",
        description=summary,
        caption=summary,
        y_label="nonzero weights",
        y_whole=True,
        **_OVER_ROUNDS,
        y_limits=(0.0, 1.05 * max(float(nonzeros.max()), 1.0)),
        marker=(scrubber, "rounds"),
    )


# ---------------------------------------------------------------------- several runs
def comparison_charts(results: Mapping[str, Result], scrubber: str) -> list[Chart]:
    """Return bounds and gaps of several runs, against time and against rounds.

    `scrubber` is the ident of the slider that moves the markers of the charts over rounds.
    """
    return [chart for axis in ("seconds", "rounds") for chart in _compared(results, axis, scrubber)]


def time_chart(results: Mapping[str, Result]) -> Chart:
    """Return each run's seconds as a stacked bar."""
    splits = {name: TimeSplit.of(result) for name, result in results.items()}
    rows = [(name, [seconds for _, seconds in split.items()]) for name, split in splits.items()]
    description = "; ".join(
        f"{name}: " + ", ".join(f"{what} {plain_number(s, 3)} s" for what, s in split.items())
        for name, split in splits.items()
    )
    names = [what for what, _ in next(iter(splits.values())).items()]
    return bar_chart("time", rows, title="Where the time went", description=description,
                     caption=TIME_CAPTION, key=names)  # fmt: skip


def _compared(results: Mapping[str, Result], axis: str, scrubber: str) -> tuple[Chart, Chart]:
    """Return bounds and gaps of several runs against one axis."""
    runs = {name: BoundSeries.of(result) for name, result in results.items()}
    tolerance = min(r.certificate.tolerance for r in results.values())
    floor = gap_floor(runs.values(), tolerance)
    over_rounds = axis == "rounds"
    look: dict[str, Any] = {
        "x_label": axis, "x_from": float(over_rounds), "x_whole": over_rounds,
        "marker": (scrubber, axis) if over_rounds else None,
    }  # fmt: skip
    upper, lower, gaps = [], [], []
    for i, (name, run) in enumerate(runs.items()):
        x = run.rounds if over_rounds else run.seconds
        upper.append(Line(name, x, run.primal, i))
        lower.append(Line(name, x, run.dual, i, dashed=True))
        gaps.append(Line(name, x, np.maximum(run.relative_gap, floor), i))
    certificates = {name: r.certificate for name, r in results.items()}
    bounds = line_chart(
        f"bounds-{axis}",
        [*upper, *lower],
        title=f"Bounds against {axis}",
        description="; ".join(
            f"{name} ends between {plain_number(c.dual)} and {plain_number(c.primal)}"
            for name, c in certificates.items()
        ),
        caption="Solid: upper bound. Dashed: lower bound.",
        y_label="objective",
        y_limits=bound_limits(runs.values()),
        key=upper,
        **look,
    )
    closing = line_chart(
        f"gap-{axis}",
        gaps,
        title=f"Relative gap against {axis}",
        description="; ".join(
            f"{name} ends at {plain_number(c.relative_gap, 3)}" for name, c in certificates.items()
        ),
        caption=f"{GAP_CAPTION} Dotted: the tolerance, {plain_number(tolerance)}.",
        y_label="relative gap",
        log=True,
        limit=tolerance if tolerance > 0 else None,
        **look,
    )
    return bounds, closing
