"""``structopt compare``: solvers on problems, each answer checked by us."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from structopt.errors import InvalidInputError
from structopt.lab.compare.compare import compare
from structopt.lab.compare.comparison import Comparison
from structopt.lab.compare.stats import slices
from structopt.lab.compare.tables import (
    TIGHT,
    claims_table,
    ranking_table,
    remarks,
    status_table,
)
from structopt.lab.harness import arguments
from structopt.lab.harness.terminal import FAILED, INTERRUPTED, show, watching, written


def _some(help: str, metavar: str, **how: Any) -> Any:
    return arguments.argument(
        None, f"{help} (may be repeated)", action="append", metavar=metavar, **how
    )


@dataclass
class Compare(arguments.Command):
    """The command."""

    problems: Sequence[str] | None = _some(
        "training, masters, public, public/lp, a folder or file of MPS, LP, QPS or npz, or "
        "file.py:function; training and masters unless said", "WHAT",
    )  # fmt: skip
    solver: Sequence[str] | None = _some(
        "a backend, a solver of CVXPY in capitals, highs-ipm, highs-pdlp, ortools-pdlp, or "
        "name=file.py:Class; all unless said", "WHO",
    )  # fmt: skip
    tol: Sequence[float] | None = _some(
        "largest relative residual and gap; 1e-3, 1e-6 and 1e-9, of training 1e-2 unless said",
        "TOL", type=float,
    )  # fmt: skip
    quick: bool = arguments.quick("smaller data for training and masters")
    time_limit: float = arguments.limit(60.0, "60: what a failure costs")
    memory: float = arguments.argument(4.0, "GiB that an attempt may take")
    repeats: int = arguments.repeats(1, "1")
    rerun: bool = arguments.argument(False, "run again what the folder has")
    rerun_timeouts: bool = arguments.argument(False, "run again what was out of time")
    merge: Sequence[str] | None = _some(
        "folders or pages of other machines: run nothing, write them as one", "DIR"
    )
    report: bool = arguments.argument(False, "run nothing, write the folder's files again")
    out: str = arguments.out("structopt-compare", "keeps every row; tables and figures go there")

    def execute(self, command: str) -> int:
        """Compare, show who solves what, write everything."""
        if self.merge or self.report:
            done = Comparison.read(*(self.merge or ()), *([self.out] if self.report else ()))
        else:
            done = self._run()
        console = Console()
        if not done.rows:
            raise InvalidInputError("There is no finished attempt yet: run it again to go on.")
        for key, costs in slices(done.rows).items():
            show(ranking_table(key, costs), console)
        show(claims_table(done), console)
        show(status_table(done), console)
        for said in remarks(done):
            console.print(said, markup=False, highlight=False)
        written(done.write(self.out), console)
        if done.interrupted:
            return INTERRUPTED
        return FAILED if any(tol <= TIGHT for tol in done.contradictions.values()) else 0

    def _run(self) -> Comparison:
        with watching("compare") as watch:
            return compare(
                self.problems, self.solver, tolerances=self.tol, time_limit=self.time_limit,
                memory_limit=self.memory, repeats=self.repeats, quick=self.quick, out=self.out,
                rerun=self.rerun, rerun_timeouts=self.rerun_timeouts, watch=watch,
            )  # fmt: skip
