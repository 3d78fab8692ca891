"""Ctrl-C in commands that run many fits.

A fit that hears Ctrl-C returns its best model, and whoever called it goes on. Inside
:func:`ending_at_once` Ctrl-C raises :class:`Interrupted` instead, which no fit keeps to itself: a
table must not hold half a model, and what comes after it must not start.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Interrupted(KeyboardInterrupt):
    """Ctrl-C that ends a command, not only the fit that is running."""


@contextmanager
def ending_at_once() -> Iterator[None]:
    """Let Ctrl-C raise :class:`Interrupted`, in the main thread: others hear no signals.

    A process that was started to ignore it goes on to do so.

    >>> before = signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a terminal
    >>> with ending_at_once():
    ...     try:
    ...         signal.raise_signal(signal.SIGINT)
    ...     except Interrupted:
    ...         print("ended")
    ended
    >>> _ = signal.signal(signal.SIGINT, before)
    """
    elsewhere = threading.current_thread() is not threading.main_thread()
    if elsewhere or signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, None):
        yield
        return

    def stop(number: int, frame: Any) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
