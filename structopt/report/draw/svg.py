"""Charts as inline SVG, coloured by the page's style sheet so that they follow its theme.

Every chart has a title and a description for those who do not see it.

>>> import numpy as np
>>> line = Line("primal", np.array([1.0, 2.0]), np.array([5.0, 4.0]), 0)
>>> picture = line_chart("a", [line], title="Bounds", x_label="round", y_label="objective")
>>> picture.startswith('<svg viewBox="0 0 520 300" role="img" aria-labelledby="a-t a-d">')
True
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from structopt.arrays import Floats
from structopt.report.draw.scale import Scale
from structopt.report.draw.theme import OKABE_ITO
from structopt.report.page import Markup, plain_number, text

WIDTH, HEIGHT = 520, 300
LEFT, RIGHT, TOP, BOTTOM = 66, 508, 12, 256
ROW, BAR_LEFT = 34, 132  # height of one bar with its margin; room for names
MARKED = 12  # markers a line, about; one at every point would hide it

# A circle, a square, a triangle, a diamond: two series of one colour differ in shape.
_MARKERS = (
    "m-3.5,0a3.5,3.5 0 1,0 7,0a3.5,3.5 0 1,0 -7,0z",
    "m-3,-3h6v6h-6z",
    "m0,-4l4,7h-8z",
    "m0,-4.5l4.5,4.5l-4.5,4.5l-4.5,-4.5z",
)


@dataclass(frozen=True)
class Line:
    """Values that hold from one point to the next, drawn as steps.

    Attributes
    ----------
    name : str
        For the key.
    x, y : array
        Points; those that are not finite are left out.
    series : int
        Which colour and marker.
    dashed : bool
        Whether the line is dashed.
    """

    name: str
    x: Floats
    y: Floats
    series: int
    dashed: bool = False

    @property
    def colour(self) -> int:
        """Number of the colour in the style sheet."""
        return self.series % len(OKABE_ITO)

    @property
    def marker(self) -> str:
        """SVG path of the marker, relative to its place."""
        return _MARKERS[self.series % len(_MARKERS)]

    def places(self, x_scale: Scale, y_scale: Scale) -> list[tuple[float, float]]:
        """Return the places of the finite points."""
        points = zip(self.x.tolist(), self.y.tolist(), strict=True)
        return [(x_scale.at(x), y_scale.at(y)) for x, y in points if np.isfinite(x + y)]


def line_chart(
    ident: str,
    lines: Sequence[Line],
    *,
    title: str,
    x_label: str,
    y_label: str,
    description: str = "",
    x_from: float = 0.0,
    x_whole: bool = False,
    y_limits: tuple[float, float] | None = None,
    log: bool = False,
    limit: tuple[float, str] | None = None,
    band: bool = False,
    x_log: bool = False,
    marker: tuple[str, str] | None = None,
) -> Markup:
    """Return a chart of step lines.

    Parameters
    ----------
    ident : str
        Prefix of the ids inside; must be unique on the page.
    lines : sequence of Line
        What to draw.
    title, x_label, y_label, description : str
        Words, as text.
    x_from : float
        Where the horizontal axis begins.
    x_whole : bool
        Whether the horizontal axis counts, so that its ticks are whole numbers.
    y_limits : (float, float), optional
        Range of the vertical axis; all finite values by default.
    log : bool
        Logarithmic vertical axis.
    limit : (float, str), optional
        A horizontal rule at a value, and its name.
    band : bool
        Shade the space between the first two lines.
    x_log : bool
        Logarithmic horizontal axis; `x_from` must be positive.
    marker : (str, str), optional
        Ident of the scrubber that moves a vertical rule, and what it follows: "rounds" or
        "seconds".
    """
    x_end = max((float(v.x[-1]) for v in lines if len(v.x)), default=1.0)
    x_scale = Scale(x_from, x_end if x_end > x_from else x_from + 1.0, LEFT, RIGHT, x_log, x_whole)
    y_scale = Scale(*(y_limits or _limits(lines, log, limit)), BOTTOM, TOP, log)
    inside: list[str] = []
    if band:
        upper, lower = (line.places(x_scale, y_scale) for line in lines[:2])
        inside.append(_band(upper, lower, lines[0]))
    if limit:
        y = y_scale.at(limit[0])
        inside.append(f'<path class="limit" d="M{LEFT},{y:.1f}H{RIGHT}"/>')
        inside.append(f'<text x="{LEFT + 4}" y="{y - 4:.1f}">{text(limit[1])}</text>')
    for line in lines:
        inside.append(_line(line.places(x_scale, y_scale), line))
    if marker:
        span = f"{x_scale.low!r} {x_scale.high!r} {LEFT} {RIGHT}"
        inside.append(
            f'<path class="marker" data-marker="{marker[0]}" data-axis="{marker[1]}" '
            f'data-scale="{span}" d="M0,{TOP}V{BOTTOM}" visibility="hidden"/>'
        )
    return Markup(
        f"{_open(ident, HEIGHT, title, description)}"
        f'<clipPath id="{ident}-c"><rect x="{LEFT - 5}" y="{TOP - 5}" width="{RIGHT - LEFT + 10}" '
        f'height="{BOTTOM - TOP + 10}"/></clipPath>'
        f"{_axes(x_scale, y_scale, x_label, y_label)}"
        f'<g clip-path="url(#{ident}-c)">{"".join(inside)}</g></svg>'
    )


def bar_chart(
    ident: str,
    rows: Sequence[tuple[str, Sequence[float]]],
    *,
    title: str,
    description: str = "",
    unit: str = "s",
) -> Markup:
    """Return horizontal stacked bars, one per named row, all on one scale from zero.

    Parts take the colours 0, 1, ... in their order; each row ends with its total.
    """
    height = ROW * len(rows) + 6
    longest = max((sum(parts) for _, parts in rows), default=0.0)
    scale = Scale(0.0, longest if longest > 0 else 1.0, BAR_LEFT, WIDTH - 84)
    drawn: list[str] = []
    for i, (name, parts) in enumerate(rows):
        y, at = ROW * i + 6, 0.0
        short = name if len(name) <= 19 else name[:18] + "…"
        drawn.append(
            f'<text class="strong" x="{BAR_LEFT - 8}" y="{y + 16}" text-anchor="end">'
            f"{text(short)}</text>"
        )
        for j, part in enumerate(parts):
            left, right = scale.at(at), scale.at(at + part)
            if right > left:
                drawn.append(
                    f'<rect class="f{j % len(OKABE_ITO)}" x="{left:.1f}" y="{y}" '
                    f'width="{right - left:.1f}" height="{ROW - 12}"/>'
                )
            at += part
        total = f"{plain_number(at, 3)} {unit}"
        drawn.append(f'<text x="{scale.at(at) + 6:.1f}" y="{y + 16}">{text(total)}</text>')
    return Markup(f"{_open(ident, height, title, description)}{''.join(drawn)}</svg>")


def line_key(lines: Iterable[Line]) -> Markup:
    """Return the key of a line chart as a list."""
    return _key(
        (
            f'<path class="line s{v.colour}{" dashed" if v.dashed else ""}" d="M1,6H25"/>'
            f'<path class="f{v.colour}" d="M13,6{v.marker}"/>',
            v.name,
        )
        for v in lines
    )


def bar_key(names: Iterable[str]) -> Markup:
    """Return the key of a bar chart as a list."""
    return _key(
        (f'<rect class="f{j % len(OKABE_ITO)}" x="6" width="12" height="12"/>', name)
        for j, name in enumerate(names)
    )


def _key(entries: Iterable[tuple[str, str]]) -> Markup:
    items = "".join(
        f'<li><svg viewBox="0 0 26 12" aria-hidden="true">{sign}</svg> {text(name)}</li>'
        for sign, name in entries
    )
    return Markup(f'<ul class="key">{items}</ul>')


def _open(ident: str, height: int, title: str, description: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-labelledby="{ident}-t {ident}-d">'
        f'<title id="{ident}-t">{text(title)}</title>'
        f'<desc id="{ident}-d">{text(description)}</desc>'
    )


def _limits(
    lines: Sequence[Line], log: bool, limit: tuple[float, str] | None
) -> tuple[float, float]:
    values = np.concatenate([line.y for line in lines] + [[limit[0]] if limit else []])
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    if not len(values):
        return (0.1, 1.0) if log else (0.0, 1.0)
    low, high = float(values.min()), float(values.max())
    if log:
        return low / 2.0, high * 2.0
    return (low, high + 0.05 * (high - low)) if high > low else (low - 0.5, high + 0.5)


def _steps(places: Sequence[tuple[float, float]]) -> str:
    (x, y), *rest = places
    return f"M{x:.1f},{y:.1f}" + "".join(f"H{x:.1f}V{y:.1f}" for x, y in rest)


def _line(places: Sequence[tuple[float, float]], line: Line) -> str:
    if not places:
        return ""
    dash = " dashed" if line.dashed else ""
    every = max(1, len(places) // MARKED)
    # Series take turns, so that lines on top of one another show.
    marked = [*places[(line.series * every) // 4 % every :: every], places[-1]]
    markers = "".join(f"M{x:.1f},{y:.1f}{line.marker}" for x, y in marked)
    return (
        f'<path class="line s{line.colour}{dash}" d="{_steps(places)}"/>'
        f'<path class="f{line.colour}" d="{markers}"/>'
    )


def _band(
    upper: Sequence[tuple[float, float]], lower: Sequence[tuple[float, float]], line: Line
) -> str:
    if not upper or not lower:
        return ""
    # Steps run forward in x, so the way back along the lower line moves in y first.
    back = "".join(f"V{y:.1f}H{x:.1f}" for x, y in reversed(lower))
    return f'<path class="band f{line.colour}" d="{_steps(upper)}{back}Z"/>'


def _axes(x_scale: Scale, y_scale: Scale, x_label: str, y_label: str) -> str:
    parts = [f'<path class="axis" d="M{LEFT},{TOP}V{BOTTOM}H{RIGHT}" fill="none"/>']
    for value, label in y_scale.ticks():
        y = y_scale.at(value)
        parts.append(f'<path class="axis" d="M{LEFT},{y:.1f}H{RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
    for value, label in x_scale.ticks():
        x = x_scale.at(value)
        parts.append(f'<path class="axis" d="M{x:.1f},{BOTTOM}v5"/>')
        parts.append(f'<text x="{x:.1f}" y="{BOTTOM + 18}" text-anchor="middle">{label}</text>')
    centre, middle = (LEFT + RIGHT) / 2, (TOP + BOTTOM) / 2
    parts.append(
        f'<text x="{centre}" y="{HEIGHT - 6}" text-anchor="middle">{text(x_label)}</text>'
        f'<text x="14" y="{middle}" text-anchor="middle" transform="rotate(-90 14 {middle})">'
        f"{text(y_label)}</text>"
    )
    return "".join(parts)
