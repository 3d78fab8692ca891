"""Running an experiment's cells: those that are not stored yet, one by one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from threadpoolctl import threadpool_limits

from structopt.lab.harness.experiment import Cell, Experiment, Row
from structopt.lab.harness.store import Store, fingerprint
from structopt.run.interrupts import ending_at_once

Setting = Literal["small", "full"]


@dataclass(frozen=True)
class Step:
    """Where a run is.

    Attributes
    ----------
    label : str
        The cell that begins, or "" at the end.
    done, total : int
        Cells that are finished, and all.
    seconds_left : float or None
        From the mean of those finished in this run.
    """

    label: str
    done: int
    total: int
    seconds_left: float | None


Watch = Callable[[Step], None]


@dataclass(frozen=True)
class Outcome:
    """What an experiment has so far.

    Attributes
    ----------
    rows : tuple of Row
        The finished cells, in the order of the experiment.
    total : int
        All cells of the setting.
    interrupted : bool
        Ctrl-C ended the run; what was finished is kept.
    """

    rows: tuple[Row, ...]
    total: int
    interrupted: bool = False


def keys_of(experiment: Experiment, cells: Sequence[Cell]) -> list[str]:
    """Return the fingerprints of some cells."""
    return [fingerprint(experiment.name, experiment.version, cell) for cell in cells]


def stored(experiment: Experiment, setting: Setting, out: str | os.PathLike[str]) -> Outcome:
    """Return what is in the output folder for a setting, and run nothing."""
    keys = keys_of(experiment, experiment.cells(setting == "full"))
    store = Store(folder_of(experiment, out))
    return Outcome(tuple(store.rows[key] for key in keys if key in store.rows), len(keys))


def run(
    experiment: Experiment,
    setting: Setting,
    out: str | os.PathLike[str],
    *,
    watch: Watch = lambda step: None,
) -> Outcome:
    """Run the cells that are not stored, each on one thread, and store them as they finish.

    Parameters
    ----------
    experiment : Experiment
    setting : {"small", "full"}
    out : path
        The folder that holds one folder an experiment.
    watch : callable
        Called with a :class:`Step` before every cell and at the end.

    Raises
    ------
    StructoptError
        Whatever a cell raises on purpose, such as data that are missing; what was finished is kept.
    """
    cells = experiment.cells(setting == "full")
    keys = keys_of(experiment, cells)
    store = Store(folder_of(experiment, out))
    todo = [(key, cell) for key, cell in zip(keys, cells, strict=True) if key not in store.rows]
    done = len(cells) - len(todo)
    began, interrupted = time.perf_counter(), False
    for k, (key, cell) in enumerate(todo):
        each = (time.perf_counter() - began) / k if k else None
        left = None if each is None else each * (len(todo) - k)
        watch(Step(experiment.label(cell), done + k, len(cells), left))
        start = time.process_time()
        try:
            with ending_at_once(), threadpool_limits(limits=1):
                numbers = experiment.run(cell)
        except KeyboardInterrupt:
            interrupted = True
            break
        store.add(key, cell, numbers | {"cell_cpu": time.process_time() - start})
    rows = tuple(store.rows[key] for key in keys if key in store.rows)
    watch(Step("", len(rows), len(cells), 0.0))
    return Outcome(rows, len(cells), interrupted)


def folder_of(experiment: Experiment, out: str | os.PathLike[str]) -> Path:
    """Return the folder of one experiment."""
    return Path(out) / experiment.name
