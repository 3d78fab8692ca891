"""What is measured: cells, and what one of them measures.

>>> rows = [{"learner": "a", "turn": k, "cpu": s} for k, s in enumerate((3.0, 1.0, 2.0))]
>>> median(where(rows, learner="a"), "cpu")
2.0
"""

from __future__ import annotations

import statistics
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

from structopt.errors import InvalidInputError

Cell = dict[str, Any]
"""The parameters of one small, independent job; plain JSON values, and all that it depends on."""
Row = dict[str, Any]
"""A finished cell: its parameters, its numbers, and ``cell_cpu``, the CPU seconds it took."""
T = TypeVar("T")
TURN = "turn"
"""The key that tells the repetitions of a contender apart."""


class Study(ABC):
    """Cells and what each of them measures; the loop over them is :mod:`.runner`'s.

    Attributes
    ----------
    name : str
        Of its files.
    version : int
        Raise it when the code changes what a cell gives: stored cells then no longer count.
    runs_of : str or None
        The study whose stored cells these are, where two look at the same runs.
    excuses : tuple of exception types
        A contender that raises one of them is left out, with its reason; others end the study.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    runs_of: ClassVar[str | None] = None
    excuses: ClassVar[tuple[type[Exception], ...]] = ()

    @abstractmethod
    def run(self, cell: Cell) -> dict[str, Any]:
        """Do one job and return its numbers; lists and text are allowed."""

    def warm_up(self, cell: Cell) -> None:  # noqa: B027  most have nothing to compile
        """Compile what a contender needs; called once, before its first cell."""

    def label(self, cell: Cell) -> str:
        """Name a cell in the progress line."""
        return ", ".join(f"{key} {value}" for key, value in cell.items())


def turns(names: Sequence[T], turn: int) -> list[T]:
    """Return the order of a turn: each contender goes first equally often.

    >>> turns(["a", "b", "c"], 1)
    ['b', 'c', 'a']
    """
    start = turn % len(names)
    return [*names[start:], *names[:start]]


def in_turns(contenders: Sequence[Cell], repeats: int) -> list[Cell]:
    """Return a cell for each contender and repetition, interleaved: a busy machine slows all.

    >>> [(cell["who"], cell["turn"]) for cell in in_turns([{"who": "a"}, {"who": "b"}], 2)]
    [('a', 0), ('b', 0), ('b', 1), ('a', 1)]
    """
    if repeats < 1:
        raise InvalidInputError(f"repeats must be at least 1; got {repeats}.")
    return [cell | {TURN: k} for k in range(repeats) for cell in turns(contenders, k)]


def where(rows: Sequence[Row], **values: Any) -> list[Row]:
    """Return the rows in which some keys have these values."""
    return [row for row in rows if all(row.get(key) == value for key, value in values.items())]


def every(rows: Sequence[Row], *keys: str) -> list[Any]:
    """Return the values of a key (or tuples of several), each once, in the order of the rows."""
    found = (tuple(row[key] for key in keys) for row in rows)
    return list(dict.fromkeys(values if len(keys) > 1 else values[0] for values in found))


def median(rows: Sequence[Row], key: str) -> float:
    """Return the middle value of a number: one disturbed repetition does not move it."""
    return statistics.median(float(row[key]) for row in rows)


def known(names: Sequence[str], table: Sequence[str], what: str) -> list[str]:
    """Return names that all stand in a table, or refuse the first that does not."""
    for name in names:
        if name not in table:
            raise InvalidInputError(f"There is no {what} {name!r}; choose from {', '.join(table)}.")
    return list(names)
