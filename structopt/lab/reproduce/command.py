"""``structopt reproduce``: run a table or figure of the papers again."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from structopt.errors import InvalidInputError
from structopt.lab.harness import arguments
from structopt.lab.harness.drawing import drawn, new_figure, png
from structopt.lab.harness.output import csv_of, markdown, write_files
from structopt.lab.harness.runner import Outcome, run
from structopt.lab.harness.table import Table
from structopt.lab.harness.terminal import INTERRUPTED, show, watching, written
from structopt.lab.reproduce.catalogue import (
    CATALOGUE,
    Setting,
    entry_of,
    experiment_of,
    folder_of,
    status,
    store_of,
)
from structopt.lab.reproduce.experiment import Experiment


@dataclass
class Reproduce(arguments.Command):
    """The command."""

    name: str | None = arguments.argument(
        None, "such as lp-struct-table-1", flag="NAME", nargs="?"
    )  # fmt: skip
    list: bool = arguments.argument(False, "name every table and figure")
    full: bool = arguments.argument(False, "the paper's sizes: can take hours")
    no_picture: bool = arguments.argument(False, "leave out the figure")
    out: str = arguments.out(
        "structopt-results", "where results go, and finished parts are looked for"
    )

    def execute(self, command: str) -> int:
        """Run what is not stored yet, show it and write its files."""
        console = Console()
        if self.list:
            for line in listing(self.out):
                console.print(line, markup=False, highlight=False, soft_wrap=True)
            return 0
        if self.name is None:
            raise InvalidInputError(
                "Which table or figure? `structopt reproduce --list` names them."
            )
        if time := entry_of(self.name).time("full" if self.full else "small"):
            Console(stderr=True).print(
                f"{self.name}: {time} in all; cells that are stored are not run again.",
                soft_wrap=True, markup=False, highlight=False,
            )  # fmt: skip
        outcome, table, files = reproduce(
            self.name, full=self.full, out=self.out, command=command, picture=not self.no_picture
        )
        show(table, console)
        written(files, console)
        if outcome.interrupted:
            console.print(
                f"Interrupted after {len(outcome.rows)} of {outcome.total} cells; the same command "
                "goes on from there."
            )
            return INTERRUPTED
        return 0


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
) -> tuple[Outcome, Table, list[Path]]:
    """Run what is not stored yet and write the files.

    Returns
    -------
    Outcome, Table, list of Path
        The finished cells, the table to show, and the files written. After Ctrl-C they hold what
        was finished.
    """
    experiment = experiment_of(name)
    setting: Setting = "full" if full else "small"
    folder = folder_of(experiment, out)
    with watching(f"{name}, {setting}") as watch:
        cells = experiment.cells(full)
        outcome = run(experiment, cells, store=store_of(experiment, out), watch=watch)
    table = table_of(experiment, setting, outcome)
    if not outcome.rows:
        return outcome, table, []
    files = files_of(experiment, setting, outcome, table, command=command, picture=picture)
    return outcome, table, write_files(folder, files)


def table_of(experiment: Experiment, setting: Setting, outcome: Outcome) -> Table:
    """Return the table of a run, whole or not."""
    entry = entry_of(experiment.name)
    table = experiment.table(outcome.rows, f"{entry.paper}, {entry.item} ({setting} setting)")
    if len(outcome.rows) == outcome.total:
        return table
    partly = f"Not finished: {len(outcome.rows)} of {outcome.total} cells."
    return Table(table.title, table.columns, table.rows, (partly, *table.notes))


def files_of(
    experiment: Experiment,
    setting: Setting,
    outcome: Outcome,
    table: Table,
    *,
    command: str,
    picture: bool = True,
) -> dict[str, str | bytes]:
    """Return ``small.csv``, ``.md``, ``.png`` and ``.svg`` (or ``full``)."""
    cpu = sum(row["cell_cpu"] for row in outcome.rows)
    notes = [entry_of(experiment.name).what, f"{cpu:.0f} CPU seconds, one thread."]
    files: dict[str, str | bytes] = {
        f"{setting}.csv": csv_of(outcome.rows),
        f"{setting}.md": markdown(experiment.name, [table], command=command, notes=notes),
    }
    if picture:
        figure = new_figure()
        experiment.draw(outcome.rows, figure)
        files[f"{setting}.png"] = png(figure)
        files[f"{setting}.svg"] = drawn(figure, "svg")
    return files
