"""``structopt compare``: every backend on every formulation and data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from structopt.lab.compare.compare import compare_backends
from structopt.lab.compare.stats import order_changes, read_costs
from structopt.lab.compare.tables import cost_table, ranking_table
from structopt.lab.harness import arguments
from structopt.lab.harness.runner import Step
from structopt.lab.harness.terminal import FAILED, show, watching, written


def _only() -> Any:
    return arguments.argument(
        None, "only this one (may be repeated)", action="append", metavar="NAME"
    )


@dataclass
class Compare(arguments.Command):
    """The command."""

    quick: bool = arguments.quick("smaller data: under a minute")
    formulation: Sequence[str] | None = _only()
    data: Sequence[str] | None = _only()
    backend: Sequence[str] | None = _only()
    tol: float = arguments.argument(1e-2, "relative certified gap", metavar="GAP")
    time_limit: float | None = arguments.limit(None, "20, quick 5: what a failure costs")
    repeats: int | None = arguments.repeats(None, "3, quick 2")
    against: str | None = arguments.argument(
        None, "an earlier comparison: does it rank the same way?", metavar="DIR"
    )
    out: str = arguments.out("structopt-compare", "where CSV, Markdown, HTML go")

    def execute(self, command: str) -> int:
        """Compare, show the ranking and the costs, write everything."""
        earlier = None
        if self.against is not None:  # before any work: the folder may be the one written to
            earlier = read_costs(Path(self.against) / "compare.csv")
        with watching("compare") as watch:
            done = compare_backends(
                self.formulation, self.data, self.backend, quick=self.quick, tol=self.tol,
                time_limit=self.time_limit, repeats=self.repeats,
                report=lambda text: watch(Step(text)),
            )  # fmt: skip
        console = Console()
        for table in (ranking_table(done), cost_table(done)):  # the files have more
            show(table, console)
        console.print(str(done.machine), markup=False, highlight=False)
        if earlier is not None:
            pairs, changed = order_changes(earlier, done.costs)
            console.print(
                f"{self.against} ranks {pairs - len(changed)} of {pairs} pairs of backends the "
                "same way." + "".join(f"\n  {change}" for change in changed),
                markup=False, highlight=False,
            )  # fmt: skip
        written(done.write(self.out, command=command), console)
        return 0 if done.agree else FAILED
