r"""Labelled rows in SVMlight's format: a label, then ``number:value`` for what is not 0.

    +1 3:0.5 17:1 # a comment

Labels are kept as they are written; ``qid:`` is left out. Numbers begin at 1.

>>> import pathlib, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = pathlib.Path(folder, "two.svmlight")
...     _ = path.write_text("cat 1:2 3:0.5\ndog 2:1 # barks\n")
...     X, y = read_svmlight(path)
>>> X.toarray().tolist(), y
([[2.0, 0.0, 0.5], [0.0, 1.0, 0.0]], ['cat', 'dog'])
"""

from __future__ import annotations

import math
import os
from array import array
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.datasets.text_files import at, read_lines
from structopt.errors import FileFormatError
from structopt.parameters import checked


@checked
def read_svmlight(
    path: str | os.PathLike[str], n_features: int | None = None
) -> tuple[Any, list[str]]:
    """Read rows and their labels.

    Parameters
    ----------
    path : path
        "-" is standard input; the file may be gzipped.
    n_features : int, optional
        Columns of the matrix: features beyond are left out. By default the largest number there.

    Returns
    -------
    X : CSR array
    y : list of str
    """
    labels: list[str] = []
    columns, values, ends = array("q"), array("d"), array("q", [0])
    for number, line in read_lines(path):
        label, *pairs = line.partition("#")[0].split() or [""]
        if not label:
            continue
        if ":" in label:
            raise at(path, number, f"it begins with {label!r}: the label comes first")
        labels.append(label)
        for pair in pairs:
            column, value = _entry(path, number, pair)
            if value and column and (n_features is None or column <= n_features):
                columns.append(column - 1)
                values.append(value)
        ends.append(len(columns))
    if not labels:
        raise FileFormatError(f"{os.fspath(path)} holds no row.")
    width = max(columns, default=0) + 1 if n_features is None else n_features
    rows = sp.csr_array(
        (np.asarray(values), np.asarray(columns), np.asarray(ends)), shape=(len(labels), width)
    )
    rows.sum_duplicates()
    return rows, labels


def _entry(path: Any, line: int, pair: str) -> tuple[int, float]:
    """Return the column and the value of an entry, (0, 0) of a query's number."""
    name, _, written = pair.partition(":")
    if name == "qid":
        return 0, 0.0
    try:
        value = float(written)
    except ValueError:
        value = math.nan
    if not name.isdecimal() or not 0 < int(name) < 2**31 or not math.isfinite(value):
        raise at(path, line, f"{pair!r}: expected number:value, numbers from 1 on")
    return int(name), value
