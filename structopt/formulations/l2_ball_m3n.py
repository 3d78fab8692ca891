"""The max-margin Markov network on an l2 ball."""

from __future__ import annotations

from typing import Any

from structopt.formulations.ball import BallM3N


class L2BallM3N(BallM3N):
    r"""Max-margin Markov network, the norm bounded instead of paid for.

    .. math::
        \min_{w,\xi\ge 0} \tfrac1n \sum_i \xi_i
        \quad\text{s.t.}\quad w\cdot\delta_i(y) \ge \ell_i(y) - \xi_i, \qquad \|w\|_2 \le r

    :class:`~structopt.L1BallM3N` with the other norm: its solutions are those of
    :class:`~structopt.M3N` for some C, and no weight is exactly 0 by itself.

    Parameters
    ----------
    radius : float
        r; the paper writes ``|w|_2^2 <= lambda``, so r is the square root of its lambda.

    Notes
    -----
    Zhu, Xing and Zhang (2009), the end of Section 4.2.1. Averaged oracle answers alpha bound the
    optimum from below by ``1/n sum alpha loss - r |1/n sum alpha delta|_2``.

    ============  ========
    paper         here
    ============  ========
    lambda        ``radius ** 2``
    R_hinge       ``sum(xi) / n``
    Delta f_i     ``cut.delta``
    ============  ========

    Examples
    --------
    >>> import numpy as np, structopt as so
    >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0]]), ["a", "b"]
    >>> model = so.StructuredClassifier(so.Multiclass(), so.L2BallM3N(radius=0.5), tol=1e-4)
    >>> round(model.fit(X, y).result_.certificate.primal, 3)  # w = (1, -1, -1, 1) / 4
    0.5
    """

    def norm(self, w: Any) -> Any:
        """Return the l2 norm."""
        import cvxpy as cp

        return cp.norm2(w)
