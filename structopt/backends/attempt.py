"""One solve of a backend that may raise, answer nonsense, or not return at all."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from structopt.backends.base import Backend, MasterSolution
from structopt.errors import OutOfTimeError
from structopt.master.declare import RestrictedMaster
from structopt.run.watch import within

logger = logging.getLogger(__name__)


def attempt(
    master: RestrictedMaster, backend: Backend, tolerance: float, time_limit: float | None
) -> MasterSolution:
    """Return what the backend found: "failed", with its words, where it raised or has no numbers.

    Raises
    ------
    OutOfTimeError
        A backend that keeps no time limit of its own did not return; it must not be asked again.
    MemoryError
        Memory ran out.
    """
    wait = None if backend.keeps_time else time_limit
    try:
        found = within(
            wait,
            lambda: backend.solve(tolerance=tolerance, time_limit=time_limit),
            f"Backend {backend.name!r}",
        )
    except (KeyboardInterrupt, SystemExit, MemoryError, OutOfTimeError):
        raise
    except BaseException as error:  # Rust's panics are no subclass of Exception
        logger.warning("The %r backend failed.", backend.name, exc_info=True)
        return _nothing(master, f"{type(error).__name__}: {error}")
    why = _nonsense(master, found)
    return _nothing(master, why) if why else found


def _nonsense(master: RestrictedMaster, found: Any) -> str:
    """Return what is no solution about what a backend says is one."""
    if not isinstance(found, MasterSolution):
        return f"it returned {type(found).__name__}, not a MasterSolution."
    if found.status not in ("optimal", "inaccurate"):
        return ""
    wanted = {"x": (found.x, master.size), "cut_duals": (found.cut_duals, len(master.pool))}
    for name, (values, size) in wanted.items():
        if np.shape(values) != (size,):
            return f"{name} has shape {np.shape(values)}, expected ({size},)."
        if not np.all(np.isfinite(values)):
            return f"{name} is not finite."
    return ""


def _nothing(master: RestrictedMaster, message: str) -> MasterSolution:
    return MasterSolution(
        "failed", np.zeros(master.size), np.zeros(len(master.pool)), None, 0, message
    )
