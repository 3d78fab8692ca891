"""The max-margin Markov network on an l1 ball."""

from __future__ import annotations

from typing import Any

from structopt.formulations.ball import BallM3N


class L1BallM3N(BallM3N):
    r"""l1-norm max-margin Markov network, the norm bounded instead of paid for.

    .. math::
        \min_{w,\xi\ge 0} \tfrac1n \sum_i \xi_i
        \quad\text{s.t.}\quad w\cdot\delta_i(y) \ge \ell_i(y) - \xi_i, \qquad \|w\|_1 \le \lambda

    For every C, L1-M3N ``1/2 |w|_1 + C sum xi`` has the solutions of this form at lambda = |w*|_1;
    C and lambda do not map one to one.

    Parameters
    ----------
    radius : float
        lambda.

    Notes
    -----
    Zhu, Xing and Zhang (2009), problem P1' of Section 4.2.1. Cutting planes solve it, and so does
    the paper's projected sub-gradient method (``method="subgradient"``): steps along sub-gradients
    of the hinges, each followed by the Euclidean projection on the ball. Averaged oracle answers
    alpha, one an example, bound the optimum from below by

        1/n sum alpha loss - lambda |1/n sum alpha delta|_inf.

    ============  ========
    paper         here
    ============  ========
    lambda        ``radius``
    R_hinge       ``sum(xi) / n``
    Delta f_i     ``cut.delta``
    ============  ========

    Examples
    --------
    >>> import numpy as np, structopt as so
    >>> from structopt.formulations.l1_ball_m3n import L1BallM3N
    >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0]]), ["a", "b"]
    >>> model = so.StructuredClassifier(so.Multiclass(), L1BallM3N(radius=1.0), tol=1e-6).fit(X, y)
    >>> round(model.result_.certificate.primal, 3)  # each margin w.delta is 1/2 at best
    0.5
    """

    def norm(self, w: Any) -> Any:
        """Return the l1 norm."""
        import cvxpy as cp

        return cp.norm1(w)
