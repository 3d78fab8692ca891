r"""What is minimised: the contract of every formulation.

A formulation declares its restricted master problem in CVXPY and nothing else:

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        m.minimize(cp.sum_squares(w) / 2 + self.C * cp.sum(xi))
        m.cuts(so.loss_augmented, lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))

See :class:`structopt.master.RestrictedMaster` for what ``m`` offers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from structopt.errors import InvalidInputError
from structopt.parameters import Parameters

if TYPE_CHECKING:
    from structopt.master import RestrictedMaster

WeightConstraints = Callable[[Any], Sequence[Any]]
"""A function of the weight variable that returns constraints: ``lambda w: [w >= 0]``."""


class Formulation(Parameters):
    """Base of every formulation. Store the constructor's arguments, declare in :meth:`master`."""

    def master(self, m: RestrictedMaster) -> None:
        """Declare variables, objective, constraints and cut families on ``m``."""
        raise NotImplementedError(f"{type(self).__name__} must define master(self, m).")

    def resolve(self, largest_projection: Callable[[Formulation], float]) -> Formulation:
        """Return the formulation with parameters fixed that depend on another one's solution.

        ``largest_projection(other)`` solves another formulation on the same data and returns the
        largest |w . delta| that its weights give. Most formulations have nothing to resolve.
        """
        return self


def check_positive(**values: Any) -> None:
    """Refuse parameters that are not finite numbers > 0.

    >>> check_positive(C=0)
    Traceback (most recent call last):
    ...
    structopt.errors.InvalidInputError: C must be a finite number > 0; got 0.
    """
    for name, value in values.items():
        try:
            good = math.isfinite(value) and value > 0
        except TypeError:
            good = False
        if not good:
            raise InvalidInputError(f"{name} must be a finite number > 0; got {value!r}.")
