"""The max-margin Markov network."""

from __future__ import annotations

import math
from typing import Any

from structopt.formulations.base import Declaration, Formulation, WeightConstraints
from structopt.formulations.given_weights import around
from structopt.formulations.slack_groups import SlackGroups
from structopt.parameters import PositiveOrInfinite


class M3N(Formulation):
    r"""Max-margin Markov network, in the constants of its saddle-point form.

    .. math::
        \min_{w,\xi\ge 0} \tfrac{1}{2C} |w|^2 + \sum_i \xi_i
        \quad\text{s.t.}\quad w\cdot\delta_i(y) \ge \ell_i(y) - \xi_i

    This is 1/C times ``1/2 |w|^2 + C sum xi``, with the same minimiser.

    Parameters
    ----------
    C : float
        Inverse strength of the regulariser; ``inf`` leaves it out, and the best lower bound is then
        0 unless the method is cutting planes.
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
    Taskar, Lacoste-Julien and Jordan (2006), eq. (2)-(4).

    ============  ========
    paper         here
    ============  ========
    C             ``C``
    f_i(y_i)-f_i  ``cut.delta``
    ============  ========

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = so.datasets.make_chain_crf(8, n_features=5, n_relevant=3, seed=0)
    >>> model = so.StructuredClassifier(so.Chain(), so.M3N(C=0.5)).fit(X, Y)
    >>> model.result_.status, model.result_.certificate.certified
    ('optimal', True)
    """

    def __init__(
        self,
        C: PositiveOrInfinite = 1.0,
        *,
        slacks: SlackGroups = "auto",
        constraints: WeightConstraints | None = None,
        w0: Any = None,
    ) -> None:
        self.C, self.slacks, self.constraints, self.w0 = C, slacks, constraints, w0

    def master(self, m: Declaration) -> None:
        """Declare the programme."""
        import cvxpy as cp

        w, xi = m.weights(self.constraints), m.slacks(self.slacks)
        strength = 0.0 if math.inf == self.C else 1.0 / (2.0 * self.C)
        m.minimize(strength * cp.sum_squares(around(w, self.w0)) + cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi), joint=self.slacks)
