"""Sentences of any form as columns of codes: all tokens in one line, each distinct value once.

A sentence is a list of words, a list of rows (tuples, lists or mappings), or a mapping of column
names to lists; :class:`~structopt.datasets.columns.ColumnSentence` and data frames are such.

>>> tokens = Tokens([["the", "cat"], ["cats"]])
>>> column = tokens.column("word")
>>> column.values, column.codes.tolist(), tokens.offsets.tolist()
(['the', 'cat', 'cats'], [0, 1, 2], [0, 2, 3])
>>> Tokens([[("the", "DT"), ("cat", "NN")]], ("word", "pos")).column("pos").values
['DT', 'NN']
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from structopt.arrays import Floats, Ints, count
from structopt.errors import InvalidInputError


class Column(NamedTuple):
    """Distinct strings and the code of every token; or the number of every token."""

    values: list[str]
    codes: Ints
    numbers: Floats | None = None


class Tokens:
    """All tokens of some sentences.

    Parameters
    ----------
    X : sequence of sentences
    names : sequence of str, optional
        What the columns of rows are called.
    """

    def __init__(self, X: Any, names: Sequence[str] | None = None) -> None:
        if hasattr(X, "columns") and hasattr(X, "shape"):
            raise InvalidInputError(
                "X is one data frame: cut it into sentences with structopt.group_frame(frame, "
                "by=...), where by is the column that says which rows belong together."
            )
        if isinstance(X, str | Mapping) or hasattr(X, "nnz"):
            raise InvalidInputError(f"X is a {type(X).__name__}: give a list of sentences.")
        if count(X) == 0:
            raise InvalidInputError("There are no sentences: give at least one.")
        self.names = None if names is None else _names(names)
        if self.names is not None and (
            not self.names
            or isinstance(names, str)
            or not all(isinstance(name, str) for name in self.names)
        ):
            raise InvalidInputError(f"columns is {names!r}: give a list of names.")
        self.sentences = [_rows(x, i) for i, x in enumerate(X)]
        lengths = [_length(s, i) for i, s in enumerate(self.sentences)]
        self.offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self.total = int(self.offsets[-1])
        self._owner = np.repeat(np.arange(len(lengths)), lengths)

    def column(self, name: str | int, numeric: bool = False) -> Column:
        """Return a column of strings by name or number, or one of numbers if they are wanted."""
        flat: list[Any] = []
        for i, sentence in enumerate(self.sentences):
            flat += self._of(sentence, name, i)
        number: dict[Any, int] = {}
        try:
            codes = [number.setdefault(value, len(number)) for value in flat]
        except TypeError:
            self._refuse(flat, lambda v: isinstance(v, Hashable), name)
        if all(isinstance(value, str) for value in number):
            return Column(list(number), np.array(codes, dtype=np.int64))
        self._refuse(flat, lambda v: numeric and not isinstance(flat[0], str) and _is_real(v), name)
        return Column([], np.zeros(0, dtype=np.int64), np.array(flat, dtype=np.float64))

    def shifted(self, distance: int) -> tuple[Ints, Ints, list[int]]:
        """Return the token at ``distance`` of each, and those for which there is none.

        For these the last list says how far outside: < 0 before the sentence, > 0 behind it.
        """
        where = np.arange(self.total) + distance
        before = self.offsets[:-1][self._owner] - where
        behind = where - self.offsets[1:][self._owner] + 1
        outside = np.flatnonzero((before > 0) | (behind > 0))
        beyond = np.maximum(behind, 0) - np.maximum(before, 0)
        where[outside] = outside
        return where, outside, beyond[outside].tolist()

    def _of(self, sentence: Any, name: str | int, i: int) -> list[Any]:
        """Return a column of one sentence."""
        if isinstance(sentence, Mapping) or hasattr(sentence, "columns"):
            if name not in sentence:
                have = list(getattr(sentence, "columns", sentence))
                raise _no_column(name, have, i)
            return list(sentence[name])
        first = sentence[0]
        if isinstance(first, Mapping):
            try:
                return [row[name] for row in sentence]
            except (KeyError, TypeError):
                have = next((list(r) for r in sentence if name not in r), list(first))
                raise _no_column(name, have, i) from None
        if not _is_row(first):
            if name not in ((0, "word") if self.names is None else (0, *self.names[:1])):
                have = ["word"] if self.names is None else self.names[:1]
                raise _no_column(name, have, i)
            return list(sentence)
        place = self._place(name, first, i)
        try:
            return [row[place] for row in sentence]
        except (IndexError, TypeError):
            t = next(t for t, r in enumerate(sentence) if not _is_row(r) or len(r) <= place)
            raise InvalidInputError(
                f"Token {t} of sentence {i} is {sentence[t]!r}, which has no column {name!r}.",
                example=i,
            ) from None

    def _place(self, name: str | int, row: Any, i: int) -> int:
        if isinstance(name, int):
            if name >= len(row):
                raise _no_column(name, list(range(len(row))), i)
            return name
        if self.names is None and name == "word":
            return 0
        if self.names is None or name not in self.names:
            raise _no_column(name, self.names or list(range(len(row))), i)
        return self.names.index(name)

    def _refuse(self, flat: list[Any], good: Callable[[Any], bool], name: str | int) -> None:
        """Name the first value that is not good, if there is one; a string is good among such."""
        words = isinstance(flat[0], str)
        for t, value in enumerate(flat):
            if not (isinstance(value, str) if words else good(value)):
                i = int(self._owner[t])
                raise InvalidInputError(
                    f"Sentence {i} holds {value!r}, which is no string (column {name!r}, token "
                    f"{t - int(self.offsets[i])}). Columns hold strings, or finite numbers where "
                    "a template takes one column as it is.",
                    example=i,
                )


def _rows(x: Any, i: int) -> Any:
    x = getattr(x, "rows", x)
    if isinstance(x, Mapping) or hasattr(x, "columns"):
        return x
    if isinstance(x, str) or not hasattr(x, "__len__") or len(x) == 0:
        raise InvalidInputError(
            f"Sentence {i} is {x!r}: give a list of at least one word (or row of columns).",
            example=i,
        )
    return list(x)


def _length(sentence: Any, i: int) -> int:
    if isinstance(sentence, list):
        return len(sentence)
    columns = getattr(sentence, "columns", sentence)
    lengths = {str(name): len(sentence[name]) for name in columns}
    if len(set(lengths.values())) != 1 or 0 in lengths.values():
        raise InvalidInputError(
            f"The columns of sentence {i} have lengths {lengths}: give as many tokens in each, and "
            "at least one.",
            example=i,
        )
    return next(iter(lengths.values()))


def _is_row(token: Any) -> bool:
    return isinstance(token, Sequence | np.ndarray | Mapping) and not isinstance(token, str)


def _is_real(value: Any) -> bool:
    known = isinstance(value, numbers.Real | np.bool_)
    return known and math.isfinite(value)


def _no_column(name: str | int, have: list[Any], i: int) -> InvalidInputError:
    return InvalidInputError(
        f"Sentence {i} has no column {name!r}; it has {have[:12]}. Name the columns of rows with "
        "columns=(...), or ask for them by number.",
        example=i,
    )


def _names(given: Any) -> list[Any]:
    """Return what was given as a list; none of what cannot be gone through."""
    try:
        return list(given)
    except TypeError:
        return []
