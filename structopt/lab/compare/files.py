"""A comparison as files: ``compare.csv`` (every run), tables as Markdown and CSV, and a page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from structopt.lab.compare.tables import LIMITATIONS, cpu_split, sequence_tables, tables
from structopt.lab.harness.table import Table

if TYPE_CHECKING:
    from structopt.lab.compare.compare import Comparison, Run

COLUMNS = (
    "formulation", "data", "backend", "repetition", "outcome", "cpu_seconds", "wall_seconds",
    "cost", "objective", "lower_bound", "relative_gap", "rounds", "cuts_added", "cuts_dropped",
    "nonzeros", "oracle_seconds", "lift_seconds", "solve_seconds", "other_seconds", "solver",
    "reason",
)  # fmt: skip


def write_files(done: Comparison, folder: str | os.PathLike[str], command: str) -> list[Path]:
    """Write ``compare.csv``, ``compare-sequences.csv``, ``compare.md`` and ``compare.html``."""
    from structopt.lab.compare.page import write_benchmark

    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    files = {"compare.csv": runs_table(done).csv(), "compare.md": markdown(done, command)}
    for table in sequence_tables(done):
        files["compare-sequences.csv"] = table.csv()
    for name, content in files.items():
        (home / name).write_text(content, encoding="utf-8", newline="")
    write_benchmark(done, home / "compare.html", command=command)
    return [*(home / name for name in files), home / "compare.html"]


def markdown(done: Comparison, command: str) -> str:
    """Return all tables, with the command, the machine and the limitations."""
    shown = "\n".join(table.markdown() for table in tables(done))
    limits = "\n".join(f"- {limit}" for limit in LIMITATIONS)
    return (
        f"# Solver comparison\n\n`{command}`\n\n{done.machine}\n\n{shown}\n"
        f"### Limitations\n\n{limits}\n"
    )


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
