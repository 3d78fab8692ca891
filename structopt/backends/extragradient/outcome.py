"""What a solve takes over, tells on the way, and returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from structopt.arrays import Floats
from structopt.backends.extragradient.scaling import Scale

Status = Literal[
    "optimal", "max_iter", "time_limit", "callback", "stopped", "infeasible", "unbounded"
]


@dataclass(frozen=True)
class Memory:
    """What one solve leaves to the next one of the same, grown problem.

    Attributes
    ----------
    weight : float
        The primal weight.
    direction : array
        Singular vector of |A|, to which the step belongs: the next norm is looked for from there.
    scale : Scale
    """

    weight: float
    direction: Floats
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
        Objectives of the pair looked at, which is not feasible: the paper's spiral.
    primal_residual, dual_residual : float
        Relative.
    error : float
        The certified error of the best pair so far.
    restarts, products : int
    weight : float
    """

    iteration: int
    primal: float
    dual: float
    primal_residual: float
    dual_residual: float
    error: float
    restarts: int
    products: int
    weight: float


Callback = Callable[[Iterate], bool | None]


@dataclass(frozen=True)
class Solution:
    """What was found: the best pair by its certified error, and why it ended.

    Attributes
    ----------
    status : str
        "optimal": the error is within the tolerance. "infeasible", "unbounded": proved by `ray`.
        Anything else is why it ended before.
    x, y : arrays
    primal, dual, primal_residual, dual_residual, error : float
        As recomputed from the problem given (:class:`.certificate.Assessment`).
    iterations, restarts, products : int
        Products with A, A' and P.
    seconds : float
    memory : Memory
    ray : array or None
        Multipliers that prove infeasibility, or a direction of endless descent.
    reason : str
        In words, where there is more to say than the status.
    """

    status: Status
    x: Floats
    y: Floats
    primal: float
    dual: float
    primal_residual: float
    dual_residual: float
    error: float
    iterations: int
    restarts: int
    products: int
    seconds: float
    memory: Memory | None
    ray: Floats | None = None
    reason: str = ""
