"""The structural support vector machine."""

from __future__ import annotations

from typing import Any, Literal

from structopt.formulations.base import Declaration, Formulation, WeightConstraints
from structopt.formulations.given_weights import around
from structopt.formulations.slack_groups import SlackGroups
from structopt.parameters import Positive
from structopt.structures.base.oracles import best_other, loss_augmented, slack_rescaled

_ORACLES = {"unit": best_other, "margin": loss_augmented, "slack": slack_rescaled}


class StructSVM(Formulation):
    r"""Structural SVM with n slacks, groups of them or one, and any of the three margins.

    .. math::
        \min_{w,\xi\ge 0} \tfrac12 |w|^2 + \tfrac{C}{n} \sum_i \xi_i
        \quad\text{s.t.}\quad
        \begin{cases}
        w\cdot\delta_i(y) \ge 1 - \xi_i,\ y \ne y_i & \text{rescale="unit"}\\
        w\cdot\delta_i(y) \ge \ell_i(y) - \xi_i & \text{rescale="margin"}\\
        \ell_i(y)\, w\cdot\delta_i(y) \ge \ell_i(y) - \xi_i & \text{rescale="slack"}
        \end{cases}

    Parameters
    ----------
    C : float
        Weight of the mean slack.
    rescale : {"unit", "margin", "slack"}
        A margin of 1 for every wrong output, margin rescaling, or slack rescaling.
    slacks : {"auto", "n", "one", "shards"} or int
        One slack an example, one for all, or one a group of examples: so many groups, or the shards
        of the data (the same optimum; fewer and denser cuts, more rounds). "auto" is "n" where the
        data are in this process, and groups where they are not.
    constraints : callable, optional
        Takes the CVXPY weight variable and returns constraints that the answer keeps;
        :class:`~structopt.Fixed` freezes weights.
    w0 : array, optional
        Prior mean: ``|w - w0|^2`` instead of ``|w|^2``, for transfer from another model.

    Notes
    -----
    Shivaswamy and Jebara (2009), eq. (1); margin and slack rescaling after Tsochantaridis et al.
    (2005); one slack after Joachims, Finley and Yu (2009).

    ============  ========
    paper         here
    ============  ========
    C             ``C``
    xi_i          ``m.slacks()``
    delta psi     ``cut.delta``
    ============  ========

    Examples
    --------
    >>> import numpy as np, structopt as so
    >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0]]), ["a", "b"]
    >>> model = so.StructuredClassifier(so.Multiclass(), so.StructSVM(C=10.0), tol=1e-6).fit(X, y)
    >>> round(model.result_.certificate.primal, 3)  # w = (1, -1, -1, 1) / 2
    0.5
    """

    def __init__(
        self,
        C: Positive = 1.0,
        *,
        rescale: Literal["unit", "margin", "slack"] = "unit",
        slacks: SlackGroups = "auto",
        constraints: WeightConstraints | None = None,
        w0: Any = None,
    ) -> None:
        self.C, self.rescale, self.slacks = C, rescale, slacks
        self.constraints, self.w0 = constraints, w0

    def master(self, m: Declaration) -> None:
        """Declare the programme."""
        import cvxpy as cp

        oracle = _ORACLES[self.rescale]
        w, xi = m.weights(self.constraints), m.slacks(self.slacks)
        m.minimize(cp.sum_squares(around(w, self.w0)) / 2 + self.C / m.n_examples * cp.sum(xi))
        m.cuts(
            oracle,
            lambda cut: cp.multiply(cut.scale, cut.delta @ w) >= cut.margin - cut.of(xi),
            joint=self.slacks,
        )
