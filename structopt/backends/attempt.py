"""One solve of a backend that may raise, answer nonsense, or not return at all."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from structopt.arrays import Floats, as_floats
from structopt.backends.base import Backend, MasterSolution, Status
from structopt.errors import InvalidInputError, OutOfTimeError
from structopt.master.declare import RestrictedMaster
from structopt.run.watch import within

logger = logging.getLogger(__name__)

_LARGEST = 1e150
"""Size above which the square of a number is none."""


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
    try:
        return _read(master, found)
    except InvalidInputError as error:
        return _nothing(master, str(error))


def _read(master: RestrictedMaster, found: Any) -> MasterSolution:
    """Return what a backend says is a solution as arrays of numbers; refuse what is none."""
    if not isinstance(found, MasterSolution):
        raise InvalidInputError(f"it returned {type(found).__name__}, not a MasterSolution.")
    if found.status not in get_args(Status):
        raise InvalidInputError(f"status is {found.status!r}, none of {get_args(Status)}.")
    if found.status not in ("optimal", "inaccurate"):
        return found
    x, cut_duals = _vector("x", found.x, master.size), found.cut_duals
    cut_duals = _vector("cut_duals", cut_duals, len(master.pool))
    if np.abs(x).max(initial=0.0) > _LARGEST:
        raise InvalidInputError(f"x holds numbers above {_LARGEST:.0e}.")
    static_duals = found.static_duals
    if static_duals is not None:
        static_duals = _vector("static_duals", static_duals, master.program.static.shape[0])
    return replace(found, x=x, cut_duals=cut_duals, static_duals=static_duals)


def _vector(name: str, values: Any, size: int) -> Floats:
    """Return so many numbers as an array; refuse what they are not."""
    numbers = as_floats(values, name)
    if numbers.shape != (size,):
        raise InvalidInputError(f"{name} has shape {numbers.shape}, expected ({size},).")
    if not np.all(np.isfinite(numbers)):
        raise InvalidInputError(f"{name} is not finite.")
    return numbers


def _nothing(master: RestrictedMaster, message: str) -> MasterSolution:
    return MasterSolution(
        "failed", np.zeros(master.size), np.zeros(len(master.pool)), None, 0, message
    )
