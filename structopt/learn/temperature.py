r"""The temperature at which held-out outputs are most likely.

    min over T of  sum_i log sum_y exp((score_i(y) - score_i(y_i)) / T)

A margin learner's scores have no scale of their own; this one makes them probabilities. In 1 / T
the function is convex, and a single number is searched for.

>>> import structopt as so
>>> X, y = so.datasets.make_classes(60, seed=0)
>>> model = so.StructuredClassifier(so.Multiclass(), so.M3N(C=1.0)).fit(X[:40], y[:40])
>>> best = model.fit_temperature(X[40:], y[40:])
>>> 0.0 < best < 10.0
True
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from structopt.arrays import Floats
from structopt.errors import IncompatibleError
from structopt.structures.base.structure import Structure

RANGE = 1e-4, 1e4
"""Temperatures that are tried, relative to the size of scores; at the lower one all mass is on the
best output, which is where data lead that the model predicts without an error."""


def fit_temperature(structure: Structure, weights: Floats, X: Any, Y: Any) -> float:
    """Return the temperature that maximises the likelihood of outputs.

    Parameters
    ----------
    structure : Structure
        Fitted, with marginals.
    weights : array
    X, Y : sequences
        Held-out data, as the structure takes them.
    """
    if "marginals" not in structure.abilities():
        raise IncompatibleError(
            f"{type(structure).__name__} has no marginals, and so no temperature of them."
        )
    shard = structure.encode(X, Y)
    each = np.ones(shard.n_examples)

    def cost(log_temperature: float) -> float:
        return shard.expected(weights / np.exp(log_temperature), 0.0, each).log_partition

    found = minimize_scalar(cost, bounds=np.log(RANGE), method="bounded", options={"xatol": 1e-4})
    return float(np.exp(found.x))
