"""What commands say: tables, progress, files written."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from structopt.lab.harness.table import Table
    from structopt.run.events import Callback

FAILED, USAGE, INTERRUPTED = 1, 2, 130
"""Exit codes; see :mod:`structopt.cli.commands`."""


@contextmanager
def plain_progress(label: str, tol: float) -> Iterator[Callback]:
    """Progress where a live line would only leave control codes in a file."""
    print(label, flush=True)
    yield lambda record: None


@contextmanager
def spinner() -> Iterator[Callable[[str], None]]:
    """Say what is going on, on a line that changes; yield the function to say it with."""
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:
        yield lambda text: status.update(text)


def publish(name: str, tables: Sequence[Table], options: argparse.Namespace) -> int:
    """Show tables and where they were measured; write them too if ``--out`` was given."""
    from rich.console import Console

    from structopt.lab.harness.machine import Machine
    from structopt.lab.harness.table import write_tables

    console, machine = Console(), Machine.here()
    for table in tables:
        show(table, console)
    console.print(str(machine), markup=False, highlight=False)
    if options.out is not None:
        for path in write_tables(name, tables, machine, options.command, options.out):
            console.print(f"written: {path}", markup=False, soft_wrap=True)
    return 0


def show(table: Table, console: Any) -> None:
    """Show one table with its notes."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as Shown

    # one blank between columns and one word a line in headings: the tables fit eighty characters
    shown = Shown(box=SIMPLE_HEAD, padding=0, show_edge=False)
    for place, column in enumerate(table.columns):
        heading = column.replace(" ", "\n")
        shown.add_column(heading, justify="right" if place else "left", vertical="bottom")
    for row in table.rows:
        shown.add_row(*row)
    console.print(f"\n{table.title}\n", markup=False, highlight=False)
    console.print(shown, "")
    for note in table.notes:
        console.print(note, markup=False, highlight=False)
