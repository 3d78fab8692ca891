"""Progress of a run in the terminal, as a callback."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Self, TypeVar

from structopt.run.events import Round

T = TypeVar("T")


def counted(items: Sequence[T], label: str, *, shown: bool) -> Iterable[T]:
    """Yield items, with a bar that counts them in a terminal, if it is wanted."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)  # standard output belongs to the user's program
    hidden = not (shown and console.is_terminal)
    return track(items, label, console=console, transient=True, disable=hidden)


class Progress:
    """A live line with bounds, gap, cuts and time; use it as a context manager and a callback.

    Parameters
    ----------
    label : str
        What is running.
    tol : float
        The relative gap at which the run will stop; the bar shows how far the gap has closed on a
        logarithmic scale.
    """

    def __init__(self, label: str, tol: float) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        console = Console(stderr=True)  # standard output belongs to the user's program

        self._tol = max(tol, 1e-12)
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task(label, total=1.0, note="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def __call__(self, record: Round) -> None:
        """Show one round."""
        gap = record.relative_gap
        done = 0.0 if gap >= 1 else min(1.0, math.log(max(gap, 1e-300)) / math.log(self._tol))
        note = f"round {record.round}  gap {gap:.1e}  cuts {record.cuts}"
        self._bar.update(self._task, completed=done, note=note)
