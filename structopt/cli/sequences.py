"""Tagged sequences on the command line: three formats in, the same out again.

columns   one token a line, columns separated by blanks, the tag last (CoNLL, CRF++)
crfsuite  one token a line, the label first, then attributes, tabs between (CRFsuite)
jsonl     one sequence a line: {"tokens": [...], "tags": [...]}
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from structopt.datasets.columns import read_columns
from structopt.datasets.crfsuite_files import read_crfsuite
from structopt.datasets.json_lines import read_json_lines
from structopt.errors import FileFormatError, IncompatibleError, InvalidInputError
from structopt.lab.harness.arguments import argument

FORMATS = ("columns", "crfsuite", "jsonl")


@dataclass
class Sequences:
    """Sequences of a file: inputs, tags if it has them, and how to write them with predictions."""

    X: list[Any]
    Y: list[Any] | None
    format: str
    width: int = 0
    """Columns of a token without its tag; 0 where tokens are mappings."""

    def tagged(self, name: str) -> tuple[list[Any], list[Any]]:
        """Return inputs and tags; refuse a file without tags."""
        if self.Y is None:
            raise FileFormatError(f'{name} holds no tags: the last column or "tags" is missing.')
        return self.X, self.Y

    def lines(self, predicted: Sequence[Sequence[Any]]) -> Iterator[str]:
        """Yield the lines of the file with a column (or a list) of predictions behind."""
        for i, (x, found) in enumerate(zip(self.X, predicted, strict=True)):
            gold = None if self.Y is None else self.Y[i]
            if self.format == "jsonl":
                record = {"tokens": x} | ({} if gold is None else {"tags": gold})
                yield json.dumps(record | {"predicted": list(found)}, ensure_ascii=False)
                continue
            for t, tag in enumerate(found):
                columns = list(x[t]) if self.format == "columns" else []
                yield " ".join([*columns, *([] if gold is None else [gold[t]]), str(tag)])
            yield ""


def read_sequences(path: str, format: str | None, width: int | None = None) -> Sequences:
    """Read a file, or standard input if it is "-".

    Parameters
    ----------
    path : str
    format : str, optional
        By default by the file's name: .jsonl, .crfsuite, else columns.
    width : int, optional
        Columns of a token that a model knows; a further one is the tag. By default all but one.
    """
    ends = PurePath(path.removesuffix(".gz")).suffix
    format = format or {".jsonl": "jsonl", ".crfsuite": "crfsuite"}.get(ends, "columns")
    if format not in FORMATS:
        raise InvalidInputError(f"There is no format {format!r}; choose one of {FORMATS}.")
    if format == "crfsuite":
        return Sequences(*read_crfsuite(path), format)
    if format == "jsonl":
        X, Y = read_json_lines(path)
        if isinstance(X[0][0], dict):
            return Sequences(X, Y, format)
        rows = [[[token] if isinstance(token, str) else token for token in x] for x in X]
        return _Words(rows, Y, format, len(rows[0][0]), X)
    found = [sentence.rows for sentence in read_columns(path)]
    have = len(found[0][0])
    wanted = have - 1 if width is None else width
    if not 1 <= wanted <= have <= wanted + 1:
        need = "at least 2" if width is None else f"{width}, or {width + 1} with the tag"
        raise FileFormatError(f"{path} has {have} columns; expected {need}.")
    Y = [[row[-1] for row in rows] for rows in found] if have > wanted else None
    return Sequences([[row[:wanted] for row in rows] for rows in found], Y, format, wanted)


@dataclass
class _Words(Sequences):
    """JSON tokens that are strings or columns: written as they were."""

    raw: list[Any] | None = None

    def lines(self, predicted: Sequence[Sequence[Any]]) -> Iterator[str]:
        return Sequences(self.raw or self.X, self.Y, self.format).lines(predicted)


def known_width(model: Any) -> int | None:
    """Return the columns of a token that a model's features know; None for mappings."""
    if model.features_ is None:
        raise IncompatibleError(
            "The model has no features of its own: train it with `structopt train`, or with "
            "StructuredClassifier(features=...)."
        )
    columns = getattr(model.features_, "columns", None)
    return None if columns is None else len(columns)


def data_argument(help: str = "file with sequences, or - for standard input") -> Any:
    """Return the position of a data file."""
    return argument("-", help, flag="DATA", nargs="?")


def format_argument() -> Any:
    """Return ``--format``."""
    said = "columns, crfsuite or jsonl (by the file's name: .crfsuite, .jsonl, else columns)"
    return argument(None, said, choices=FORMATS, last=True)
