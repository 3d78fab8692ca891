"""The rounds of runs: a table of each, and a slider over them that moves a marker in the charts.

Nothing is stored twice: the script (``templates/scrubber.js``) copies the cells of the table of
rounds, which stands on the page anyway, so that without scripts the page says the same.

>>> thinned(range(10), 4)
[0, 1, 5, 9]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from markupsafe import Markup

from structopt.report.table import Table
from structopt.report.template import count, number
from structopt.run.events import Round
from structopt.run.result import Result

T = TypeVar("T")

SCRIPT = "scrubber.js"

ROUND_COLUMNS = (
    "Round",
    "Seconds",
    "Upper bound",
    "Lower bound",
    "Relative gap",
    "Value",
    "Violation",
    "Cuts added",
    "Cuts dropped",
    "Cuts standing",
    "Nonzero weights",
    "Solver iterations",
    "Oracle s",
    "Lift s",
    "Solve s",
)


class RunRow(NamedTuple):
    """The row of a run below the slider: its name, the ident of its rounds, its last round."""

    name: str
    rounds: str
    cells: Sequence[Markup]


@dataclass(frozen=True)
class Scrubber:
    """The slider and a table with one row a run, at first its last round.

    Attributes
    ----------
    ident : str
        Unique on the page; markers in charts name it.
    most : int
        The last round.
    several : bool
        Whether rows have names.
    rows : list of RunRow
    """

    ident: str
    most: int
    several: bool
    rows: list[RunRow]
    caption: str = "The round that the slider stands at, or the last before it"

    columns = ROUND_COLUMNS

    @property
    def head(self) -> list[str]:
        """Column names."""
        return [*(["Run"] if self.several else []), *ROUND_COLUMNS]

    @classmethod
    def of(
        cls, ident: str, runs: Mapping[str, Result], idents: Mapping[str, str]
    ) -> Scrubber | None:
        """Return the slider over runs, those without a finished round left out; None if none is.

        ``idents`` are those of the tables of rounds, by run.
        """
        shown = {name: run.history for name, run in runs.items() if run.history}
        if not shown:
            return None
        most = max(history[-1].round for history in shown.values())
        rows = [RunRow(name, idents[name], round_cells(h[-1])) for name, h in shown.items()]
        return cls(ident, most, len(runs) > 1, rows)


def round_table(ident: str, history: Sequence[Round], *, most: int, caption: str = "") -> Table:
    """Return the rounds of a run as a table that a scrubber can read, thinned to `most` rows."""
    shown = thinned(history, most)
    left_out = len(history) - len(shown)
    words = count(len(shown), "round") + (
        f"; {left_out} in the middle are left out" if left_out else ""
    )
    words = f"{caption}: {words}" if caption else words
    rows = [round_cells(r) for r in shown]
    return Table(words, ROUND_COLUMNS, rows, ident=ident, total=len(history))


def round_cells(r: Round) -> list[Markup]:
    """Return one round as cells, in the order of `ROUND_COLUMNS`."""
    return [
        number(r.round),
        number(r.seconds, 4),
        number(r.primal, 8),
        number(r.dual, 8),
        number(r.relative_gap, 3),
        number(r.value, 8),
        number(r.violation, 3),
        number(r.cuts_added),
        number(r.cuts_dropped),
        number(r.cuts),
        number(r.nonzeros),
        number(r.iterations),
        number(r.oracle_seconds, 3),
        number(r.lift_seconds, 3),
        number(r.solve_seconds, 3),
    ]


def thinned(items: Sequence[T], most: int) -> list[T]:
    """Return about `most` items: the beginning and the end, and every k-th in between."""
    if len(items) <= most:
        return list(items)
    edge = max(1, most // 4)
    middle = items[edge:-edge]
    every = -(-len(middle) // max(1, most - 2 * edge))
    return [*items[:edge], *middle[::every], *items[-edge:]]
