"""``structopt reproduce``: what the command line does."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from structopt.lab.harness.catalogue import CATALOGUE, experiment_of, status
from structopt.lab.harness.drawing import new_figure
from structopt.lab.harness.output import table_of, write_outputs
from structopt.lab.harness.runner import Outcome, Setting, Step, Watch, run
from structopt.lab.harness.table import Table


def listing(out: str | os.PathLike[str]) -> list[str]:
    """Return lines that name every table and figure of every paper with its state."""
    lines: list[str] = []
    paper = ""
    for entry in CATALOGUE:
        if entry.paper != paper:
            paper = entry.paper
            lines += ["", paper]
        lines.append(f"  {entry.name:21} {entry.what} [{status(entry, out)}]")
    return lines[1:]


def reproduce(
    name: str,
    *,
    full: bool,
    out: str | os.PathLike[str],
    command: str,
    picture: bool = True,
) -> tuple[Outcome, Table, list[str]]:
    """Run what is not stored yet and write the files.

    Returns
    -------
    Outcome, Table, list of str
        The finished cells, the table to show, and the files written. After Ctrl-C they hold what
        was finished.
    """
    experiment = experiment_of(name)
    if picture:
        new_figure()  # says what is missing before any work
    setting: Setting = "full" if full else "small"
    with watching(f"{name}, {setting}") as watch:
        outcome = run(experiment, setting, out, watch=watch)
    files: list[str] = []
    if outcome.rows:
        written = write_outputs(experiment, setting, outcome, out, command=command, picture=picture)
        files = [str(path) for path in written]
    return outcome, table_of(experiment, setting, outcome), files


@contextmanager
def watching(title: str) -> Iterator[Watch]:
    """Show progress on standard error: a live bar in a terminal, lines elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda step: console.print(
            f"{title}: {step.done} of {step.total} cells{_rest(step)}", soft_wrap=True, markup=False
        )
        return
    columns = (
        TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn(),
        TimeElapsedColumn(), TextColumn("{task.fields[rest]}", markup=False),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=None, rest="")
        yield lambda step: bar.update(task, total=step.total, completed=step.done, rest=_rest(step))


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
