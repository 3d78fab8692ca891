r"""The charts of a run and of several runs: bounds closing, cuts, and where the time went.

With P_r and D_r the best upper and lower bound known after round r, one chart shows both, another
the relative gap (P_r - D_r) / \|P_r\| on a logarithmic axis.

>>> count(1, "round"), count(2, "round")
('1 round', '2 rounds')
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from structopt.report.draw.svg import Line, bar_chart, bar_key, line_chart, line_key
from structopt.report.page import (
    NOTHING,
    Markup,
    facts,
    join,
    number,
    paragraph,
    plain_number,
    text,
)
from structopt.report.series import BoundSeries, TimeSplit, bound_limits, gap_floor
from structopt.run.events import Round
from structopt.run.result import Result

_OVER_ROUNDS: dict[str, Any] = {"x_label": "round", "x_from": 1.0, "x_whole": True}
GAP_CAPTION = "Certified gap relative to the objective."
TIME_CAPTION = (
    "Oracle: finding violated constraints. Lift: turning them into rows. Solve: the master "
    "problems. Other: what no round accounts for."
)


def run_charts(result: Result, scrubber: str) -> Markup:
    """Return the charts of one run: bounds, gap, cuts, nonzeros and time; and the seconds.

    `scrubber` is the ident of the slider that moves their markers.
    """
    history, split = result.history, TimeSplit.of(result)
    charts: list[Markup] = []
    if history:
        run = BoundSeries.of(result)
        charts = [
            _run_bounds(run, history[-1], scrubber),
            _run_gap(run, result, scrubber),
            _run_cuts(run, history, scrubber),
            _run_nonzeros(run, result, scrubber),
        ]
    charts.append(_run_time(split))
    seconds = facts((f"{what.capitalize()} seconds", number(s, 4)) for what, s in split.items())
    empty = NOTHING if history else paragraph(text("No round was finished."))
    return join([empty, side_by_side(*charts), seconds])


def comparison_charts(results: Mapping[str, Result], scrubber: str, prefix: str = "") -> Markup:
    """Return bounds and gaps of several runs, against time and against rounds.

    `scrubber` is the ident of the slider that moves the markers of the charts over rounds;
    `prefix` keeps idents unique where there are several such sets on a page.
    """
    return side_by_side(
        *_compared(results, "seconds", scrubber, prefix),
        *_compared(results, "rounds", scrubber, prefix),
    )


def time_chart(results: Mapping[str, Result], prefix: str = "") -> Markup:
    """Return each run's seconds as a stacked bar."""
    splits = {name: TimeSplit.of(result) for name, result in results.items()}
    rows = [(name, [seconds for _, seconds in split.items()]) for name, split in splits.items()]
    description = "; ".join(
        f"{name}: " + ", ".join(f"{what} {plain_number(s, 3)} s" for what, s in split.items())
        for name, split in splits.items()
    )
    chart = bar_chart(f"{prefix}time", rows, title="Where the time went", description=description)
    names = [what for what, _ in next(iter(splits.values())).items()]
    return figure(chart, bar_key(names), TIME_CAPTION)


