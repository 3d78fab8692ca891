"""A measurement of this library as a command: its contenders take turns, its tables are shown."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.console import Console

from structopt.errors import MissingDependencyError
from structopt.lab.harness import arguments
from structopt.lab.harness.machine import Machine
from structopt.lab.harness.output import markdown, write_files
from structopt.lab.harness.runner import run
from structopt.lab.harness.study import Cell, Row, Study
from structopt.lab.harness.table import Table
from structopt.lab.harness.terminal import FAILED, show, watching, written


@dataclass
class Bench(Study, arguments.Command):
    """A study that says its cells and its tables; a subclass is a dataclass of its arguments."""

    excuses: ClassVar[tuple[type[Exception], ...]] = (MissingDependencyError,)

    out: str | None = arguments.out()

    @abstractmethod
    def cells(self) -> list[Cell]:
        """Return the cells, in the order in which they run."""

    @abstractmethod
    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return what to show; ``left_out`` says who did not take part, and why."""

    def proved(self, rows: Sequence[Row]) -> bool:
        """Whether every gap that was to be certified is: those that rows tell of."""
        return all(row.get("certified", True) for row in rows)

    def leave(self, rows: Sequence[Row], command: str, machine: Machine) -> None:
        """Write what a bench leaves behind besides its tables; most leave nothing."""

    def execute(self, command: str) -> int:
        """Run all cells, show the tables and where they were measured, write them if asked."""
        cells = self.cells()
        with watching(self.name) as watch:
            outcome = run(self, cells, watch=watch)
        if outcome.interrupted:
            raise KeyboardInterrupt
        reasons = dict.fromkeys(reason for _, reason in outcome.left_out)
        tables, machine = self.tables(outcome.rows, list(reasons)), Machine.here()
        console = Console()
        for table in tables:
            show(table, console)
        console.print(str(machine), markup=False, highlight=False)
        if self.out is not None:
            page = markdown(self.name, tables, command=command, machine=machine)
            sheets = {f"{self.name}-{i}.csv": t.csv() for i, t in enumerate(tables, start=1)}
            written(write_files(self.out, {f"{self.name}.md": page} | sheets), console)
        self.leave(outcome.rows, command, machine)
        return 0 if self.proved(outcome.rows) else FAILED
