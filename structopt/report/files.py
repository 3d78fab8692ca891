"""Files that are either whole or not there.

>>> import pathlib, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     write_atomically(pathlib.Path(folder, "a.txt"), b"whole")
...     [entry.name for entry in pathlib.Path(folder).iterdir()]
['a.txt']
"""

from __future__ import annotations

import os
import threading
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file beside its place and move it there, so that no reader sees half of it."""
    target = Path(path)
    # Not tempfile: its files are private to the user, and a report is made to be shared.
    draft = target.with_name(f".{target.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        draft.write_bytes(data)
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)