def count(n: int, noun: str) -> str:
    """Return a number of things in words."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _run_bounds(run: BoundSeries, last: Round, scrubber: str) -> Markup:
    lines = [
        Line("upper bound (objective)", run.seconds, run.primal, 0),
        Line("lower bound", run.seconds, run.dual, 1, dashed=True),
    ]
    chart = line_chart(
        "bounds",
        lines,
        title="Bounds closing against time",
        description=f"After {plain_number(last.seconds, 3)} s the optimum is known to lie between "
        f"{plain_number(last.dual)} and {plain_number(last.primal)}.",
        x_label="seconds",
        y_label="objective",
        y_limits=bound_limits([run]),
        band=True,
        marker=(scrubber, "seconds"),
    )
    caption = "Best bounds known at each time; early ones may lie outside the frame."
    return figure(chart, line_key(lines), caption)


def _run_gap(run: BoundSeries, result: Result, scrubber: str) -> Markup:
    tolerance = result.certificate.tolerance
    gap = np.maximum(run.relative_gap, gap_floor([run], tolerance))
    lines = [Line("relative gap", run.rounds, gap, 0)]
    chart = line_chart(
        "gap",
        lines,
        title="Relative gap against rounds",
        description=f"It ends at {plain_number(float(run.relative_gap[-1]), 3)} after "
        f"{count(len(run.rounds), 'round')}; {plain_number(tolerance)} was asked for.",
        y_label="relative gap",
        **_OVER_ROUNDS,
        log=True,
        limit=(tolerance, "tolerance") if tolerance > 0 else None,
        marker=(scrubber, "rounds"),
    )
    return figure(chart, line_key(lines), GAP_CAPTION)


def _run_cuts(run: BoundSeries, history: Sequence[Round], scrubber: str) -> Markup:
    added = np.cumsum([r.cuts_added for r in history], dtype=np.float64)
    dropped = np.cumsum([r.cuts_dropped for r in history], dtype=np.float64)
    standing = np.array([r.cuts for r in history], dtype=np.float64)
    lines = [
        Line("added so far", run.rounds, added, 0),
        Line("standing", run.rounds, standing, 2),
        Line("dropped so far", run.rounds, dropped, 1, dashed=True),
    ]
    summary = f"{int(added[-1])} added, {int(dropped[-1])} dropped, {int(standing[-1])} standing."
    chart = line_chart(
        "cuts",
        lines,
        title="Cuts against rounds",
        description=summary,
        y_label="cuts",
        **_OVER_ROUNDS,
        y_limits=(0.0, 1.05 * max(float(added[-1]), float(standing.max()), 1.0)),
        marker=(scrubber, "rounds"),
    )
    return figure(chart, line_key(lines), summary)


def _run_nonzeros(run: BoundSeries, result: Result, scrubber: str) -> Markup:
    nonzeros = np.array([r.nonzeros for r in result.history], dtype=np.float64)
    lines = [Line("nonzero weights", run.rounds, nonzeros, 0)]
    summary = (
        f"The best weights have {int(np.count_nonzero(result.weights))} nonzeros of "
        f"{len(result.weights)}; the chart counts those of each round's master."
    )
    chart = line_chart(
        "nonzeros",
        lines,
        title="Nonzero weights against rounds",
        description=summary,
        y_label="nonzero weights",
        **_OVER_ROUNDS,
        y_limits=(0.0, 1.05 * max(float(nonzeros.max()), 1.0)),
        marker=(scrubber, "rounds"),
    )
    return figure(chart, line_key(lines), summary)


def _run_time(split: TimeSplit) -> Markup:
    # One bar a part; zeros before it give each part the colour it has in stacked bars.
    rows = [(what, [0.0] * j + [seconds]) for j, (what, seconds) in enumerate(split.items())]
    description = ", ".join(f"{what} {plain_number(s, 3)} s" for what, s in split.items())
    chart = bar_chart("time", rows, title="Where the time went", description=description)
    return figure(chart, NOTHING, TIME_CAPTION)


def _compared(
    results: Mapping[str, Result], axis: str, scrubber: str, prefix: str
) -> tuple[Markup, Markup]:
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
        f"{prefix}bounds-{axis}",
        [*upper, *lower],
        title=f"Bounds against {axis}",
        description="; ".join(
            f"{name} ends between {plain_number(c.dual)} and {plain_number(c.primal)}"
            for name, c in certificates.items()
        ),
        y_label="objective",
        y_limits=bound_limits(runs.values()),
        **look,
    )
    closing = line_chart(
        f"{prefix}gap-{axis}",
        gaps,
        title=f"Relative gap against {axis}",
        description="; ".join(
            f"{name} ends at {plain_number(c.relative_gap, 3)}" for name, c in certificates.items()
        ),
        y_label="relative gap",
        log=True,
        limit=(tolerance, "tolerance") if tolerance > 0 else None,
        **look,
    )
    return (
        figure(bounds, line_key(upper), "Solid: upper bound. Dashed: lower bound."),
        figure(closing, line_key(gaps), GAP_CAPTION),
    )


def figure(chart: Markup, key: Markup, caption: str) -> Markup:
    """Return a chart with its key and a caption in words."""
    return Markup(f"<figure>{chart}{key}<figcaption>{text(caption)}</figcaption></figure>")


def side_by_side(*figures: Markup) -> Markup:
    """Return figures as many to a row as there is room for."""
    return Markup(f'<div class="charts">{join(figures)}</div>')
