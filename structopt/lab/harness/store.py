r"""Finished cells on disk: one JSON line each, so that a run can stop anywhere and go on.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     store = Store(folder)
...     store.add("a1", {"draw": 0}, {"error": 0.25})
...     Store(folder).rows["a1"]
{'draw': 0, 'error': 0.25}
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from structopt.errors import InvalidInputError
from structopt.lab.harness.study import Cell, Row

logger = logging.getLogger(__name__)

FILE = "cells.jsonl"


def fingerprint(name: str, version: int, cell: Cell) -> str:
    """Return what identifies a cell: its experiment, the version of its code, its parameters.

    >>> fingerprint("x", 1, {"a": 1, "b": 2}) == fingerprint("x", 1, {"b": 2, "a": 1})
    True
    """
    text = json.dumps([name, version, plain(cell)], sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def plain(value: Any) -> Any:
    """Return a value as JSON knows it; numbers that are not finite become null.

    >>> plain({"a": np.float64(0.5), "b": (1, float("nan"))})
    {'a': 0.5, 'b': [1, None]}
    """
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise InvalidInputError(f"A cell holds {value!r}, which is neither number, text nor list.")


class Store:
    """The finished cells of one experiment in its folder.

    Attributes
    ----------
    rows : dict of str to Row
        By fingerprint. A line that a kill cut short is left out.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.path = Path(folder) / FILE
        self.rows: dict[str, Row] = {}
        lines = self.path.read_bytes().splitlines() if self.path.is_file() else []
        for number, line in enumerate(lines, start=1):
            try:
                record = json.loads(line)
                self.rows[record["fingerprint"]] = record["cell"] | record["numbers"]
            except (ValueError, KeyError, TypeError, RecursionError):
                logger.warning("%s, line %d is no finished cell; left out", self.path, number)

    def add(self, key: str, cell: Cell, numbers: dict[str, Any]) -> None:
        """Keep a finished cell."""
        cell, numbers = plain(cell), plain(numbers)
        line = json.dumps({"fingerprint": key, "cell": cell, "numbers": numbers}).encode() + b"\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with self.path.open("ab+") as file:
                if file.tell() > 0:
                    file.seek(-1, os.SEEK_END)
                    if file.read(1) != b"\n":  # a kill cut the last line short
                        line = b"\n" + line
                file.write(line)
        except OSError as error:  # a full disk does not say where it is
            raise OSError(error.errno, error.strerror, str(self.path)) from None
        self.rows[key] = cell | numbers
