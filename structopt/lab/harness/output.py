r"""What a study leaves behind: the one writer of its files, and what stands above its tables.

>>> print(markdown("ages", [Table("Ages", ("who", "years"), (("Ada", "36"),))], command="age"))
... # doctest: +ELLIPSIS
# ages
<BLANKLINE>
`age`
<BLANKLINE>
...
| Ada | 36 |
<BLANKLINE>
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from structopt.files import write_atomically
from structopt.lab.harness.machine import Machine
from structopt.lab.harness.table import Table


def write_files(folder: str | os.PathLike[str], files: Mapping[str, str | bytes]) -> list[Path]:
    """Write files into a folder, each whole or not at all; return their paths."""
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        write_atomically(home / name, content.encode() if isinstance(content, str) else content)
    return [home / name for name in files]


def markdown(
    title: str,
    tables: Sequence[Table],
    *,
    command: str,
    notes: Sequence[str] = (),
    machine: Machine | None = None,
) -> str:
    """Return tables below the command that made them, notes, and where they were measured."""
    head = [f"# {title}", f"`{command}`", *notes, str(machine or Machine.here())]
    return "\n\n".join(head) + "\n\n" + "\n".join(table.markdown() for table in tables)


def csv_of(rows: Sequence[Mapping[str, Any]]) -> str:
    r"""Return rows as CSV, lists as JSON.

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
