r"""Charts of a page: lines and bars, drawn by matplotlib, whose text can be read on a phone.

>>> import numpy as np
>>> line = Line("upper", np.array([1.0, 2.0]), np.array([5.0, 4.0]), 0)
>>> line_chart("a", [line], title="Bounds", x_label="round", y_label="objective").key[0].name
'upper'
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from structopt.arrays import Floats
from structopt.report.draw.theme import OKABE_ITO
from structopt.report.svg import INK, TEXT, inline_svg, new_figure
from structopt.report.template import clean, plain_number

WIDTH, HEIGHT = 340, 230
LEFT, RIGHT, TOP, BOTTOM = 58, 330, 26, 182  # the axes, in pixels from the upper left corner
BAR = 46  # height of one bar with the words above it
_SIGNS = ("o", "s", "^", "D")  # two series of one colour differ in their marks
_MARKED = 10  # marks a line, about; one at every point would hide it


class Line(NamedTuple):
    """Values that hold from one point to the next, drawn as steps (or joined); finite ones only."""

    name: str
    x: Floats
    y: Floats
    series: int
    dashed: bool = False
    joined: bool = False


class Entry(NamedTuple):
    """An entry of a chart's key."""

    name: str
    colour: int
    dashed: bool = False
    filled: bool = False


class Marker(NamedTuple):
    """What moves a chart's vertical rule: which slider, along which axis, and its scale."""

    scrubber: str
    axis: str
    scale: str


class Chart(NamedTuple):
    """A drawing with its key and what it shows in words."""

    title: str
    svg: Markup
    key: Sequence[Entry] = ()
    caption: str = ""
    marker: Marker | None = None


def line_chart(
    ident: str,
    lines: Sequence[Line],
    *,
    title: str,
    x_label: str,
    y_label: str,
    description: str = "",
    caption: str = "",
    x_from: float = 0.0,
    x_to: float | None = None,
    x_whole: bool = False,
    x_log: bool = False,
    y_whole: bool = False,
    y_limits: tuple[float, float] | None = None,
    log: bool = False,
    limit: float | None = None,
    band: bool = False,
    key: Sequence[Line] | None = None,
    marker: tuple[str, str] | None = None,
) -> Chart:
    """Return a chart of step lines.

    Parameters
    ----------
    ident : str
        Prefix of the ids inside; must be unique on the page.
    lines : sequence of Line
        What to draw.
    title, x_label, y_label, description, caption : str
        Words.
    x_from, x_to : float
        Where the horizontal axis begins and ends; by default at 0 and the last point.
    x_whole, y_whole : bool
        Whether an axis counts, so that its ticks are whole numbers.
    x_log : bool
        Logarithmic horizontal axis; `x_from` must be positive.
    y_limits : (float, float), optional
        Range of the vertical axis; all finite values by default.
    log : bool
        Logarithmic vertical axis.
    limit : float, optional
        A horizontal rule at a value.
    band : bool
        Shade the space between the first two lines.
    key : sequence of Line, optional
        Which lines are named; all by default.
    marker : (str, str), optional
        Ident of the scrubber that moves a vertical rule, and what it follows: "rounds" or
        "seconds".
    """
    figure = new_figure(WIDTH, HEIGHT)
    ax = _axes(figure, LEFT, RIGHT, TOP, BOTTOM, HEIGHT)
    words = {"color": INK["soft"], "fontsize": TEXT, "parse_math": False}
    ax.set_xlabel(x_label, loc="right", **words)
    ax.set_title(y_label, loc="left", pad=7, **words)
    if x_to is None:
        ends = [float(v.x[np.isfinite(v.x)].max()) for v in lines if np.isfinite(v.x).any()]
        x_to = max([*ends, x_from])
    x_to = x_to if x_to != x_from else x_from + 1.0
    if not x_log:  # marks at the ends are drawn whole
        x_from, x_to = x_from - 0.02 * (x_to - x_from), x_to + 0.02 * (x_to - x_from)
    ax.set(xlim=(x_from, x_to), ylim=y_limits or _limits(lines, log, limit),
           xscale="log" if x_log else "linear", yscale="log" if log else "linear")  # fmt: skip
    _ticks(ax, log, x_log, x_whole, y_whole)
    for line in lines:
        _draw(ax, line, log)
    if band:
        upper, lower = lines[:2]
        both = np.isfinite(upper.y) & np.isfinite(lower.y) & np.isfinite(upper.x)
        ax.fill_between(upper.x[both], lower.y[both], upper.y[both], step="post",
                        color=_colour(upper.series), alpha=0.15, linewidth=0)  # fmt: skip
    if limit is not None:
        ax.axhline(limit, color=INK["soft"], linewidth=1.2, linestyle=(0, (2, 2)))
    if marker:
        ax.axvline(x_to, color=INK["text"], linewidth=1.5, linestyle=(0, (3, 2)), gid="marker")
    named = [Entry(v.name, v.series % len(OKABE_ITO), v.dashed) for v in key or lines]
    moved = Marker(*marker, f"{x_from!r} {x_to!r} {RIGHT - LEFT}") if marker else None
    svg = inline_svg(figure, ident, title=title, description=description)
    return Chart(title, svg, named, caption, moved)


