"""Figures of runs, drawn with matplotlib.

matplotlib is imported when a figure is drawn, and never its global state: a figure is an object
that is returned, and saved where a path is given.

>>> import numpy as np
>>> from structopt.run.certificate import Certificate
>>> from structopt.run.result import Result
>>> run = Result(np.zeros(2), Certificate(4.0, 3.9, 1e-3), (), "max_iter", 0.1, "highs", cuts=None)
>>> figure = plot_time_split({"highs": run})
>>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
['highs']
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from structopt.errors import InvalidInputError, MissingDependencyError
from structopt.files import write_atomically
from structopt.report.draw.theme import OKABE_ITO
from structopt.report.series import BoundSeries, TimeSplit, bound_limits, gap_floor

if TYPE_CHECKING:
    from structopt.run.result import Result

MARKERS = "os^Dv"
MARKED = 12  # markers a line, about; one at every round would hide it


def plot_bounds(
    results: Mapping[str, Result],
    path: str | os.PathLike[str] | None = None,
    *,
    title: str = "Bounds closing",
) -> Any:
    r"""Draw how the bounds of several runs close, against time and against rounds.

    The upper row shows the bounds P_r (solid) and D_r (dashed) after each round r, the lower row
    the relative gap (P_r - D_r) / \|P_r\| on a logarithmic axis with the tolerance. Bounds hold
    until the next round, so lines are steps. Early bounds may lie outside the frame.

    Parameters
    ----------
    results : mapping of str to Result
        The runs by name.
    path : path, optional
        Where to save the figure; the suffix says the format (png, pdf, svg).
    title : str
        Heading of the figure.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingDependencyError
        matplotlib is not installed.
    InvalidInputError
        There is nothing to draw, or the suffix names no format that matplotlib writes.
    """
    figure = _figure(results, width=9.0, height=6.4)
    axes = figure.subplots(2, 2, sharex="col", sharey="row")
    runs = {name: BoundSeries.of(result) for name, result in results.items()}
    tolerance = min(result.certificate.tolerance for result in results.values())
    floor = gap_floor(runs.values(), tolerance)
    for column, unit in enumerate(("seconds", "rounds")):
        for i, (name, run) in enumerate(runs.items()):
            x = getattr(run, unit)
            look = {
                "color": OKABE_ITO[i % len(OKABE_ITO)],
                "marker": MARKERS[i % len(MARKERS)],
                "markersize": 5.0,
                "markeredgecolor": "white",
                "markeredgewidth": 0.6,
                "markevery": _marked(len(x), i),
                "drawstyle": "steps-post",
                "linewidth": 1.6,
            }
            bounds, gaps = axes[0, column], axes[1, column]
            bounds.plot(x, _finite(run.primal), label=_label(name), **look)
            bounds.plot(x, _finite(run.dual), linestyle=(0, (4, 2)), **look)
            gaps.plot(x, _finite(np.maximum(run.relative_gap, floor)), **look)
        axes[1, column].set_xlabel(unit)
    axes[0, 0].set_xlim(left=0.0)
    axes[0, 1].xaxis.get_major_locator().set_params(integer=True)
    axes[0, 0].set_ylim(*bound_limits(runs.values()))
    axes[0, 0].set_ylabel("objective\n(solid: upper bound, dashed: lower)")
    axes[1, 0].set_ylabel("relative gap")
    axes[1, 0].set_yscale("log")
    if tolerance > 0:
        for axis in axes[1]:
            axis.axhline(tolerance, color="0.4", linewidth=1.0, linestyle=":")
        axes[1, 0].annotate(
            "tolerance", (0.0, tolerance), (4, 3), xycoords=("axes fraction", "data"),
            textcoords="offset points", color="0.35", fontsize=8,
        )  # fmt: skip
    for axis in axes.flat:
        _plain(axis)
        axis.grid(True, color="0.9", linewidth=0.8)
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(), loc="outside lower center",
        ncols=min(len(runs), 5), frameon=False,
    )  # fmt: skip
    return _saved(figure, path)


def plot_time_split(
    results: Mapping[str, Result],
    path: str | os.PathLike[str] | None = None,
    *,
    title: str = "Where the time went",
) -> Any:
    """Draw each run's seconds as a bar stacked from oracle, lift, solve and other.

    Parameters and errors are those of :func:`plot_bounds`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = _figure(results, width=8.0, height=1.6 + 0.45 * len(results))
    axis = figure.subplots()
    splits = {name: TimeSplit.of(result) for name, result in results.items()}
    places = np.arange(len(splits))
    start = np.zeros(len(splits))
    for j, (what, _) in enumerate(next(iter(splits.values())).items()):
        lengths = np.array([split.items()[j][1] for split in splits.values()])
        axis.barh(places, lengths, left=start, height=0.6, label=what, color=OKABE_ITO[j],
                  edgecolor="white", linewidth=0.8)  # fmt: skip
        start += lengths
    for place, total in zip(places, start, strict=True):
        axis.annotate(f"{total:.3g} s", (total, place), (5, 0), textcoords="offset points",
                      va="center", fontsize=9, color="0.25")  # fmt: skip
    axis.set_yticks(places, [_label(name) for name in splits])
    axis.invert_yaxis()
    axis.margins(x=0.12)
    axis.set_xlim(left=0.0)
    axis.set_xlabel("seconds")
    _plain(axis)
    axis.tick_params(axis="y", length=0)
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    figure.legend(loc="outside upper right", ncols=4, frameon=False)
    return _saved(figure, path)


def _figure(results: Mapping[str, Result], *, width: float, height: float) -> Any:
    if not results:
        raise InvalidInputError("There are no results to draw.")
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependencyError(
            'Figures need matplotlib: pip install "structopt-margin[plot]".'
        ) from error
    return Figure(figsize=(width, height), layout="constrained")


def _plain(axis: Any) -> None:
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)


def _label(name: str) -> str:
    # matplotlib reads $...$ as a formula and drops labels that begin with an underscore.
    plain = name.replace("$", r"\$")
    return f" {plain}" if plain.startswith("_") else plain


def _marked(n: int, series: int) -> list[int]:
    """Rounds that get a marker: series take turns, so that lines on top of one another show."""
    every = max(1, n // MARKED)
    return sorted({*range((series * every) // 4 % every, n, every), n - 1} if n else set())


def _finite(values: Any) -> Any:
    # nan leaves a gap in a line where infinity would stretch the axis.
    return np.where(np.isfinite(values), values, np.nan)


def _saved(figure: Any, path: str | os.PathLike[str] | None) -> Any:
    if path is None:
        return figure
    kind = Path(path).suffix.removeprefix(".").lower()
    formats = figure.canvas.get_supported_filetypes()
    if kind not in formats:
        raise InvalidInputError(
            f"{os.fspath(path)!r} should end in a format that matplotlib writes: "
            f"{', '.join(sorted(formats))}."
        )
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, dpi=150)
    write_atomically(path, buffer.getvalue())
    return figure
