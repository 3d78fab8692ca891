"""When a run ends: one frozen object that every method takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TypedDict

from structopt.errors import InvalidInputError
from structopt.parameters import Count, NonNegative, PositiveOrInfinite, check_annotated
from structopt.run.events import Callback


@dataclass(frozen=True)
class Limits:
    """The limits of a run.

    Attributes
    ----------
    tol, abs_tol : float
        Relative and absolute certified gap to stop at; either suffices.
    max_iter : int, optional
        Rounds at most; None is the method's own number (10,000; 20 epochs of online methods).
    time_limit : float, optional
        Seconds after which no new round begins.
    callbacks : sequence of callables
        Each is called with every :class:`~structopt.Round`; True stops the run.

    Examples
    --------
    >>> Limits(tol=1e-2).max_iter is None
    True
    >>> Limits(max_iter=0)
    Traceback (most recent call last):
    ...
    structopt.errors.InvalidInputError: max_iter must be an integer >= 1 or None; got 0 (Limits).
    """

    tol: NonNegative = 1e-3
    abs_tol: NonNegative = 0.0
    max_iter: Count | None = None
    time_limit: PositiveOrInfinite | None = None
    callbacks: Sequence[Callback] = ()

    def __post_init__(self) -> None:
        check_annotated(Limits.__init__, vars(self), "Limits")
        given = self.callbacks if isinstance(self.callbacks, Sequence) else (self.callbacks,)
        if not all(callable(callback) for callback in given):
            raise InvalidInputError(
                f"callbacks must be functions of a Round; got {self.callbacks!r} (Limits)."
            )
        object.__setattr__(self, "callbacks", tuple(self.callbacks))

    def reached(self, seconds: float) -> bool:
        """Return whether the time is up."""
        return self.time_limit is not None and seconds >= self.time_limit

    def remaining(self, seconds: float) -> float | None:
        """Return the seconds that are left, at least a millisecond; None without a limit."""
        return None if self.time_limit is None else max(1e-3, self.time_limit - seconds)


class LimitOptions(TypedDict, total=False):
    """The same as keyword arguments; ``limits`` gives them all at once."""

    limits: Limits
    tol: float
    abs_tol: float
    max_iter: int | None
    time_limit: float | None
    callbacks: Sequence[Callback]


NAMES = tuple(field.name for field in fields(Limits))
