r"""Choosing parameters on a validation set, as the papers do.

    best = argmax over the grid of score(X_val, Y_val)

Along C (or another number of the formulation) the models are learned as a path, each from the last.

>>> import structopt as so
>>> X, Y = so.datasets.make_chain_crf(n_examples=60, seed=0)
>>> model = so.StructuredClassifier(so.Chain(), so.M3N(), tol=1e-2)
>>> chosen = so.grid_select(model, X, Y, grid={"formulation__C": [1e-4, 0.01, 0.1]})
>>> chosen.best_params == {"formulation__C": float(chosen.table.C[chosen.table.score.argmax()])}
True
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from structopt.arrays import count
from structopt.errors import InvalidInputError
from structopt.learn.estimator import StructuredClassifier
from structopt.learn.path import follow, plain, records
from structopt.parameters import Seed, checked
from structopt.run.result import Result

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Selection:
    """What a validation set chose.

    Attributes
    ----------
    best_params : dict
        The values with the highest score, the first of equal ones.
    best_score : float
        That score.
    best_model : StructuredClassifier
        The model that has it, or the one learned again on all data.
    table : record array
        One row a combination: the parameters, `objective`, `gap`, `nonzeros`, `rounds`, `seconds`,
        `score`.
    """

    best_params: dict[str, Any]
    best_score: float
    best_model: StructuredClassifier
    table: Any


@checked
def grid_select(
    model: StructuredClassifier,
    X: Any,
    Y: Any,
    X_val: Any = None,
    Y_val: Any = None,
    *,
    grid: Mapping[str, Sequence[Any]],
    along: str | None = None,
    validation_fraction: float = 0.2,
    refit: bool = False,
    random_state: Seed = 0,
) -> Selection:
    """Try every combination of a grid of parameters and keep what validates best.

    Parameters
    ----------
    model : StructuredClassifier
        Fitted copies are made of it; it is not changed. `verbose` shows what is running, and every
        score is logged.
    X, Y : sequences
        Training data.
    X_val, Y_val : sequences, optional
        Validation data. Without them a random part of the training data is held out.
    grid : mapping
        Parameter names, as in ``model.set_params``, to the values to try:
        ``{"formulation__C": [0.1, 1.0], "structure__boundaries": [True, False]}``.
    along : str, optional
        The parameter along which models start from each other: `formulation__C` if the grid has
        it, else the last of the grid.
    validation_fraction : float
        Share of the examples to hold out.
    refit : bool
        Learn the best model once more, on training and validation data together.
    random_state : int
        Seed of what is held out.

    Returns
    -------
    Selection
    """
    names = list(grid)
    if not names or any(count(grid[name], name) == 0 for name in names):
        raise InvalidInputError("The grid is empty: give at least one parameter and one value.")
    if along is None:
        along = "formulation__C" if "formulation__C" in grid else names[-1]
    if along not in grid:
        raise InvalidInputError(f"along is {along!r}, which the grid does not have: {names}.")
    if (X_val is None) != (Y_val is None):
        raise InvalidInputError("Give both X_val and Y_val, or neither.")
    everything = (X, Y)
    if X_val is None:
        (X, Y), (X_val, Y_val) = _split(X, Y, validation_fraction, random_state)
    elif refit:
        everything = (_joined(X, X_val), _joined(Y, Y_val))

    others = [name for name in names if name != along]
    tried: list[dict[str, Any]] = []
    scores: list[float] = []
    results: list[Result] = []
    best: StructuredClassifier | None = None
    for values in product(*(plain(grid[name]) for name in others)):
        rest = dict(zip(others, values, strict=True))
        start = clone(model).set_params(**rest)
        start.callbacks = model.callbacks
        line = plain(grid[along])
        for value, fitted in zip(line, follow(start, X, Y, line, parameter=along), strict=False):
            score = fitted.score(X_val, Y_val)
            if best is None or score > max(scores):
                best = fitted
            tried.append(rest | {along: value})
            scores.append(score)
            results.append(fitted.result_)
            logger.info("%s: score %.4f", tried[-1], score)
        if results[-1].status == "interrupted":
            break
    assert best is not None, "the grid is not empty"
    params = tried[int(np.argmax(scores))]
    if refit and results[-1].status != "interrupted":
        best = clone(model).set_params(**params)
        best.callbacks = model.callbacks
        best.fit(*everything)
    ordered = {name: params[name] for name in names}
    parameters = {name: [t[name] for t in tried] for name in names}
    return Selection(ordered, max(scores), best, records(parameters, results, scores))


def _split(X: Any, Y: Any, fraction: float, seed: int) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Return training and validation examples, drawn at random, in their own order."""
    count = round(fraction * len(Y))
    if not 0 < count < len(Y):
        raise InvalidInputError(
            f"validation_fraction is {fraction}: of {len(Y)} examples it holds out {count}."
        )
    out = np.zeros(len(Y), dtype=bool)
    out[np.random.default_rng(seed).permutation(len(Y))[:count]] = True
    inside, outside = np.flatnonzero(~out), np.flatnonzero(out)
    return (_take(X, inside), _take(Y, inside)), (_take(X, outside), _take(Y, outside))


def _take(examples: Any, which: Any) -> Any:
    if hasattr(examples, "shape"):
        return examples[which]
    return [examples[i] for i in which]


def _joined(some: Any, more: Any) -> Any:
    if sp.issparse(some):
        return sp.vstack([some, more], format="csr")
    if isinstance(some, np.ndarray):
        return np.concatenate([some, more])
    return [*some, *more]
