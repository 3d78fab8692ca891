"""The adaptive max-margin Markov network: scales of the weights are learned with them."""

from __future__ import annotations

import numpy as np

from structopt.arrays import Floats
from structopt.formulations.base import Declaration
from structopt.formulations.scale_mixture import ScaleMixture, between
from structopt.parameters import Positive


class AdaptiveM3N(ScaleMixture):
    r"""Adaptive M3N: every weight has a scale, and the scales share a budget.

    .. math::
        \min_{w,\xi\ge 0,\tau\ge 0} \sum_k w_k^2 / \tau_k + C \sum_i \xi_i
        \quad\text{s.t.}\quad w\cdot\delta_i(y) \ge \ell_i(y) - \xi_i,\quad
        \tfrac1K \sum_k \tau_k = \tfrac1\lambda

    The best scales are :math:`\tau_k = (K/\lambda)\,|w_k| / \sum_j |w_j|`, and with them

    .. math::
        \min_{w,\xi\ge 0} \tfrac{\lambda}{K} \|w\|_1^2 + C \sum_i \xi_i
        \quad\text{s.t.}\quad w\cdot\delta_i(y) \ge \ell_i(y) - \xi_i,

    which is what is declared and certified here. Its dual is max sum alpha loss - K / (4 lam)
    ``|sum alpha delta|_inf``\ ² over alpha >= 0 with sum_y alpha_iy <= C.

    Parameters
    ----------
    C : float
        Weight of the slacks.
    lam : float
        lambda, the inverse of the scales' mean.

    Notes
    -----
    Zhu, Xing and Zhang (2009), P2 (AdapM3N), its equivalent P4, and the update (4) of the scales.
    Theorem 2's "same estimate as the l1-M3N" means: the solution w is also one of
    :class:`~structopt.L1M3N` at C_1 = C K / (4 lam ``|w|_1``), as a comparison
    of the optimality conditions shows. C and lam do not fix C_1 before the solution is known.

    The printed update (6), beta_k = sqrt(K) |gamma_k| / |gamma|, reads tau_k proportional to
    w_k^2 / tau_k. In log tau it goes from the old scales through those of (4) to the mirror image
    beyond them: (6) is (4) over-relaxed by the factor 2. The sum of w_k^2 / tau_k is the same at
    both ends, so at fixed w it cycles (w = (1, 2) is enough); every factor in between makes it
    smaller.

    ================  ========
    paper             here
    ================  ========
    C, lambda         ``C``, ``lam``
    K                 ``m.n_features``
    tau_k             ``2 scales[k]``
    Delta f_i(y)      ``cut.delta``
    ================  ========

    Examples
    --------
    >>> import numpy as np, structopt as so
    >>> from structopt.formulations.adaptive_m3n import AdaptiveM3N
    >>> X, y = np.array([[2.0, 1.0], [-2.0, -1.0]]), [0, 1]
    >>> model = so.StructuredClassifier(so.Multiclass(), AdaptiveM3N(C=10.0, lam=2.0), tol=1e-5)
    >>> round(model.fit(X, y).result_.certificate.primal, 4)  # 2/4 (1/2)^2, see L1M3N
    0.125
    """

    def __init__(self, C: Positive = 1.0, lam: Positive = 1.0) -> None:
        self.C, self.lam = C, lam

    def master(self, m: Declaration) -> None:
        """Declare the programme."""
        import cvxpy as cp

        self.check()
        w, xi = m.weights(), m.slacks()
        share = self.lam / m.n_features
        m.minimize(share * cp.square(cp.norm1(w)) + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))

    def regulariser(self, weights: Floats) -> float:
        """Return ``lam / K |w|_1^2``."""
        total = float(np.abs(weights).sum())
        return self.lam / len(weights) * total * total  # a power would raise where this is inf

    def scales(self, weights: Floats, old: Floats | None = None, relax: float = 1.0) -> Floats:
        """Return half of the tau of (4); with relax = 2, half of the tau of (6).

        >>> AdaptiveM3N(lam=2.0).scales(np.array([1.0, -3.0]))
        array([0.125, 0.375])
        """
        size = np.abs(weights)
        step = between(old, size * (0.5 / max(float(size.sum()), 1e-300)), relax)
        return step * (0.5 * len(weights) / self.lam / max(float(step.sum()), 1e-300))

    def lower_bound(self, gain: float, pull: Floats) -> float:
        """Return ``t gain - t^2 K / (4 lam) |pull|_inf^2`` at the best t."""
        price = len(pull) / (4.0 * self.lam) * float(np.abs(pull).max(initial=0.0)) ** 2
        t = 1.0 if gain >= 2.0 * price else 0.5 * max(gain, 0.0) / price
        return t * gain - t * t * price

    def check(self) -> None:
        """Refuse parameters that are no positive numbers."""
