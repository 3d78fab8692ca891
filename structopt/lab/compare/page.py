"""The page of a comparison: what was found, every attempt to filter, how to run it again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from markupsafe import Markup

from structopt.lab.compare.comparison import SOLVED, Comparison
from structopt.lab.compare.embedded import embedded
from structopt.lab.compare.figures import charts
from structopt.lab.compare.stats import slices
from structopt.lab.compare.tables import (
    LIMITATIONS,
    claims_table,
    cost_table,
    ranking_table,
    remarks,
    split_tables,
    status_table,
    tolerance_table,
)
from structopt.lab.harness.study import every
from structopt.lab.harness.table import Table as LabTable
from structopt.report.table import Table
from structopt.report.template import page, plain_number, render

FILTERS = ("set", "problem", "solver", "tolerance", "status")
COLUMNS = (*FILTERS, "cpu", "error", "primal_residual", "dual_residual", "gap", "objective",
           "iterations", "products", "digest", "message")  # fmt: skip
_WORDS = (0, 1, 2, 4, 12, 13)


class Filter(NamedTuple):
    """A column of the attempts and the values it can be limited to."""

    name: str
    values: list[str]


def comparison_page(done: Comparison) -> bytes:
    """Return a comparison as one self-contained HTML file."""
    parts = slices(done.rows)
    taken = [row for row in done.rows if row["status"] != "refused"]
    cells = [[_cell(row.get(name)) for name in COLUMNS] for row in done.rows]
    heads = [name.replace("_", " ") for name in COLUMNS]
    return page(
        "compare.html",
        script="filters.js",
        title="structopt: solver comparison",
        done=done,
        solved=sum(row["status"] in SOLVED for row in taken),
        taken=len(taken),
        problems=len(every(done.rows, "set", "problem")),
        wrong=sum(row["status"] == "wrong" for row in taken),
        remarks=remarks(done),
        rankings=[_table(ranking_table(key, costs)) for key, costs in parts.items()],
        charts=charts(done),
        claims=[_table(claims_table(done)), _table(status_table(done))],
        tolerances=_table(tolerance_table(done), words=(0, 1, 2)),
        costs=[
            *(_table(cost_table(key, costs)) for key, costs in parts.items()),
            *map(_table, split_tables(done)),
        ],
        filters=[
            Filter(name, list(dict.fromkeys(row[j] for row in cells)))
            for j, name in enumerate(FILTERS)
        ],
        attempts=Table("Attempts", heads, cells, words=_WORDS, ident="attempts"),
        machines=[_machine(machine) for machine in done.machines],
        limitations=LIMITATIONS,
        rows=Markup(embedded(done.stored)),
    )


def _table(given: LabTable, *, words: tuple[int, ...] = (0,)) -> Table:
    return Table(given.title, given.columns, given.rows, words=words, notes=given.notes)


def _cell(value: object) -> str:
    if value is None:
        return ""
    return plain_number(value, 3) if isinstance(value, float) else str(value)


def _machine(machine: Mapping[str, Any]) -> list[tuple[str, object]]:
    versions = ", ".join(f"{name}=={version}" for name, version in machine["versions"].items())
    libraries = ", ".join(
        f"{pool.get('internal_api')} {pool.get('version')}, {pool.get('num_threads')} threads"
        for pool in machine["libraries"] or ()
    )
    return [
        ("machine", machine["machine_id"]),
        ("command", render("code.html", words=machine["command"])),
        ("date", machine["date"]),
        ("processor", f"{machine['processor']}, {machine['cores']} cores, load "
                      f"{machine['load']}, {machine['system']}"),
        ("Python", machine["python"]),
        ("packages", versions),
        ("libraries", libraries),
    ]  # fmt: skip
