"""A sum of logarithms instead of the l1 norm: sparser weights that are shrunk less."""

from __future__ import annotations

import numpy as np

from structopt.arrays import Floats
from structopt.engines.dataset import DataSet
from structopt.formulations.base import Declaration, Formulation, WeightConstraints
from structopt.methods.outer.nonconvex import ConvexBound, NonConvex
from structopt.parameters import Positive


class ReweightedL1(NonConvex):
    r"""l1 that is reweighted until it fits: large weights are shrunk less than small ones.

    .. math::
        \min_{w,\xi\ge 0} \tfrac{\epsilon}{2} \sum_j \log(1 + |w_j| / \epsilon) + C \sum_i \xi_i
        \quad\text{s.t.}\quad w\cdot\delta_i(y) \ge \ell_i(y) - \xi_i

    A bound at v is `L1M3N` with :math:`\epsilon / (\epsilon + |v_j|)` before each :math:`|w_j|`; at
    v = 0, where it begins, and for large epsilon it is `L1M3N` itself.

    Parameters
    ----------
    C : float
        Weight of the slacks.
    epsilon : float
        The size of a weight from which on it is shrunk by less than half.
    constraints : callable, optional
        Takes the CVXPY weight variable and returns constraints that the answer keeps.

    Notes
    -----
    Candes, Wakin and Boyd, "Enhancing sparsity by reweighted l1 minimization", 2008.

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = so.datasets.make_chain_crf(8, n_features=5, n_relevant=3, seed=0)
    >>> formulation = so.ReweightedL1(C=0.5, epsilon=0.1)
    >>> model = so.StructuredClassifier(so.Chain(), formulation, method="outer", tol=1e-2)
    >>> model.fit(X, Y).result_.status
    'stationary'
    """

    def __init__(
        self,
        C: Positive = 1.0,
        epsilon: Positive = 0.1,
        *,
        constraints: WeightConstraints | None = None,
    ) -> None:
        self.C, self.epsilon, self.constraints = C, epsilon, constraints

    def bound(self, data: DataSet, v: Floats, last: ConvexBound | None) -> ConvexBound:
        """Return the weighted l1 programme that touches the objective at v."""
        size, epsilon = np.abs(v), self.epsilon
        slope = epsilon / (epsilon + size)
        constant = 0.5 * float(np.sum(epsilon * np.log1p(size / epsilon) - slope * size))
        return ConvexBound(WeightedL1(self.C, slope, self.constraints), data, constant)


class WeightedL1(Formulation):
    r"""min 1/2 sum_j slope_j |w_j| + C sum xi, the bound of :class:`ReweightedL1`."""

    def __init__(
        self, C: Positive, slope: Floats, constraints: WeightConstraints | None = None
    ) -> None:
        self.C, self.slope, self.constraints = C, slope, constraints

    def master(self, m: Declaration) -> None:
        """Declare the programme."""
        import cvxpy as cp

        w, xi = m.weights(self.constraints), m.slacks()
        m.minimize(0.5 * cp.norm1(cp.multiply(self.slope, w)) + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
