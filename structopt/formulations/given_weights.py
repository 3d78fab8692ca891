r"""Weights that are known before the data are seen: some held fixed, some with a prior mean.

    w_j = v_j for j in F (frozen),        1/2 |w - w0|^2 instead of 1/2 |w|^2 (transfer).

>>> import numpy as np, structopt as so
>>> X, y = so.datasets.make_classes(60, seed=0)
>>> held = so.Fixed([0.5, -0.5], where=[0, 3])
>>> model = so.StructuredClassifier(so.Multiclass(), so.M3N(constraints=held)).fit(X, y)
>>> model.result_.weights[[0, 3]].tolist()
[0.5, -0.5]
>>> before = model.result_.weights
>>> again = so.StructuredClassifier(so.Multiclass(), so.M3N(C=1e-4, w0=before)).fit(X, y)
>>> bool(np.allclose(again.result_.weights, before, atol=0.01))  # next to no data: the prior stays
True
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.errors import InvalidInputError
from structopt.parameters import Parameters


class Fixed(Parameters):
    r"""Weights that keep given values, as ``constraints=`` or ``m.weights(frozen=...)``.

    Parameters
    ----------
    values : number, array or mapping
        Their values; a mapping says for each place its value, a vector that holds NaN is free
        there.
    where : array of int or bool, optional
        Which weights; by default all that `values` names.

    Examples
    --------
    >>> Fixed({3: 1.0, 5: 0.0}).places(8)
    (array([3, 5]), array([1., 0.]))
    >>> Fixed([1.0, np.nan, 2.0]).places(3)
    (array([0, 2]), array([1., 2.]))
    """

    def __init__(self, values: Any, where: Any = None) -> None:
        self.values, self.where = values, where

    def places(self, n_features: int) -> tuple[Ints, Floats]:
        """Return which weights are fixed, and at what."""
        every = np.arange(n_features)
        try:
            if isinstance(self.values, Mapping):
                where = every[np.array(list(self.values), dtype=np.int64)]
                values = np.array(list(self.values.values()), dtype=np.float64)
            elif self.where is None:
                values = np.asarray(self.values, dtype=np.float64)
                if values.shape != (n_features,):
                    raise InvalidInputError(
                        f"Fixed has values of shape {values.shape} for {n_features} weights: give "
                        "one a weight (NaN where it is free), or say where=[...]."
                    )
                where = np.flatnonzero(~np.isnan(values))
                values = values[where]
            else:
                where = every[np.asarray(self.where)]
                values = np.broadcast_to(np.asarray(self.values, np.float64), where.shape).copy()
        except (IndexError, TypeError, ValueError) as error:
            if isinstance(error, InvalidInputError):
                raise
            raise InvalidInputError(
                f"Fixed does not fit the {n_features} weights of this model: {error}."
            ) from error
        if not np.all(np.isfinite(values)):
            raise InvalidInputError("Fixed holds a value that is not finite: weights are numbers.")
        if len(np.unique(where)) < len(where):
            raise InvalidInputError("Fixed names a weight twice: give each weight one value.")
        return where, values

    def __call__(self, w: Any) -> list[Any]:
        """Return the constraints on the CVXPY variable of the weights."""
        where, values = self.places(w.size)
        return [w[where] == values] if len(where) else []


def around(w: Any, w0: Any) -> Any:
    """Return ``w - w0``, or w where there is no prior mean."""
    if w0 is None:
        return w
    mean = np.asarray(w0, dtype=np.float64)
    if mean.shape not in ((), (w.size,)) or not np.all(np.isfinite(mean)):
        raise InvalidInputError(
            f"w0 has shape {mean.shape}; it must hold {w.size} finite numbers, one a weight: the "
            "weights of a model with the same labels and inputs."
        )
    return w - mean
