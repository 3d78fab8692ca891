r"""The conditional random field over any structure that can sum over its outputs.

    min_w  sum_i s_i log sum_y exp(-w . delta_i(y)) + C2 |w|^2 + C1 |w|_1

by L-BFGS; for C1 > 0 on w = u - v with u, v >= 0, whose bounds leave exact zeros.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from structopt.arrays import Floats
from structopt.engines.dataset import DataSet
from structopt.errors import InvalidInputError
from structopt.learn.predictor import accuracy
from structopt.parameters import Count, NonNegative, check_params
from structopt.structures.base.structure import Structure

logger = logging.getLogger(__name__)


class StructuredCRF(BaseEstimator):  # type: ignore[misc]
    r"""Conditional random field on trees, segments, nets of low width, whatever can be summed over.

    .. math::
        \min_w - \sum_i \log p_w(y_i \mid x_i) + C_2 |w|_2^2 + C_1 |w|_1, \qquad
        p_w(y \mid x) \propto e^{w\cdot\phi(x, y)}

    For chains :class:`~structopt.CRF` is faster: it is CRFsuite.

    Parameters
    ----------
    structure : Structure
        One with sums over its outputs, as ``method="bregman"`` needs it.
    C2, C1 : float
        Weights of the regularisers, >= 0.
    max_iter : int
        Iterations of L-BFGS at most.
    tol : float
        Largest entry of the projected gradient at which it ends.

    Attributes
    ----------
    structure_ : Structure
    weights_ : array
    n_iter_ : int
    objective_ : float

    Raises
    ------
    IncompatibleError
        The structure cannot sum over its outputs.

    Notes
    -----
    Lafferty, McCallum and Pereira (2001); on trees of web pages Zhu, Nie, Wen, Zhang and Ma (2005).

    Examples
    --------
    >>> import numpy as np, structopt as so
    >>> pages, labels = [(np.eye(2), [-1, 0])] * 4, ["ab"] * 4
    >>> model = so.StructuredCRF(so.Hierarchy(), C2=0.1).fit(pages, labels)
    >>> model.predict(pages[:1])
    [['a', 'b']]
    """

    structure_: Structure
    weights_: Floats
    n_iter_: int
    objective_: float

    def __init__(
        self,
        structure: Structure,
        C2: NonNegative = 1.0,
        C1: NonNegative = 0.0,
        *,
        max_iter: Count = 500,
        tol: NonNegative = 1e-5,
    ) -> None:
        self.structure = structure
        self.C2 = C2
        self.C1 = C1
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, X: Sequence[Any], Y: Sequence[Any], sample_weight: Any = None) -> Self:
        """Learn the weights."""
        check_params(self)
        if not isinstance(self.structure, Structure):
            raise InvalidInputError(f"structure is {self.structure!r}: give a Structure.")
        structure = self.structure.fitted(X, Y)
        data = DataSet.of(structure, X, Y, sample_weight=sample_weight)
        starts, cost = data.starts, data.sample_weight
        spans = list(zip(data.shards, starts[:-1], starts[1:], strict=True))

        def loss(w: Floats) -> tuple[float, Floats]:
            each = [shard.expected(w, 0.0, cost[a:b]) for shard, a, b in spans]
            slope = np.sum([e.features for e in each], axis=0) + 2.0 * self.C2 * w
            return sum(e.log_partition for e in each) + self.C2 * float(w @ w), slope

        def split(uv: Floats) -> tuple[float, Floats]:
            u, v = np.split(uv, 2)
            value, slope = loss(u - v)
            return value + self.C1 * float(uv.sum()), np.concatenate([slope, -slope]) + self.C1

        d = data.n_features
        options = {"maxiter": self.max_iter, "gtol": self.tol, "ftol": 1e-12}
        if self.C1 > 0:
            bounds = [(0.0, None)] * (2 * d)
            found = minimize(
                split, np.zeros(2 * d), jac=True, method="L-BFGS-B", bounds=bounds, options=options
            )
            weights = found.x[:d] - found.x[d:]
        else:
            found = minimize(loss, np.zeros(d), jac=True, method="L-BFGS-B", options=options)
            weights = found.x
        if not found.success:
            logger.warning("L-BFGS ended after %d iterations: %s", found.nit, found.message)
        self.structure_, self.weights_ = structure, weights
        self.n_iter_, self.objective_ = int(found.nit), float(found.fun)
        return self

    def predict(self, X: Sequence[Any]) -> list[Any]:
        """Return the most probable output of every example."""
        check_is_fitted(self, "weights_")
        return self.structure_.predict(X, self.weights_)

    def score(self, X: Sequence[Any], Y: Sequence[Any], sample_weight: Any = None) -> float:
        """Return the share of parts that are right."""
        return accuracy(self.structure_, Y, self.predict(X), sample_weight)
