"""What commands say: progress, tables, and the files that were written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as Shown

from structopt.lab.harness.runner import Step, Watch
from structopt.lab.harness.table import Table

FAILED, INTERRUPTED = 1, 130
"""Exit codes: not certified or not agreed, and Ctrl-C."""


def written(paths: Iterable[object], console: Console) -> None:
    """Name files that were written."""
    for path in paths:
        console.print(f"written: {path}", markup=False, soft_wrap=True)


def show(table: Table, console: Any) -> None:
    """Show one table with its notes."""
    # one blank between columns and one word a line in headings: the tables fit eighty characters
    shown = Shown(box=SIMPLE_HEAD, padding=0, show_edge=False)
    for place, column in enumerate(table.columns):
        heading = column.replace(" ", "\n")
        # what does not fit goes on in the next line: nothing is cut off
        shown.add_column(
            heading, justify="right" if place else "left", vertical="bottom", overflow="fold"
        )
    for row in table.rows:
        shown.add_row(*row)
    console.print(f"\n{table.title}\n", markup=False, highlight=False)
    console.print(shown, "")
    for note in table.notes:
        console.print(note, markup=False, highlight=False)


@contextmanager
def watching(title: str) -> Iterator[Watch]:
    """Show progress on standard error: a live bar in a terminal, lines elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda step: console.print(_line(title, step), soft_wrap=True, markup=False)
        return
    columns = (
        TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn(),
        TimeElapsedColumn(), TextColumn("{task.fields[rest]}", markup=False),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=None, rest="")
        yield lambda step: bar.update(
            task, total=step.total or None, completed=step.done, rest=_rest(step)
        )


def _line(title: str, step: Step) -> str:
    counted = f": {step.done} of {step.total} cells" if step.total else ""
    return f"{title}{counted}{_rest(step)}"


def _rest(step: Step) -> str:
    if not step.label:
        return ""
    left = "" if step.seconds_left is None else f", about {_duration(step.seconds_left)} left"
    return f"{left}: {step.label}"


def _duration(seconds: float) -> str:
    """Return seconds in words.

    >>> _duration(42), _duration(150), _duration(9000)
    ('42 s', '2.5 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
