r"""The rows inside the page: from the page alone all tables and figures can be made again.

>>> import tempfile
>>> page = f"<html>{embedded([{'problem': '</script>'}])}</html>"
>>> page.count("</script>")
1
>>> with tempfile.TemporaryDirectory() as folder:
...     path = Path(folder, "page.html")
...     _ = path.write_text(page)
...     page_rows(path)
[{'problem': '</script>'}]
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from structopt.errors import FileFormatError
from structopt.lab.harness.store import plain
from structopt.lab.harness.study import Row

_BEGIN, _END = '<script type="application/json" id="rows">', "</script>"


def embedded(rows: Sequence[Row]) -> str:
    """Return rows as an element of a page, which browsers keep and do not show."""
    text = json.dumps(plain(list(rows)))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return f"{_BEGIN}{text}{_END}"


def page_rows(path: Path) -> list[Row]:
    """Return the rows of a page.

    Raises
    ------
    FileFormatError
        It is no page of a comparison, or holds half of one.
    """
    _, begun, rest = path.read_text(encoding="utf-8", errors="replace").partition(_BEGIN)
    text, ended, _ = rest.partition(_END)
    try:
        rows = json.loads(text) if begun and ended else None
    except (ValueError, RecursionError):
        rows = None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise FileFormatError(f"{path} is no page of a comparison, or not a whole one.")
    return rows
