"""A table or figure of a paper: cells to run, and numbers to put beside the paper's."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from structopt.lab.harness.study import Cell, Row, Study
from structopt.lab.harness.table import Table
from structopt.lab.reproduce.drawing import draw_numbers
from structopt.lab.reproduce.number import Number


class Experiment(Study):
    """A table or figure: what to run, and what to show.

    A subclass lives in a module of its own, named like the experiment with underscores, which
    holds an instance called ``experiment``; :mod:`structopt.lab.reproduce.catalogue` finds it
    there.

    Attributes
    ----------
    name : str
        As in the catalogue.
    data : tuple of str
        Files under the data home that it reads (``.gz`` may be missing); none if it makes its data.
    differences : str
        How data, features or protocol differ from the paper's.
    """

    data: ClassVar[tuple[str, ...]] = ()
    differences: ClassVar[str]

    @abstractmethod
    def cells(self, full: bool) -> list[Cell]:
        """Return the jobs of the small or the full setting. Reads no data."""

    @abstractmethod
    def numbers(self, rows: Sequence[Row]) -> list[Number]:
        """Return what to show for the finished cells, beside the paper's numbers."""

    def remarks(self, rows: Sequence[Row]) -> list[str]:
        """Return sentences about this run to stand under the table."""
        return []

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw on a matplotlib figure; by default ours and the paper's numbers side by side."""
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
