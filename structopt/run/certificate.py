r"""Bounds on the objective that hold whatever the solver did.

    dual  <=  optimum  <=  primal

The upper bound is the true objective at the returned weights, slacks raised to what exact oracles
ask for (:mod:`structopt.master.separation`); the lower bound is a Lagrangian of the master problem
at multipliers that are checked, not trusted (:mod:`structopt.master.lagrangian`).

>>> c = Certificate(primal=10.0, dual=9.99, tolerance=1e-2)
>>> c.certified, round(c.relative_gap, 6)
(True, 0.001)
"""

from __future__ import annotations

from dataclasses import dataclass

from structopt.run.events import relative

FEASIBLE = 1e-6
"""Violation of the formulation's own constraints up to which weights count as feasible."""


@dataclass(frozen=True)
class Certificate:
    """An upper and a lower bound on the optimum, and what they rest on.

    Attributes
    ----------
    primal : float
        The objective at the returned weights, with exact oracles.
    dual : float
        A lower bound on the optimum.
    tolerance, abs_tolerance : float
        The relative and the absolute gap that were asked for; either suffices.
    residual : float
        Largest violation of the formulation's own constraints at the returned weights.
    exact : bool
        Whether the oracles are exact. If not, `primal` is only a lower estimate of the objective
        at the weights and nothing is certified.
    note : str
        What else a reader should know.
    """

    primal: float
    dual: float
    tolerance: float
    abs_tolerance: float = 0.0
    residual: float = 0.0
    exact: bool = True
    note: str = ""

    @property
    def gap(self) -> float:
        """``primal - dual``: how far the weights can be from optimal at most."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The gap relative to the primal value."""
        return relative(self.primal, self.dual)

    @property
    def certified(self) -> bool:
        """Whether exact oracles prove a gap within the tolerances, at feasible weights."""
        small = self.relative_gap <= self.tolerance or self.gap <= self.abs_tolerance
        return self.exact and small and self.residual <= FEASIBLE

    def __str__(self) -> str:
        verdict = "certified" if self.certified else "not certified"
        note = f" ({self.note})" if self.note else ""
        return f"gap {self.gap:.3g} = {self.relative_gap:.2e} of it, {verdict}{note}"
