"""The Laplace max-margin Markov network: shrinks weights smoothly, all scales positive."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from structopt.arrays import Floats
from structopt.formulations.base import Declaration
from structopt.formulations.scale_mixture import ScaleMixture, between
from structopt.parameters import Positive


class LaplaceM3N(ScaleMixture):
    r"""Laplace M3N: the mean of the distribution closest to a Laplace prior that keeps the margins.

    .. math::
        \min_{p,\xi\ge 0} KL(p \,\|\, p_0) + C \sum_i \xi_i
        \quad\text{s.t.}\quad E_p[w]\cdot\delta_i(y) \ge \ell_i(y) - \xi_i,\qquad
        p_0(w) = \prod_k \tfrac{\sqrt\lambda}{2} e^{-\sqrt\lambda |w_k|}

    In the mean w of p, the weights that are returned, this is

    .. math::
        \min_{w,\xi\ge 0} \sum_k \Big[ \rho_k - 1 - \log\tfrac{\rho_k + 1}{2} \Big]
        + C \sum_i \xi_i, \qquad \rho_k = \sqrt{1 + \lambda w_k^2}

    For large lam the bracket is sqrt(lam) |w_k|, the l1-M3N at C_1 = C / (2 sqrt(lam)); for small
    lam it is lam/4 w_k^2, the M3N (P0) at C_0 = 2 C / lam. In between, weights are shrunk smoothly
    and none is set to 0.

    Parameters
    ----------
    C : float
        Weight of the slacks.
    lam : float
        lambda of the prior, whose variance is 2 / lam.

    Notes
    -----
    Zhu, Xing and Zhang (2008), as Zhu, Xing and Zhang (2009), section 4.3.2, and Zhu and Xing
    (2009) describe it: the loop of EM with another update of the scales.

    *The update.* With v = sum alpha delta, the partition function of p_0 exp(v.w) is
    prod_k lam / (lam - v_k^2), so the dual is max sum alpha loss + sum_k log(1 - v_k^2 / lam), and
    the mean is w_k = 2 v_k / (lam - v_k^2). That is an M3N with scales s_k = 2 / (lam - v_k^2), and
    eliminating v gives lam s^2 = 2 s + w^2, hence

        s_k = (1 + sqrt(1 + lam w_k^2)) / lam  >=  2 / lam:

    positive and finite, so no feature is ever discarded. Equivalently it is the minimiser in

        rho - 1 - log((rho + 1) / 2) = min over s of w^2 / (2 s) + lam s / 2 - 1 - log(lam s / 2),

    so a step with exact scales never raises the objective.

    *The 2008 paper* bounds the KL by a mean field N(w, s) x q(tau) in the prior's mixture of
    Gaussians, where <1/tau_k> = sqrt(lam / <w_k^2>) and <w_k^2> = w_k^2 + s_k: its update is
    s_k <- sqrt((w_k^2 + s_k) / lam), with the fixed point lam s^2 = s + w^2. That is the update
    above at 4 lam, doubled: the mean field at (C, lam) solves this programme at (2 C, 4 lam).

    CVXPY can declare the programme with the scales as variables and cones, which only the
    reference backend takes, without a certificate; the method "em" certifies it.

    ================  ========
    paper             here
    ================  ========
    C, lambda         ``C``, ``lam``
    <w_k>             ``result.weights[k]``
    Delta f_i(y)      ``cut.delta``
    ================  ========

    Examples
    --------
    >>> import numpy as np, structopt as so
    >>> from structopt.formulations.laplace_m3n import LaplaceM3N
    >>> X, y = np.array([[2.0, 1.0], [-2.0, -1.0]]), [0, 1]
    >>> model = so.StructuredClassifier(so.Multiclass(), LaplaceM3N(C=10.0), method="em", tol=1e-6)
    >>> model.fit(X, y).result_.weights.round(3)  # 0.2 and 0.1 times (1, -1) for the M3N
    array([ 0.2  ,  0.099, -0.2  , -0.099])
    """

    absorbing: ClassVar[bool] = False

    def __init__(self, C: Positive = 1.0, lam: Positive = 1.0) -> None:
        self.C, self.lam = C, lam

    def master(self, m: Declaration) -> None:
        """Declare the programme, scales included."""
        import cvxpy as cp

        self.check()
        w, xi = m.weights(), m.slacks()
        scale, square = (
            cp.Variable(m.n_features),
            cp.Variable(m.n_features),
        )  # square >= w^2 / scale
        m.subject_to(cp.SOC(square + scale, cp.vstack([2 * w, square - scale]), axis=0))
        mixture = cp.sum(square + self.lam * scale) / 2 - cp.sum(cp.log(self.lam / 2 * scale))
        m.minimize(mixture - m.n_features + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))

    def regulariser(self, weights: Floats) -> float:
        """Return the divergence from the prior at the mean w."""
        # rho - 1 without cancellation at small weights
        square = self.lam * weights * weights
        above = square / (1.0 + np.sqrt(1.0 + square))
        return float(np.sum(above - np.log1p(above / 2.0)))

    def scales(self, weights: Floats, old: Floats | None = None, relax: float = 1.0) -> Floats:
        """Return ``(1 + sqrt(1 + lam w^2)) / lam``, or a step from ``old`` beyond it.

        >>> LaplaceM3N(lam=4.0).scales(np.array([0.0, 2.0]))
        array([0.5       , 1.28077641])
        """
        best = (1.0 + np.sqrt(1.0 + self.lam * weights * weights)) / self.lam
        if old is None:
            return best
        step = between(old, best, relax)
        # unlike that of the l1 norm, the bound is not symmetric in log s: look before going beyond
        return np.where(self._bound(weights, step) <= self._bound(weights, old), step, best)

    def _bound(self, weights: Floats, scales: Floats) -> Floats:
        return weights * weights / scales + self.lam * scales - 2.0 * np.log(scales)

    def lower_bound(self, gain: float, pull: Floats) -> float:
        """Return ``t gain + sum log(1 - t^2 pull^2 / lam)`` at the best t, by bisection."""
        square = pull * pull / self.lam
        largest = float(square.max(initial=0.0))
        low, high = 0.0, min(1.0, 1.0 / np.sqrt(max(largest, 1e-300)))
        if largest < 1.0 and gain >= float(np.sum(2.0 * square / (1.0 - square))):
            low = 1.0
        else:
            for _ in range(40):
                t = 0.5 * (low + high)
                rising = gain > float(np.sum(2.0 * t * square / (1.0 - t * t * square)))
                low, high = (t, high) if rising else (low, t)
        return low * gain + float(np.sum(np.log1p(-low * low * square)))

    def check(self) -> None:
        """Refuse parameters that are no positive numbers."""
