"""Ctrl-C: in a fit, and in commands that run many of them.

A fit that hears Ctrl-C returns its best model, and whoever called it goes on. The first one is held
back (:func:`held_back`) until the round is over, so that it never strikes between two instructions
that belong together; a second one ends the round where it is.

Inside :func:`ending_at_once` Ctrl-C raises :class:`Interrupted` instead, which no fit keeps to
itself: a table must not hold half a model, and what comes after it must not start.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Interrupted(KeyboardInterrupt):
    """Ctrl-C that ends a command, not only the fit that is running."""


class HeldBack:
    """A Ctrl-C that waits to be taken."""

    def __init__(self) -> None:
        self._waits = self._taken = False

    def hear(self, number: int, frame: Any) -> None:
        """Hold the signal back; raise if one is held back already."""
        if self._waits:
            raise KeyboardInterrupt
        self._waits = True

    def take(self) -> bool:
        """Return whether Ctrl-C was heard, which is the taker's business from now on."""
        waited, self._waits = self._waits, False
        self._taken = self._taken or waited
        return waited

    @property
    def missed(self) -> bool:
        """Whether Ctrl-C was heard and nobody took it."""
        return self._waits and not self._taken


_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_RAISES = signal.default_int_handler  # SIGTERM's as well, if a program says so
_listening: HeldBack | None = None  # signals are the process's, so there is one


@contextmanager
def held_back() -> Iterator[HeldBack]:
    """Hold the first Ctrl-C back until somebody takes it, or to the end.

    Only in the main thread, and where nobody else handles it; SIGTERM too, where a program has set
    its handler to ``signal.default_int_handler``. What is inside another one listens to that one.

    >>> before = signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a terminal
    >>> with held_back() as ctrl_c:
    ...     signal.raise_signal(signal.SIGINT)
    ...     ctrl_c.take()
    True
    >>> _ = signal.signal(signal.SIGINT, before)
    """
    global _listening
    if _listening is not None and threading.current_thread() is threading.main_thread():
        yield _listening
        return
    found = HeldBack()
    elsewhere = threading.current_thread() is not threading.main_thread()
    numbers = [] if elsewhere else [n for n in _SIGNALS if signal.getsignal(n) is _RAISES]
    if not numbers:
        yield found
        return
    try:
        _listening = found
        for number in numbers:
            signal.signal(number, found.hear)
        yield found
    finally:
        _listening = None
        for number in numbers:
            signal.signal(number, _RAISES)
    if found.missed:
        raise KeyboardInterrupt


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


def origin(error: BaseException) -> BaseException:
    """Return the Ctrl-C that led to an error, or the error itself."""
    at: BaseException | None = error
    while at is not None and not isinstance(at, KeyboardInterrupt):
        at = at.__cause__ or at.__context__
    return error if at is None else at
