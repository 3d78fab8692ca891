r"""Bounds on the objective that hold whatever the solver did.

    dual  <=  optimum  <=  primal

The upper bound is the true objective at the returned weights, slacks raised to what exact oracles
ask for (:mod:`structopt.master.separation`); the lower bound is a Lagrangian of the master problem
at multipliers that are checked, not trusted (:mod:`structopt.master.lagrangian`).

>>> c = Certificate(primal=10.0, dual=9.99, tolerance=1e-2)
>>> c.certified, round(c.relative_gap, 6)
(True, 0.001)
>>> Certificate(primal=1.0, dual=2.0, tolerance=1e-3).certified  # a contradiction proves nothing
False
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from structopt.errors import CertificateError
from structopt.run.events import ROUNDING, relative
from structopt.run.notebook import card, number

FEASIBLE = 1e-6
"""Violation of the formulation's own constraints up to which weights count as feasible, as a share
of the numbers in the constraint (:meth:`~structopt.master.program.Program.residual`)."""

_NOTHING = 1e-11
"""What roundings make of numbers of size 1, reduced costs up to 1e-12 that count as none included:
an optimum of 0 has no shares."""


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
        Largest violation of the formulation's own constraints at the returned weights, as a share
        of the numbers in the constraint, so that it means the same at any scale.
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
        # a small number below another small one is a gap too, unless both count as 0
        below = -self.relative_gap > max(self.tolerance, ROUNDING + self.residual)
        small = small and not (below and abs(self.primal) > _NOTHING)
        sound = self.exact and not contradicts(self.primal, self.dual, self.residual)
        return sound and small and self.residual <= FEASIBLE

    def doubted(self, note: str) -> Certificate:
        """Return the same bounds as no certificate, and why."""
        return replace(self, exact=False, note="; ".join(filter(None, (note, self.note))))

    def _repr_html_(self) -> str:
        """Show the certificate in a notebook, in words."""
        if self.certified:
            share = 100.0 * self.relative_gap
            words = f"No weights can be better than these by more than {share:.2g} %."
        elif not self.exact:
            words = "The oracles are not exact: nothing is proven."
        else:
            words = "The bounds are true, but further apart than was asked for."
        facts = [
            ("objective", number(self.primal)),
            ("lower bound", number(self.dual)),
            ("gap", f"{number(self.gap)}, {self.relative_gap:.2e} of the objective"),
            ("asked for", f"{self.tolerance:.2g}"),
        ]
        facts += [("note", self.note)] if self.note else []
        return card("Certified" if self.certified else "Not certified", facts, note=words)

    def __str__(self) -> str:
        verdict = "certified" if self.certified else "not certified"
        note = f" ({self.note})" if self.note else ""
        return f"gap {self.gap:.3g} = {self.relative_gap:.2e} of it, {verdict}{note}"


def contradicts(primal: float, dual: float, residual: float = 0.0) -> bool:
    """Return whether a lower bound lies above the upper one by more than roundings.

    Weights that break a constraint by ``residual`` may be that much better than any that do not.
    """
    share = relative(primal, dual)
    return dual - primal > _NOTHING and -share > ROUNDING + residual


def check_bounds(primal: float, dual: float, residual: float = 0.0) -> None:
    """Raise if a lower bound lies above the upper one: something is wrong, and nothing proven.

    >>> check_bounds(1.0, 2.0)
    Traceback (most recent call last):
    ...
    structopt.errors.CertificateError: The lower bound 2 exceeds the upper bound 1, ...
    """
    if contradicts(primal, dual, residual):
        raise CertificateError(
            f"The lower bound {dual:.9g} exceeds the upper bound {primal:.9g}, so one of them is "
            "wrong and nothing is proven. Either the oracle does not return the best output (or "
            "its loss or score is wrong), or the rule of a cut family asks for something else than "
            "its oracle maximises, or the backend's rows are not the master's: check the structure "
            "with structopt.testing.check_structure, and try backend='cvxpy'.",
            primal=primal,
            dual=dual,
        )
