"""A comparison as files: ``compare.csv`` (every run), tables as Markdown and CSV, and a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from structopt.lab.compare.page import comparison_page
from structopt.lab.compare.tables import LIMITATIONS, cpu_split, sequence_tables, tables
from structopt.lab.harness.output import markdown
from structopt.lab.harness.table import Table

if TYPE_CHECKING:
    from structopt.lab.compare.compare import Comparison, Run

COLUMNS = (
    "formulation", "data", "backend", "repetition", "outcome", "cpu_seconds", "wall_seconds",
    "cost", "objective", "lower_bound", "relative_gap", "rounds", "cuts_added", "cuts_dropped",
    "nonzeros", "oracle_seconds", "lift_seconds", "solve_seconds", "other_seconds", "solver",
    "reason",
)  # fmt: skip


def files_of(done: Comparison, command: str) -> dict[str, str | bytes]:
    """Return ``compare.csv``, ``compare-sequences.csv``, ``compare.md`` and ``compare.html``."""
    text = markdown("Solver comparison", tables(done), command=command, machine=done.machine)
    limits = "\n".join(f"- {limit}" for limit in LIMITATIONS)
    files: dict[str, str | bytes] = {
        "compare.csv": runs_table(done).csv(),
        "compare.md": f"{text}\n### Limitations\n\n{limits}\n",
        "compare.html": comparison_page(done, command=command),
    }
    for table in sequence_tables(done):
        files["compare-sequences.csv"] = table.csv()
    return files


def runs_table(done: Comparison) -> Table:
    """Return every repetition of every backend, refusals included."""
    rows: list[tuple[str, ...]] = []
    for problem in done.problems:
        key = (problem.formulation, problem.data)
        for backend, runs in problem.runs.items():
            for repetition, run in enumerate(runs, start=1):
                cost = problem.limit if run.reason else run.cpu
                outcome = "failed" if run.reason else "solved"
                numbers = _numbers(run)
                rows.append(
                    (*key, backend, f"{repetition}", outcome, f"{run.cpu!r}", numbers[0],
                     f"{cost!r}", *numbers[1:], run.reason)
                )  # fmt: skip
        empty = [""] * (len(COLUMNS) - 6)
        rows += [(*key, b, "", "refused", *empty, why) for b, why in problem.refusals.items()]
    return Table("Runs", COLUMNS, tuple(rows))


def _numbers(run: Run) -> list[str]:
    """Return the cells from wall_seconds to solver, without cost."""
    result = run.result
    if result is None:
        return [""] * 13
    c, history = result.certificate, result.history
    values = [
        result.seconds, c.primal, c.dual, c.relative_gap, len(history),
        sum(r.cuts_added for r in history), sum(r.cuts_dropped for r in history),
        int(np.count_nonzero(result.weights)), *cpu_split(run).values(),
    ]  # fmt: skip
    return [*(f"{value!r}" for value in map(_plain, values)), result.solver]


def _plain(value: float) -> float:
    return value if isinstance(value, int) else float(value)
