r"""The local perceptron as printed: component after component, each with the weights of the last.

for each (x, y):  for t = 1 .. n_y:
y_hat = argmax_y alpha_y . Phi(x, t);   if y_hat != y_t:
alpha_{y_t} += Phi(x, t),  alpha_{y_hat} -= Phi(x, t)
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from structopt.learn.component_kernels import cycle


class ComponentPerceptron(BaseEstimator):  # type: ignore[misc]
    """A multiclass perceptron over components, in the order in which they are given.

    Parameters
    ----------
    max_iter : int
        Cycles at most; one without a mistake is the last.

    Attributes
    ----------
    classes_ : array
    coef_ : array of shape (classes, inputs)
    n_iter_ : int
        Cycles done.

    Notes
    -----
    Punyakanok, Roth, Yih and Zimak (2005), Figure 1(a). Ties go to the first class.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0], [1.0, 0.5]])
    >>> ComponentPerceptron().fit(X, [0, 1]).coef_  # the second sees what the first has learned
    array([[ 0. , -0.5],
           [ 0. ,  0.5]])
    """

    def __init__(self, max_iter: int = 100) -> None:
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any) -> Self:
        """Cycle through the components until none is wrong."""
        dense = X.todense() if sp.issparse(X) else X
        rows = np.ascontiguousarray(dense, dtype=np.float64)
        self.classes_, gold = np.unique(np.asarray(y), return_inverse=True)
        self.coef_ = alpha = np.zeros((len(self.classes_), rows.shape[1]))
        for done in range(1, self.max_iter + 1):
            self.n_iter_ = done
            if not cycle(rows, gold, alpha):
                break
        return self
