"""Running a study's cells: those that are not stored yet, one by one, each on one thread."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from threadpoolctl import threadpool_limits

from structopt.lab.harness.store import Store, fingerprint
from structopt.lab.harness.study import TURN, Cell, Row, Study
from structopt.run.interrupts import ending_at_once


@dataclass(frozen=True)
class Step:
    """Where a run is.

    Attributes
    ----------
    label : str
        What begins, or "" at the end.
    done, total : int
        Cells that are finished, and all; 0 of 0 where there are none to count.
    seconds_left : float or None
        From the mean of those finished in this run.
    """

    label: str
    done: int = 0
    total: int = 0
    seconds_left: float | None = None


Watch = Callable[[Step], None]


@dataclass(frozen=True)
class Outcome:
    """What a study has so far.

    Attributes
    ----------
    rows : tuple of Row
        The finished cells, in their order.
    total : int
        All cells.
    interrupted : bool
        Ctrl-C ended the run; what was finished is kept.
    left_out : tuple of (Cell, str)
        Contenders that were excused, and why.
    """

    rows: tuple[Row, ...]
    total: int
    interrupted: bool = False
    left_out: tuple[tuple[Cell, str], ...] = ()


def run(
    study: Study,
    cells: Sequence[Cell],
    *,
    store: Store | None = None,
    watch: Watch = lambda step: None,
) -> Outcome:
    """Run the cells that are not stored, each on one thread, and store them as they finish.

    Parameters
    ----------
    study : Study
    cells : sequence of Cell
    store : Store, optional
        Of cells that were finished before, and of these; without it they are only returned.
    watch : callable
        Called with a :class:`Step` before every cell and at the end.

    Raises
    ------
    StructoptError
        Whatever a cell raises on purpose, such as data that are missing, unless the study excuses
        it; what was finished is kept.
    """
    keys = keys_of(study, cells)
    rows: dict[str, Row] = {} if store is None else store.rows
    todo = [(key, cell) for key, cell in zip(keys, cells, strict=True) if key not in rows]
    done = len(cells) - len(todo)
    warm: set[str] = set()
    lost: dict[str, tuple[Cell, str]] = {}
    began, interrupted = time.perf_counter(), False
    for k, (key, cell) in enumerate(todo):
        contender = {name: value for name, value in cell.items() if name != TURN}
        who = json.dumps(contender)
        if who in lost:
            continue
        each = (time.perf_counter() - began) / k if k else None
        left = None if each is None else each * (len(todo) - k)
        watch(Step(study.label(cell), done + k, len(cells), left))
        try:
            # the one place where threads are limited: CPU seconds mean the same in all studies
            with ending_at_once(), threadpool_limits(limits=1):
                if who not in warm:
                    study.warm_up(cell)
                    warm.add(who)
                start = time.process_time()
                numbers = study.run(cell)
        except KeyboardInterrupt:
            interrupted = True
            break
        except study.excuses as reason:
            lost[who] = contender, str(reason)
            continue
        numbers = numbers | {"cell_cpu": time.process_time() - start}
        if store is None:
            rows[key] = cell | numbers
        else:
            store.add(key, cell, numbers)
    found = tuple(rows[key] for key in keys if key in rows)
    watch(Step("", len(found), len(cells), 0.0))
    return Outcome(found, len(cells), interrupted, tuple(lost.values()))


def keys_of(study: Study, cells: Sequence[Cell]) -> list[str]:
    """Return the fingerprints of some cells."""
    name = study.runs_of or study.name
    return [fingerprint(name, study.version, cell) for cell in cells]
