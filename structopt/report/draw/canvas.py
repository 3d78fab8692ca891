"""Where pictures are drawn: given axes, or new ones that touch no global state of matplotlib."""

from __future__ import annotations

from typing import Any

from structopt.report.draw.theme import OKABE_ITO

BLUE, RED, GREEN, PINK, ORANGE, SKY, GREY = OKABE_ITO
FAINT = "0.8"


def axes(ax: Any, width: float = 6.0, height: float = 4.5) -> Any:
    """Return the axes to draw on: the given ones, or those of a new figure."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained").subplots()


def bare(ax: Any) -> None:
    """Take the frame and the ticks away: for pictures of things, not of numbers."""
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


def short(value: Any, most: int = 24) -> str:
    r"""Return anything as a short line of plain text, which matplotlib reads as no formula.

    >>> short(["a", "b"]), short("$x$"), short("long " * 9)
    ('a b', '\\$x\\$', 'long long long long lon…')
    """
    many = isinstance(value, list | tuple) and not isinstance(value, str)
    words = " ".join(map(str, value)) if many else str(value)
    line = "".join(c if c.isprintable() else " " for c in words)
    line = line if len(line) <= most else line[: most - 1] + "…"
    return line.replace("$", r"\$")
