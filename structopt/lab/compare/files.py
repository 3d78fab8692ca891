"""A comparison as files: ``compare.csv`` (every run), tables as Markdown and CSV, and a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from structopt.lab.compare.page import comparison_page
from structopt.lab.compare.tables import LIMITATIONS, cpu_split, sequence_tables, tables
from structopt.lab.harness.output import csv_of, markdown

if TYPE_CHECKING:
    from structopt.lab.compare.compare import Comparison, Run


def files_of(done: Comparison, command: str) -> dict[str, str | bytes]:
    """Return ``compare.csv``, ``compare-sequences.csv``, ``compare.md`` and ``compare.html``."""
    text = markdown("Solver comparison", tables(done), command=command, machine=done.machine)
    limits = "\n".join(f"- {limit}" for limit in LIMITATIONS)
    files: dict[str, str | bytes] = {
        "compare.csv": csv_of(every_run(done)),
        "compare.md": f"{text}\n### Limitations\n\n{limits}\n",
        "compare.html": comparison_page(done, command=command),
    }
    for table in sequence_tables(done):
        files["compare-sequences.csv"] = table.csv()
    return files


def every_run(done: Comparison) -> list[dict[str, Any]]:
    """Return every repetition of every backend, refusals included."""
    rows: list[dict[str, Any]] = []
    for problem in done.problems:
        key = {"formulation": problem.formulation, "data": problem.data}
        for backend, runs in problem.runs.items():
            for repetition, run in enumerate(runs, start=1):
                rows.append(
                    key
                    | {
                        "backend": backend,
                        "repetition": repetition,
                        "outcome": "failed" if run.reason else "solved",
                        "cpu_seconds": run.cpu,
                        "cost": problem.time_limit if run.reason else run.cpu,
                    }
                    | _numbers(run)
                    | {"reason": run.reason}
                )
        rows += [
            key | {"backend": b, "outcome": "refused", "reason": why}
            for b, why in problem.refusals.items()
        ]
    return rows


def _numbers(run: Run) -> dict[str, Any]:
    result = run.result
    if result is None:
        return {}
    c, history = result.certificate, result.history
    return {
        "wall_seconds": result.seconds,
        "objective": c.primal,
        "lower_bound": c.dual,
        "relative_gap": c.relative_gap,
        "rounds": len(history),
        "cuts_added": sum(r.cuts_added for r in history),
        "cuts_dropped": sum(r.cuts_dropped for r in history),
        "nonzeros": int(np.count_nonzero(result.weights)),
        **{f"{what}_seconds": seconds for what, seconds in cpu_split(run).items()},
        "solver": result.solver,
    }
