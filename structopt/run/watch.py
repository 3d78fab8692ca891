"""A call that must not take longer than it may: solvers that do not return.

Solvers that know a time limit are given one. One that does not, or does not keep it, is waited for
in a thread of its own and left behind there: nothing can end it, so it uses its core until it
returns. Code that neither returns nor releases Python's lock cannot be left behind.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from structopt.errors import OutOfTimeError

T = TypeVar("T")

PATIENCE = 1.25
"""How often the seconds that were left a solver may take before it is left behind."""
LEAST = 0.1
"""Seconds that are waited for at least: less says nothing about a solver."""


def within(seconds: float | None, call: Callable[[], T], what: str) -> T:
    """Return what ``call`` returns; None waits as long as it takes.

    Raises
    ------
    OutOfTimeError
        ``what`` did not return in time.

    Examples
    --------
    >>> within(5.0, lambda: 2 + 2, "adding")
    4
    >>> import time
    >>> within(0.01, lambda: time.sleep(1.0), "sleeping")
    Traceback (most recent call last):
    ...
    structopt.errors.OutOfTimeError: sleeping did not return within 0.113 s.
    """
    if seconds is None:
        return call()
    done: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(call())
        except BaseException as error:  # it is raised again where it is waited for
            failed.append(error)

    thread = threading.Thread(target=run, name=f"structopt: {what}", daemon=True)
    thread.start()
    patience = PATIENCE * seconds + LEAST
    thread.join(patience)
    if failed:
        raise failed[0]
    if not done:
        raise OutOfTimeError(f"{what} did not return within {patience:.3g} s.")
    return done[0]
