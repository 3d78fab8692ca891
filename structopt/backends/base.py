"""Who solves a master problem: the contract of every backend.

A backend states in :meth:`Backend.refusal` what it cannot take, is started on a compiled master,
receives rows as they are found, and is asked to solve again and again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Floats
from structopt.master.cuts import Cuts
from structopt.master.program import Program
from structopt.master.program import Status as Status
from structopt.parameters import Parameters


@dataclass(frozen=True)
class MasterSolution:
    r"""What a backend found.

    Multipliers belong to the Lagrangian ``f(x) - y.(Ax - b)``: y >= 0 on an active lower side,
    y <= 0 on an active upper side.

    Attributes
    ----------
    status : str
        "optimal"; "inaccurate" when x and multipliers exist but the tolerance was missed (nothing
        is lost: the certificate judges them); "infeasible", "unbounded", "failed".
    x : array
        All columns of the program. A direction of descent, or zeros, if "unbounded".
    cut_duals : array
        One multiplier per cut row, in the order the rows were appended.
    static_duals : array or None
        One multiplier per static row, then one per row of the cones; None when the backend cannot
        tell. Of rows that clash ("infeasible") multipliers that show it, or zeros.
    iterations : int
        Iterations in the solver's own unit.
    message : str
        The solver's own words, for errors.
    weight : float
        Of this solution among those that are averaged; 0 where averages are not worth their time.
    """

    status: Status
    x: Floats
    cut_duals: Floats
    static_duals: Floats | None
    iterations: int
    message: str = ""
    weight: float = 1.0


class Compiled(Protocol):
    """What backends need of a master; only the reference backend needs the master itself."""

    @property
    def program(self) -> Program:
        """The compiled static part."""


class Backend(Parameters, ABC):
    """Base of the backends. Options are constructor arguments; `start` binds a master.

    Examples
    --------
    >>> import structopt as so
    >>> issubclass(so.HiGHS, so.Backend), so.HiGHS.takes_quadratic, so.Clarabel.takes_conic
    (True, False, True)
    >>> X, Y = so.datasets.make_chain_crf(3, n_features=5, n_relevant=3, seed=0)
    >>> try:
    ...     so.StructuredClassifier(so.Chain(), so.M3N(), backend="highs").fit(X, Y)
    ... except so.errors.IncompatibleError as refusal:
    ...     print(str(refusal).split(":")[0])
    The 'highs' backend takes linear programmes; this one is quadratic. Backends that take it
    """

    name: ClassVar[str]
    checked_in = "start"
    takes_quadratic: ClassVar[bool] = False
    """Whether a quadratic objective can be taken."""
    takes_conic: ClassVar[bool] = False
    """Whether programmes with cones can be taken."""
    takes_maps: ClassVar[bool] = True
    """Whether ``cut.delta`` may multiply an affine map of the variables."""
    automatic: ClassVar[bool] = True
    """Whether ``backend="auto"`` may pick it."""
    keeps_time: ClassVar[bool] = False
    """Whether `solve` keeps its ``time_limit``; one that does not is waited for, and left behind
    (:mod:`structopt.run.watch`)."""

    max_age: ClassVar[int] = 10
    """Rounds that a cut may stay idle before it is dropped (10 halved HiGHS' time at no extra
    pass; 3 cost 44% more passes)."""

    moving: ClassVar[bool] = False
    """Whether solves differ even without new cuts, so that multipliers are worth averaging."""

    finisher: ClassVar[str | None] = None
    """The exact backend that finishes for an iterative one when no new cuts come."""

    def __init_subclass__(cls) -> None:
        """Wait for a class that solves in its own way, unless it says that it keeps time."""
        super().__init_subclass__()
        if {"solve", "_optimise"} & vars(cls).keys() and "keeps_time" not in vars(cls):
            cls.keeps_time = False

    def told(self, value: float, dual: float, middle: float) -> None:
        """Hear about a round: the objective at the weights, the lower bound, an estimate between.

        Only a `moving` backend is told.
        """
        return

    def refusal(self, program: Program, samples: Sequence[Cuts] = ()) -> str | None:
        """Return why this backend cannot take a master, or None if it can.

        ``samples`` holds one row of each cut family.
        """
        if program.is_conic and not self.takes_conic:
            return f"The {self.name!r} backend takes linear and quadratic programmes, not cones."
        if program.asked and not self.takes_maps:
            return f"The {self.name!r} backend takes cut.delta against the weights alone."
        if not program.is_linear and not self.takes_quadratic:
            return f"The {self.name!r} backend takes linear programmes; this one is quadratic."
        return None

    def suits(self, program: Program) -> bool:
        """Return whether ``backend="auto"`` may pick it for a programme of this size."""
        return self.automatic

    def settings(self, tolerance: float) -> Mapping[str, object]:
        """Return what a tolerance is turned into: the solver's own options, for tables."""
        return {}

    @abstractmethod
    def start(self, master: Compiled) -> None:
        """Set up the master without cuts."""

    @abstractmethod
    def append(self, rows: Cuts) -> None:
        """Add cut rows."""

    @abstractmethod
    def delete(self, keep: NDArray[np.bool_]) -> None:
        """Keep only the cut rows where ``keep`` is true."""

    def resume(self, master: Compiled) -> bool:
        """Go on with the rows as they are under another master's objective; False if that fails.

        The master is one that this backend takes, with the same rows over the same columns. What
        the backend has found, multipliers or a basis, is where its next solve starts.
        """
        return False

    def warm(self, cut_duals: Floats, weights: Floats | None = None) -> None:
        """Start from given multipliers of all cuts, and weights, where the backend can."""

    @abstractmethod
    def solve(self, *, tolerance: float, time_limit: float | None = None) -> MasterSolution:
        """Solve to a relative duality gap of about ``tolerance``, warm from the last solution."""
