r"""Handwritten digits of the UCI repository: 64 counts from 0 to 16, then the class.

>>> import pathlib, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = pathlib.Path(folder, "optdigits.tra")
...     _ = path.write_text(",".join(["16"] * 64) + ",7\n")
...     X, y = read_optdigits(path)
>>> X.shape, float(X.max()), y
((1, 64), 1.0, array([7]))
"""

from __future__ import annotations

import os

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.datasets.home import find
from structopt.datasets.text_files import at, read_lines
from structopt.errors import FileFormatError
from structopt.parameters import checked

INPUTS, LARGEST = 64, 16


@checked
def load_optdigits(*, home: str | os.PathLike[str] | None = None) -> tuple[Floats, Ints]:
    """Load the 3,823 training digits from the data home, scaled to [0, 1]."""
    return read_optdigits(find("optdigits", "optdigits.tra", home=home))


@checked
def read_optdigits(path: str | os.PathLike[str]) -> tuple[Floats, Ints]:
    """Read digits; return inputs (n, 64) in [0, 1] and classes.

    Raises
    ------
    FileFormatError
        With the file, the line and the reason.
    """
    rows = []
    for number, line in read_lines(path):
        if not line.strip():
            continue
        fields = line.split(",")
        if len(fields) != INPUTS + 1:
            raise at(path, number, f"{len(fields)} fields, expected {INPUTS + 1}")
        try:
            row = [int(field) for field in fields]
        except ValueError as error:
            raise at(path, number, f"not a whole number: {error}") from error
        if not all(0 <= value <= LARGEST for value in row[:-1]) or not 0 <= row[-1] <= 9:
            raise at(path, number, f"counts are 0..{LARGEST} and classes 0..9")
        rows.append(row)
    if not rows:
        raise FileFormatError(f"{os.fspath(path)} holds no digit.")
    table = np.array(rows, dtype=np.int64)
    return table[:, :-1] / LARGEST, table[:, -1]