def bar_chart(
    ident: str,
    rows: Sequence[tuple[str, Sequence[float]]],
    *,
    title: str,
    description: str = "",
    caption: str = "",
    key: Sequence[str] = (),
    unit: str = " s",
) -> Chart:
    """Return horizontal stacked bars, one per named row, all on one scale from zero.

    Parts take the colours 0, 1, ... in their order; each row says its total.
    """
    height = BAR * max(len(rows), 1) + 8
    figure = new_figure(WIDTH, height)
    ax = _axes(figure, 4, RIGHT, 4, height - 4, height)
    ax.set_axis_off()
    totals = [float(np.nansum(parts)) for _, parts in rows]
    ax.set_xlim(0.0, max([*totals, 1e-9]))
    ax.set_ylim(max(len(rows), 1), 0.0)
    for i, ((name, parts), total) in enumerate(zip(rows, totals, strict=True)):
        short = name if len(name) <= 30 else name[:29] + "…"
        words = clean(f"{short}: {plain_number(total, 3)}{unit}")
        ax.text(0.0, i + 0.38, words, color=INK["text"], fontsize=TEXT, parse_math=False)
        at = 0.0
        for j, part in enumerate(np.nan_to_num(np.asarray(parts, dtype=np.float64))):
            ax.barh(i + 0.66, part, 0.34, left=at, color=_colour(j))
            at += part
    named = [Entry(name, j % len(OKABE_ITO), filled=True) for j, name in enumerate(key)]
    return Chart(title, inline_svg(figure, ident, title=title, description=description), named,
                 caption)  # fmt: skip


# ---------------------------------------------------------------------- the look
def _axes(figure: Any, left: float, right: float, top: float, bottom: float, height: float) -> Any:
    size = ((right - left) / WIDTH, (bottom - top) / height)
    ax = figure.add_axes((left / WIDTH, 1.0 - bottom / height, *size))
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(INK["line"])
    ax.grid(True, axis="y", color=INK["line"], linewidth=1)
    ax.set_axisbelow(True)
    ax.tick_params(labelsize=TEXT, labelcolor=INK["soft"], color=INK["line"])
    ax.yaxis.get_offset_text().set(color=INK["soft"], fontsize=TEXT)
    return ax


def _ticks(ax: Any, log: bool, x_log: bool, x_whole: bool, y_whole: bool) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    looks = ((ax.xaxis, x_log, 4, x_whole), (ax.yaxis, log, 5, y_whole))
    for axis, logarithmic, most, whole in looks:
        if not logarithmic:
            axis.set_major_locator(MaxNLocator(most, integer=whole))
            continue
        low, high = sorted(axis.get_view_interval())
        fine = high / low < 100.0  # less than two powers of ten: 2 and 5 times them as well
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if fine else (1.0,), numticks=most))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _draw(ax: Any, line: Line, log: bool) -> None:
    kept = np.isfinite(line.x) & np.isfinite(line.y) & ((line.y > 0) | (not log))
    every = max(1, int(kept.sum()) // _MARKED)
    # series take turns, so that lines on top of one another show
    first = (line.series * every) // 4 % every
    ax.plot(
        line.x[kept], line.y[kept], color=_colour(line.series),
        drawstyle="default" if line.joined else "steps-post",
        linewidth=2, linestyle="--" if line.dashed else "-",
        marker=_SIGNS[line.series % len(_SIGNS)], markersize=5, markevery=(first, every),
    )  # fmt: skip


def _colour(series: int) -> str:
    return OKABE_ITO[series % len(OKABE_ITO)]


def _limits(lines: Sequence[Line], log: bool, limit: float | None) -> tuple[float, float]:
    values = np.concatenate([line.y for line in lines] + [[] if limit is None else [limit]])
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    if not len(values):
        return (0.1, 1.0) if log else (0.0, 1.0)
    low, high = float(values.min()), float(values.max())
    if log:
        return low / 2.0, high * 2.0
    return (low, high + 0.05 * (high - low)) if high > low else (low - 0.5, high + 0.5)
