"""What max-margin Markov networks on a ball share: the programme, for any norm."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from structopt.formulations.base import Declaration, Formulation
from structopt.parameters import Positive


class BallM3N(Formulation):
    r"""Minimise the mean hinge over a ball.

    .. math::
        \min_{w,\xi\ge 0} \tfrac1n \sum_i \xi_i
        \quad\text{s.t.}\quad w\cdot\delta_i(y) \ge \ell_i(y) - \xi_i, \qquad \|w\| \le r

    Parameters
    ----------
    radius : float
        r.
    """

    def __init__(self, radius: Positive = 1.0) -> None:
        self.radius = radius

    @abstractmethod
    def norm(self, w: Any) -> Any:
        """Return the norm of CVXPY's weights, at least the largest of them."""

    def master(self, m: Declaration) -> None:
        """Declare the programme."""
        import cvxpy as cp

        w, xi = m.weights(), m.slacks()
        m.minimize(cp.sum(xi) / m.n_examples)
        m.subject_to(self.norm(w) <= self.radius)
        # implied, but bounded columns make every multiplier a lower bound
        m.subject_to(w <= self.radius, w >= -self.radius)
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
