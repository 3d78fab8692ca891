"""Pictures with matplotlib."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import numpy as np

from structopt.errors import MissingDependencyError
from structopt.report.draw.theme import OKABE_ITO
from structopt.report.series import BoundSeries, bound_limits, gap_floor
from structopt.run.result import Result


def new_figure(width: float = 9.0, height: float = 5.0) -> Any:
    """Return an empty matplotlib figure that touches no global state.

    Raises
    ------
    MissingDependencyError
        matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependencyError(
            'Pictures need matplotlib: pip install "structopt-margin[plot]", or say --no-picture.'
        ) from error
    return Figure(figsize=(width, height), layout="constrained")


def png(figure: Any) -> bytes:
    """Return a figure as a file."""
    return drawn(figure, "png", dpi=120)


def drawn(figure: Any, kind: str, **options: Any) -> bytes:
    """Return a figure as a file of a kind: png, svg, pdf; the same bytes each time."""
    import matplotlib as mpl

    buffer = io.BytesIO()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with mpl.rc_context({"svg.hashsalt": "structopt"}):
        figure.savefig(buffer, format=kind, metadata=undated, **options)
    return buffer.getvalue()


def draw_bounds(results: Mapping[str, Result], figure: Any, *, title: str = "") -> None:
    """Draw how the bounds of several runs close (dashed: lower ones), and their relative gaps.

    Bounds hold until the next round, so lines are steps; early ones may lie outside the frame.
    """
    runs = {name: BoundSeries.of(result) for name, result in results.items()}
    tolerance = min(result.certificate.tolerance for result in results.values())
    floor = gap_floor(runs.values(), tolerance)
    left, right = figure.subplots(1, 2)
    for i, (name, run) in enumerate(runs.items()):
        look = {"color": OKABE_ITO[i % len(OKABE_ITO)], "drawstyle": "steps-post"}
        primal, dual = (np.where(np.isfinite(b), b, np.nan) for b in (run.primal, run.dual))
        gaps = np.where(np.isfinite(run.relative_gap), run.relative_gap, np.nan)
        left.plot(run.seconds, primal, label=name, **look)
        left.plot(run.seconds, dual, linestyle="--", **look)
        right.plot(run.rounds, np.maximum(gaps, floor), **look)
    left.set(xlabel="seconds", ylabel="objective", ylim=bound_limits(runs.values()))
    right.set(xlabel="rounds", ylabel="relative gap", yscale="log")
    if tolerance > 0:
        right.axhline(tolerance, color="0.4", linewidth=1.0, linestyle=":")
    for axes in (left, right):
        axes.grid(True, color="0.9")
        axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle(title)
    left.legend(frameon=False)
