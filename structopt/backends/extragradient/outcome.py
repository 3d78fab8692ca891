"""What a solve takes over, tells on the way, and returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from structopt.arrays import Floats
from structopt.backends.extragradient.scaling import Scale

Variant = Literal["restarted", "paper"]
Status = Literal["optimal", "max_iter", "time_limit", "callback", "infeasible", "unbounded"]


@dataclass(frozen=True)
class Memory:
    """What one solve leaves to the next one of the same, grown problem."""

    step: float
    weight: float
    scale: Scale

    def keep(self, rows: Any) -> Memory:
        """Return the memory without deleted rows."""
        return replace(self, scale=self.scale.keep(rows))


@dataclass(frozen=True)
class Iterate:
    """Where the method stands, for callbacks.

    Attributes
    ----------
    iteration : int
    primal, dual : float
        Objectives of the raw iterate, which is not feasible: the paper's spiral.
    error : float
        The certified gap (or residual, if larger) of the better of iterate and average.
    restarts : int
    """

    iteration: int
    primal: float
    dual: float
    error: float
    restarts: int


Callback = Callable[[Iterate], bool | None]


@dataclass(frozen=True)
class Solution:
    """What was found: the best pair by its certified gap, and why it ended."""

    status: Status
    x: Floats
    y: Floats
    primal: float
    dual: float
    error: float
    iterations: int
    seconds: float
    memory: Memory
