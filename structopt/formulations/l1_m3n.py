"""The max-margin Markov network with an l1 regulariser: sparse in its weights and its dual."""

from __future__ import annotations

import numpy as np

from structopt.arrays import Floats
from structopt.formulations.base import Declaration, WeightConstraints
from structopt.formulations.scale_mixture import ScaleMixture, between
from structopt.parameters import Positive


class L1M3N(ScaleMixture):
    r"""l1-regularised max-margin Markov network, a linear programme with exact zeros.

    .. math::
        \min_{w,\xi\ge 0} \tfrac12 \|w\|_1 + C \sum_i \xi_i
        \quad\text{s.t.}\quad w\cdot\delta_i(y) \ge \ell_i(y) - \xi_i

    Its dual is max sum alpha loss with ``|sum alpha delta| <= 1/2`` in every coordinate,
    ``sum_y alpha_iy <= C`` and alpha >= 0: a weight is nonzero only where that bound is tight.

    Parameters
    ----------
    C : float
        Weight of the slacks.
    constraints : callable, optional
        Takes the CVXPY weight variable and returns constraints that the answer keeps.

    Notes
    -----
    Zhu, Xing and Zhang (2009), P1 (note the 1/2). Cutting planes take any constraints; the method
    "em" takes none. It rests on

        1/2 |w| = min over tau > 0 of 1/4 (w^2 / tau + tau) = min over s of 1/2 (w^2 / s) + s / 8,

    whose minimiser is s = 2 tau = 2 |w|. The bracket is, in log tau, |w|/2 times a cosh around
    log |w|: steps up to twice as far as the minimiser never raise it.

    ================  ========
    paper             here
    ================  ========
    C                 ``C``
    xi_i              ``m.slacks()``
    Delta f_i(y)      ``cut.delta``
    Delta l_i(y)      ``cut.loss``
    ================  ========

    Examples
    --------
    >>> import numpy as np, structopt as so
    >>> from structopt.formulations.l1_m3n import L1M3N
    >>> X, y = np.array([[2.0, 1.0], [-2.0, -1.0]]), [0, 1]
    >>> model = so.StructuredClassifier(so.Multiclass(), L1M3N(C=10.0), tol=1e-6).fit(X, y)
    >>> round(model.result_.certificate.primal, 6)  # w_0 - w_2 = 1/2, the second input unused
    0.25
    """

    def __init__(self, C: Positive = 1.0, *, constraints: WeightConstraints | None = None) -> None:
        self.C, self.constraints = C, constraints

    def master(self, m: Declaration) -> None:
        """Declare the programme."""
        import cvxpy as cp

        self.check()
        w, xi = m.weights(self.constraints), m.slacks()
        m.minimize(cp.norm1(w) / 2 + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))

    def regulariser(self, weights: Floats) -> float:
        """Return ``1/2 |w|_1``."""
        return 0.5 * float(np.abs(weights).sum())

    def scales(self, weights: Floats, old: Floats | None = None, relax: float = 1.0) -> Floats:
        """Return ``2 |w|``, or a step from ``old`` towards and beyond it."""
        return between(old, 2.0 * np.abs(weights), relax)

    def lower_bound(self, gain: float, pull: Floats) -> float:
        """Return the dual value after scaling the multipliers until ``|pull| <= 1/2``."""
        return gain * min(1.0, 0.5 / max(float(np.abs(pull).max(initial=0.0)), 1e-300))

    def check(self) -> None:
        """Refuse a C that is no positive number."""
