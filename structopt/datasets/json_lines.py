r"""Sequences as JSON lines: ``{"tokens": [...], "tags": [...]}``, one a line.

Tokens are strings, lists of columns, or mappings of attributes.

>>> import pathlib, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = pathlib.Path(folder, "train.jsonl")
...     _ = path.write_text('{"tokens": ["the", "cat"], "tags": ["DT", "NN"]}\n')
...     read_json_lines(path)
([['the', 'cat']], [['DT', 'NN']])
"""

from __future__ import annotations

import json
import os
from typing import Any

from structopt.datasets.text_files import at, read_lines
from structopt.errors import FileFormatError
from structopt.parameters import checked


@checked
def read_json_lines(
    path: str | os.PathLike[str], *, tokens: str = "tokens", tags: str | None = "tags"
) -> tuple[list[list[Any]], list[list[Any]] | None]:
    """Read sequences of tokens and their tags.

    Parameters
    ----------
    path : path
        UTF-8, gzipped or not.
    tokens, tags : str
        Names of the two lists; None if there are no tags. Where no line has tags, None is returned
        for them.

    Raises
    ------
    FileFormatError
        With the file, the line and the reason.
    """
    X: list[list[Any]] = []
    Y: list[list[Any]] = []
    for number, line in read_lines(path):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise at(path, number, f"not JSON ({error})") from error
        if not isinstance(record, dict) or not isinstance(record.get(tokens), list):
            raise at(path, number, f"expected an object with a list {tokens!r}")
        if not record[tokens]:
            raise at(path, number, f"{tokens!r} is empty: leave out sequences without tokens")
        if tags is not None and X and (tags in record) != bool(Y):
            raise at(path, number, f"{tags!r} is there in some lines and missing in others")
        if tags is not None and tags in record:
            given = record[tags]
            if not isinstance(given, list) or len(given) != len(record[tokens]):
                raise at(path, number, f"expected a list {tags!r} with one entry a token")
            Y.append(given)
        X.append(record[tokens])
    if not X:
        raise FileFormatError(f"{os.fspath(path)} holds no sequence.")
    return X, Y or None
