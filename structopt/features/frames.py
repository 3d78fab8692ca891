"""Data frames with a row a token, as sentences.

Any frame will do whose columns are ``frame[name]`` (pandas, polars, a mapping of lists).

>>> frame = {"sent": [1, 1, 2], "word": ["the", "cat", "hi"], "tag": ["DT", "NN", "UH"]}
>>> X, Y = group_frame(frame, by="sent", target="tag")
>>> X, Y
([{'word': ['the', 'cat']}, {'word': ['hi']}], [['DT', 'NN'], ['UH']])
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from structopt.errors import InvalidInputError
from structopt.parameters import checked


@checked
def group_frame(
    frame: Any,
    *,
    by: str | Sequence[str],
    target: str | None = None,
    columns: Sequence[str] | None = None,
) -> Any:
    """Cut a long data frame into sentences.

    Parameters
    ----------
    frame : data frame
        One row a token.
    by : str or sequence of str
        Columns whose values say which rows belong together, in any order; within a sentence rows
        keep theirs.
    target : str, optional
        Column of labels.
    columns : sequence of str, optional
        Columns to keep; by default all others.

    Returns
    -------
    X : list of dict
        For each sentence its columns, as :class:`~structopt.ColumnFeatures` takes them; sentences
        are in the order in which they begin.
    Y : list of lists
        Labels, if ``target`` is given.
    """
    have = list(frame) if isinstance(frame, Mapping) else list(getattr(frame, "columns", ()))
    keys = [by] if isinstance(by, str) else list(by)
    if not have or not keys:
        raise InvalidInputError(
            f"Give a data frame with columns and the name of those to group by; got a "
            f"{type(frame).__name__} and by={by!r}."
        )
    kept = None if columns is None else list(columns)
    if not all(isinstance(name, Hashable) for name in (*keys, *(kept or ()))):
        raise InvalidInputError("by and columns are names of columns.")
    asked = [*keys, *([] if target is None else [target]), *(kept or ())]
    if missing := [name for name in asked if name not in have]:
        raise InvalidInputError(f"The frame has no column {missing[0]!r}; it has {have}.")
    kept = [c for c in have if c not in asked] if kept is None else kept
    groups = [_values(frame, name) for name in keys]
    number: dict[Any, int] = {}
    codes = [number.setdefault(key, len(number)) for key in zip(*groups, strict=True)]
    if not codes:
        raise InvalidInputError("The frame has no rows.")
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes))[:-1]

    def cut(name: str) -> list[list[Any]]:
        values = _values(frame, name)
        return [
            [values[t] for t in rows] for rows in (part.tolist() for part in np.split(order, ends))
        ]

    by_column = {name: cut(name) for name in kept}
    X = [{name: parts[i] for name, parts in by_column.items()} for i in range(len(number))]
    return X if target is None else (X, cut(target))


def _values(frame: Any, name: str) -> list[Any]:
    column = frame[name]
    return list(column.tolist()) if hasattr(column, "tolist") else list(column)
