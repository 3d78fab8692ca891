"""Figures that are curves: a line a learner, a panel a problem, and the same as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from structopt.lab.harness.study import Row, every, where
from structopt.lab.reproduce.number import Number, deviation, mean
from structopt.report.draw.theme import OKABE_ITO


def points(
    rows: Sequence[Row], *, x: str, lines: Sequence[str], panel: str = "", unit: str = ""
) -> list[Number]:
    """Return the mean and spread over draws of every line at every x of every panel.

    Parameters
    ----------
    rows : sequence of Row
    x, panel : str
        Keys of the cells; without a panel there is one.
    lines : sequence of str
        Keys of the numbers.
    unit : str
        Stands behind the names of the lines.

    Examples
    --------
    >>> rows = [{"size": 5, "LO": 0.5}, {"size": 5, "LO": 0.7}]
    >>> [(n.label, n.metric, n.ours) for n in points(rows, x="size", lines=["LO"])]
    [('size 5', 'LO', '0.6 ± 0.14')]
    """
    found: dict[tuple[Any, Any], list[Row]] = {}
    for row in rows:
        found.setdefault((row.get(panel), row[x]), []).append(row)
    numbers = []
    for (name, at), group in found.items():
        label = f"{x} {at}" if name is None else f"{panel} {name}, {x} {at}"
        for line in lines:
            values = [row.get(line) for row in group]
            numbers.append(Number(label, line + unit, mean(values), deviation(values)))
    return numbers


def leads(rows: Sequence[Row], *, x: str, of: str, over: str) -> str:
    """Return in words by how much one line leads another at every x.

    >>> leads([{"size": 5, "IBT": 7.0, "L+I": 6.0}], x="size", of="IBT", over="L+I")
    'IBT minus L+I: +1.0 at size 5'
    """
    found = {at: mean(r[of] - r[over] for r in where(rows, **{x: at})) for at in every(rows, x)}
    shown = ", ".join(f"{lead:+.1f} at {x} {at}" for at, lead in found.items())
    return f"{of} minus {over}: {shown}"


def draw(
    figure: Any,
    rows: Sequence[Row],
    *,
    x: str,
    lines: Sequence[str],
    panel: str = "",
    ylabel: str = "",
    log: bool = False,
) -> None:
    """Draw the means of every line against x, with bars of one standard deviation."""
    names = list(dict.fromkeys(row.get(panel) for row in rows))
    panels = figure.subplots(1, max(1, len(names)), squeeze=False)[0]
    figure.set_size_inches(4.2 * max(1, len(names)), 3.6)
    for axes, name in zip(panels, names, strict=False):
        here = [row for row in rows if row.get(panel) == name]
        for k, line in enumerate(lines):
            places = sorted({row[x] for row in here if row.get(line) is not None})
            values = [[row.get(line) for row in here if row[x] == at] for at in places]
            axes.errorbar(
                places, [mean(v) for v in values], [deviation(v) or 0.0 for v in values],
                color=OKABE_ITO[k % len(OKABE_ITO)], marker="o", markersize=3, capsize=2,
                label=line,
            )  # fmt: skip
        axes.set_xlabel(x)
        axes.set_title("" if name is None else f"{panel} {name}")
        axes.grid(True, color="0.9")
        axes.spines[["top", "right"]].set_visible(False)
        if log:
            axes.set_xscale("log")
    panels[0].set_ylabel(ylabel)
    panels[0].legend(frameon=False)
