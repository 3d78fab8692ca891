"""What a run leaves behind: CSV of the cells, Markdown with the paper's numbers, a picture."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Sequence
from pathlib import Path

from structopt.files import write_atomically
from structopt.lab.harness.catalogue import entry_of
from structopt.lab.harness.drawing import new_figure
from structopt.lab.harness.experiment import Experiment, Row
from structopt.lab.harness.machine import Machine
from structopt.lab.harness.runner import Outcome, Setting, folder_of
from structopt.lab.harness.table import Table


def table_of(experiment: Experiment, setting: Setting, outcome: Outcome) -> Table:
    """Return the table of a run, whole or not."""
    entry = entry_of(experiment.name)
    title = f"{entry.paper}, {entry.item} ({setting} setting)"
    table = experiment.table(outcome.rows, title)
    if len(outcome.rows) == outcome.total:
        return table
    partly = f"Not finished: {len(outcome.rows)} of {outcome.total} cells."
    return Table(table.title, table.columns, table.rows, (partly, *table.notes))


def write_outputs(
    experiment: Experiment,
    setting: Setting,
    outcome: Outcome,
    out: str | os.PathLike[str],
    *,
    command: str,
    picture: bool = True,
) -> list[Path]:
    """Write ``small.csv``, ``small.md`` and ``small.png`` (or ``full``); return the files."""
    folder = folder_of(experiment, out)
    folder.mkdir(parents=True, exist_ok=True)
    table, machine = table_of(experiment, setting, outcome), Machine.here()
    cpu = sum(row["cell_cpu"] for row in outcome.rows)
    head = (
        f"# {experiment.name}\n\n{entry_of(experiment.name).what}\n\n`{command}`\n\n"
        f"{cpu:.0f} CPU seconds, one thread. {machine}\n\n"
    )
    files = {
        folder / f"{setting}.csv": csv_of(outcome.rows).encode(),
        folder / f"{setting}.md": (head + table.markdown()).encode(),
    }
    if picture:
        figure, buffer = new_figure(), io.BytesIO()
        experiment.draw(outcome.rows, figure)
        figure.savefig(buffer, format="png", dpi=120)
        files[folder / f"{setting}.png"] = buffer.getvalue()
    for path, content in files.items():
        write_atomically(path, content)
    return list(files)


def csv_of(rows: Sequence[Row]) -> str:
    r"""Return the cells as CSV, lists as JSON.

    >>> csv_of([{"a": 1, "b": [1, 2]}, {"a": 2}])
    'a,b\r\n1,"[1, 2]"\r\n2,\r\n'
    """
    columns = list(dict.fromkeys(key for row in rows for key in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    for row in rows:
        writer.writerow(
            {k: json.dumps(v) if isinstance(v, list | dict) else v for k, v in row.items()}
        )
    return text.getvalue()
