r"""The two-stage baseline: a regressor for the costs, then the cheapest decision.

    min_f sum_i |f(x_i) - c_i|^2 + ...,      y_hat(x) = argmin over y in S of f(x) . y.

It does not know what its errors cost.

>>> import numpy as np, structopt as so
>>> X, costs = so.datasets.make_shortest_paths(60, degree=1, noise=0.0, seed=0)
>>> model = so.TwoStage(so.decisions.GridPaths(5, 5)).fit(X[:40], costs[:40])
>>> model.predict(X[40:]).shape, model.regret(X[40:], costs[40:]) < 0.01
((20, 40), True)
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import Ridge
from sklearn.multioutput import MultiOutputRegressor
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from structopt.arrays import Floats, as_matrix, check_inputs, count
from structopt.errors import InvalidInputError
from structopt.learn.decisions.deciding import Decider, as_set, best_decisions


class TwoStage(Decider, BaseEstimator):  # type: ignore[misc]
    """Predict costs by a regressor of scikit-learn, then decide.

    Parameters
    ----------
    decisions : DecisionSet
    regressor : regressor, optional
        By default ``Ridge()``; one that predicts a single number is fitted once for each part.

    Attributes
    ----------
    regressor_ : regressor
        Fitted.
    """

    def __init__(self, decisions: Any, regressor: Any = None) -> None:
        self.decisions = decisions
        self.regressor = regressor

    def fit(self, X: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Fit the regressor to inputs (n, p) and costs (n, m)."""
        matrix = as_matrix(X)
        costs, _ = best_decisions(as_set(self.decisions), y)
        if count(matrix) != len(costs):
            raise InvalidInputError(f"{count(matrix)} inputs but {len(costs)} vectors of costs.")
        is_one = hasattr(self.regressor, "get_params") and not isinstance(self.regressor, type)
        if self.regressor is not None and not is_one:
            raise InvalidInputError(
                f"regressor is {self.regressor!r}: give a regressor of scikit-learn, or None for "
                "Ridge()."
            )
        own = Ridge() if self.regressor is None else clone(self.regressor)
        if not get_tags(own).target_tags.multi_output:
            own = MultiOutputRegressor(own)
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.regressor_, self.n_features_in_ = own.fit(matrix, costs, **given), matrix.shape[1]
        return self

    def predict_costs(self, X: Any) -> Floats:
        """Return the predicted costs of every part, (n, m)."""
        check_is_fitted(self, "regressor_")
        matrix = as_matrix(X)
        check_inputs(matrix.shape[1], self.n_features_in_, type(self).__name__)
        found = np.asarray(self.regressor_.predict(matrix), dtype=np.float64)
        return found.reshape(count(matrix), -1)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return minus the normalised regret."""
        return -self.regret(X, y, sample_weight=sample_weight)
