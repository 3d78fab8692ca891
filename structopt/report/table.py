"""Tables of a page: cells are text, or numbers that keep their value."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """What the template of a table takes.

    Attributes
    ----------
    caption : str
        What the table shows.
    head : sequence of str
        Column names.
    rows : sequence of sequences
        Cells: text or Markup. The first of each row is the row's header.
    words : container of int
        Columns that hold words and not numbers: these begin at the left.
    ident : str
        Id of the table's body, for scripts.
    notes : sequence of str
        Sentences below it.
    total : int
        How many rows there would be if none were left out.
    kind : str
        A class of the style sheet.
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[object]]
    words: Container[int] = ()
    ident: str = ""
    notes: Sequence[str] = ()
    total: int = 0
    kind: str = ""
