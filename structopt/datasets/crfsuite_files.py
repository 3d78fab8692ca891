r"""Data files of CRFsuite: a line a token, its label first, then its attributes, tabs between.

An attribute may have a number behind a colon; ``\:`` and ``\\`` stand for the characters. An empty
line ends a sequence.

>>> import pathlib, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = pathlib.Path(folder, "train.crfsuite")
...     _ = path.write_text("B-NP\tw=the\tn:3\nI-NP\tw=a\\:b\n\n")
...     read_crfsuite(path)
([[{'w=the': 1.0, 'n': 3.0}, {'w=a:b': 1.0}]], [['B-NP', 'I-NP']])
"""

from __future__ import annotations

import math
import os
import re

from structopt.datasets.text_files import at, read_lines
from structopt.errors import FileFormatError
from structopt.parameters import checked

_ESCAPED = re.compile(r"\\(.)")
_PARTS = re.compile(r"((?:[^:\\]|\\.)*)(?::(.*))?", re.DOTALL)


@checked
def read_crfsuite(
    path: str | os.PathLike[str],
) -> tuple[list[list[dict[str, float]]], list[list[str]]]:
    """Read sequences of tokens, each a mapping of attributes to numbers, and their labels.

    Parameters
    ----------
    path : path
        UTF-8, gzipped or not.

    Raises
    ------
    FileFormatError
        With the file, the line and the reason.
    """
    X: list[list[dict[str, float]]] = [[]]
    Y: list[list[str]] = [[]]
    for number, line in read_lines(path):
        if not line.strip():
            X.append([])
            Y.append([])
            continue
        label, *fields = line.split("\t")
        if not label:
            raise at(path, number, "there is no label before the first tab")
        token: dict[str, float] = {}
        for field in filter(None, fields):
            found = _PARTS.fullmatch(field)
            name, value = (found[1], found[2]) if found else (field, None)
            try:
                weight = 1.0 if value is None else float(value)
            except ValueError:
                weight = math.nan
            if not math.isfinite(weight):
                reason = f"{value!r} behind {name!r} is no number; write a colon in a name as \\:"
                raise at(path, number, reason)
            name = _ESCAPED.sub(r"\1", name)
            token[name] = token.get(name, 0.0) + weight
        X[-1].append(token)
        Y[-1].append(label)
    pairs = [(x, y) for x, y in zip(X, Y, strict=True) if x]
    if not pairs:
        raise FileFormatError(f"{os.fspath(path)} holds no sequence.")
    return [x for x, _ in pairs], [y for _, y in pairs]
