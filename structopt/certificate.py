r"""Bounds on the objective that hold whatever the solver did.

Upper bound: the true objective at the weights, its slacks raised to what exact oracles ask for.
Lower bound: the Lagrangian of the master's standard form at multipliers y,

    g(y) = sum (lower.y+ - upper.y-) + min over lb <= x <= ub of 1/2 x'Px + r.x + l1.|x|,
    r = q - A'y,

which bounds the master from below for *any* y of the right signs, and so bounds the full problem,
whose rows are a superset. Multipliers that leave some column without a minimum are repaired first:
each example's multipliers are scaled down until its slack column is at rest, then y is moved
towards a point that is known to be dual feasible.
"""

from __future__ import annotations

from dataclasses import dataclass

from structopt.events import relative


@dataclass(frozen=True)
class Certificate:
    """An upper and a lower bound on the optimum, and what they rest on.

    Attributes
    ----------
    primal : float
        The objective at the returned weights, with exact oracles.
    dual : float
        A lower bound on the optimum.
    tolerance : float
        The relative gap that was asked for.
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
        """Whether exact oracles prove a relative gap of at most `tolerance`."""
        return self.exact and self.relative_gap <= self.tolerance and self.residual <= 1e-6

    def __str__(self) -> str:
        verdict = "certified" if self.certified else "not certified"
        note = f" ({self.note})" if self.note else ""
        return f"gap {self.gap:.3g} = {self.relative_gap:.2e} of it, {verdict}{note}"
