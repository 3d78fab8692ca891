r"""What a table or figure of a paper is here: cells to run, and numbers to put beside the paper's.

>>> Number("LP (7)", "BLEU %", 32.1, spread=0.4, paper=32.35).ours
'32.1 ± 0.4'
"""

from __future__ import annotations

import math
import statistics
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from structopt.lab.harness.table import Table

Cell = dict[str, Any]
"""The parameters of one small, independent job; plain JSON values, and all that it depends on."""
Row = dict[str, Any]
"""A finished cell: its parameters, its numbers, and ``cell_cpu``, the CPU seconds it took."""


@dataclass(frozen=True)
class Number:
    """One entry of the paper's table, or point of its figure, and what was found here.

    Attributes
    ----------
    label, metric : str
        Row and column, such as "CRF" and "error %".
    value : float or None
        Found here; None where nothing is known yet.
    spread : float or None
        Standard deviation over draws.
    paper, paper_spread : float or None
        The paper's; None where it gives none.
    """

    label: str
    metric: str
    value: float | None
    spread: float | None = None
    paper: float | None = None
    paper_spread: float | None = None

    @property
    def ours(self) -> str:
        """What was found here, as text."""
        return _text(self.value, self.spread)

    @property
    def theirs(self) -> str:
        """The paper's number, as text."""
        return _text(self.paper, self.paper_spread)


class Experiment(ABC):
    """A table or figure: what to run, and what to show.

    A subclass lives in a module of its own, named like the experiment with underscores, which
    holds an instance called ``experiment``; :mod:`structopt.lab.harness.catalogue` finds it there.

    Attributes
    ----------
    name : str
        As in the catalogue.
    data : tuple of str
        Files under the data home that it reads (``.gz`` may be missing); none if it makes its data.
    differences : str
        How data, features or protocol differ from the paper's.
    version : int
        Raise it when the code changes what a cell gives: stored cells then no longer count.
    """

    name: ClassVar[str]
    data: ClassVar[tuple[str, ...]] = ()
    differences: ClassVar[str]
    version: ClassVar[int] = 1

    @abstractmethod
    def cells(self, full: bool) -> list[Cell]:
        """Return the jobs of the small or the full setting. Reads no data."""

    @abstractmethod
    def run(self, cell: Cell) -> dict[str, Any]:
        """Do one job and return its numbers; lists and text are allowed."""

    @abstractmethod
    def numbers(self, rows: Sequence[Row]) -> list[Number]:
        """Return what to show for the finished cells, beside the paper's numbers."""

    def remarks(self, rows: Sequence[Row]) -> list[str]:
        """Return sentences about this run to stand under the table."""
        return []

    def label(self, cell: Cell) -> str:
        """Name a cell in the progress line."""
        return ", ".join(f"{key} {value}" for key, value in cell.items())

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw on a matplotlib figure; by default ours and the paper's numbers side by side."""
        from structopt.lab.harness.drawing import draw_numbers

        draw_numbers(self.numbers(rows), figure)

    def table(self, rows: Sequence[Row], title: str) -> Table:
        """Return the numbers as a table: one row a label, two columns a metric."""
        numbers = self.numbers(rows)
        labels = list(dict.fromkeys(number.label for number in numbers))
        metrics = list(dict.fromkeys(number.metric for number in numbers))
        at = {(number.label, number.metric): number for number in numbers}
        shown = [m for m in metrics if any(n.paper is not None for n in numbers if n.metric == m)]
        columns = ["", *(c for m in metrics for c in ([m, f"{m}, paper"] if m in shown else [m]))]
        lines = []
        for label in labels:
            line = [label]
            for metric in metrics:
                number = at.get((label, metric), Number(label, metric, None))
                line += [number.ours, number.theirs] if metric in shown else [number.ours]
            lines.append(tuple(line))
        notes = (*self.remarks(rows), f"Differences from the paper: {self.differences}")
        return Table(title, tuple(columns), tuple(lines), notes)


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of what is there, None of nothing.

    >>> mean([1.0, None, 3.0]), mean([])
    (2.0, None)
    """
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def deviation(values: Iterable[float | None]) -> float | None:
    """Return the sample standard deviation, None of fewer than two values."""
    known = [value for value in values if value is not None]
    return statistics.stdev(known) if len(known) > 1 else None


def _text(value: float | None, spread: float | None) -> str:
    if value is None or math.isnan(value):
        return "-"
    text = f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"
    return text if spread is None else f"{text} ± {spread:.2g}"
