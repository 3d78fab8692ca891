"""The M3N with a scale for every weight: one step of the EM-style method."""

from __future__ import annotations

import numpy as np

from structopt.arrays import Floats
from structopt.errors import InvalidInputError
from structopt.formulations.base import Declaration, Formulation
from structopt.parameters import Positive


class ScaledM3N(Formulation):
    r"""M3N whose weights have scales of their own: the prior of w_k has variance s_k.

    .. math::
        \min_{w,\xi\ge 0} \tfrac12 \sum_k w_k^2 / s_k + C \sum_i \xi_i
        \quad\text{s.t.}\quad w\cdot\delta_i(y) \ge \ell_i(y) - \xi_i

    A weight whose scale is 0 stays 0.

    Parameters
    ----------
    C : float
        Weight of the slacks.
    scales : array, optional
        s_k >= 0, one a feature; by default all 1, which is P0 of the paper.

    Notes
    -----
    Zhu, Xing and Zhang (2009), section 4.3.2, step 1. With features multiplied by sqrt(s_k) and
    weights divided by it, this is the ordinary M3N (5).

    ==============  ========
    paper           here
    ==============  ========
    Sigma           ``diag(2 scales)`` (the paper's w' Sigma^-1 w has no 1/2)
    lambda tau_k    ``2 lam scales[k]``
    C               ``C``
    ==============  ========

    Examples
    --------
    >>> import numpy as np, structopt as so
    >>> from structopt.formulations.scaled_m3n import ScaledM3N
    >>> X, y = np.array([[1.0, 1.0], [-1.0, -1.0]]), [0, 1]
    >>> scales = np.array([1.0, 0.0, 1.0, 0.0])  # the second input is switched off
    >>> model = so.StructuredClassifier(so.Multiclass(), ScaledM3N(10.0, scales), tol=1e-6)
    >>> model.fit(X, y).result_.weights.round(3) + 0.0
    array([ 0.5,  0. , -0.5,  0. ])
    """

    def __init__(self, C: Positive = 1.0, scales: Floats | None = None) -> None:
        self.C, self.scales = C, scales

    def master(self, m: Declaration) -> None:
        """Declare the programme."""
        import cvxpy as cp

        scales = np.ones(m.n_features) if self.scales is None else np.asarray(self.scales, float)
        if scales.shape != (m.n_features,) or not np.all(np.isfinite(scales) & (scales >= 0)):
            raise InvalidInputError(
                f"scales must hold {m.n_features} finite numbers >= 0, one a feature; got shape "
                f"{scales.shape}."
            )
        w, xi = m.weights(), m.slacks()
        off = np.flatnonzero(scales == 0)
        curvature = 1.0 / np.where(scales > 0, scales, 1.0)
        if len(off):
            m.subject_to(w[off] == 0)
        # sum_squares of scaled weights would give every weight a second column
        m.minimize(cp.sum(cp.multiply(curvature / 2, cp.square(w))) + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
