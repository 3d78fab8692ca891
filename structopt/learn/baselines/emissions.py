r"""How a hidden label makes its token, in a form that is linear in the token's features.

    log p(x | k) = W[k] . f(x) + bias[k]  (+ a constant that no label changes)

A label that has n_k tokens gets ``smoothing`` (s) more that look like no label in particular:

    "categorical"  theta[k, j] = (sum of x_j + s) / (sum of all x + s d),     f(x) = x:
                   W = log theta. For one-hot rows theta[k, j] is the probability of word j; rows
                   of counts are drawn word by word.
    "bernoulli"    p[k, j] = (tokens with x_j + s) / (n_k + 2 s),             f(x) = x:
                   W = log p - log(1 - p),    bias = sum_j log(1 - p[k, j])
    "gaussian"     mean and variance of each feature, with s tokens of the mean and variance of all
                   data,                                                      f(x) = (x, x^2):
                   W = (mean / var, -1 / (2 var)),    bias = -1/2 sum_j (mean^2 / var + log var)

>>> import numpy as np
>>> tokens = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
>>> fitted = fit("categorical", tokens, np.array([0, 0, 1]), 2, smoothing=1.0)
>>> np.exp(fitted.weights)  # (2 + 1) / (2 + 2), ...
array([[0.75      , 0.25      ],
       [0.33333333, 0.66666667]])
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints
from structopt.errors import InvalidInputError

KINDS = ("categorical", "bernoulli", "gaussian")

_FLAT = 1e-9
"""Least variance as a share of the largest: scikit-learn's GaussianNB has the same."""


class Emission(NamedTuple):
    """Weights (K, features) and biases (K,) of the log-probabilities."""

    weights: Floats
    bias: Floats


def kind_of(tokens: Any) -> str:
    """Return the kind of emission that fits the values of a matrix of tokens.

    One nonzero a row, a 1, or counts: "categorical"; other zeros and ones: "bernoulli"; else
    "gaussian".

    >>> kind_of(np.eye(2)), kind_of(np.ones((1, 2))), kind_of(np.eye(2) - 0.5)
    ('categorical', 'bernoulli', 'gaussian')
    """
    values = tokens.data if sp.issparse(tokens) else tokens
    if np.any(values < 0) or np.any(values != np.round(values)):
        return "gaussian"
    if np.any(values > 1):
        return "categorical"
    return "categorical" if np.all(np.asarray(tokens.sum(axis=1)) == 1) else "bernoulli"


def lift(kind: str, tokens: Any) -> Any:
    """Return f(x) of every token."""
    if kind != "gaussian":
        return tokens
    if sp.issparse(tokens):
        return sp.hstack([tokens, tokens.multiply(tokens)], format="csr")
    return np.hstack([tokens, tokens * tokens])


def fit(kind: str, tokens: Any, gold: Ints, n_labels: int, *, smoothing: float) -> Emission:
    """Learn the emissions from tokens (N, d) and their labels."""
    values = tokens.data if sp.issparse(tokens) else tokens
    if kind == "categorical" and np.any(values < 0):
        raise InvalidInputError("Categorical emissions count: X must not hold negative numbers.")
    if kind == "bernoulli" and np.any((values != 0) & (values != 1)):
        raise InvalidInputError("Bernoulli emissions need an X of zeros and ones.")
    count = np.bincount(gold, minlength=n_labels).astype(np.float64)[:, None]
    if kind == "categorical":
        theta = _sums(tokens, gold, n_labels) + smoothing
        return Emission(np.log(theta / theta.sum(axis=1, keepdims=True)), np.zeros(n_labels))
    if kind == "bernoulli":
        on = (_sums(tokens, gold, n_labels) + smoothing) / (count + 2 * smoothing)
        return Emission(np.log(on) - np.log1p(-on), np.log1p(-on).sum(axis=1))
    return _gaussian(tokens, gold, count, smoothing)


def _gaussian(tokens: Any, gold: Ints, count: Floats, smoothing: float) -> Emission:
    first, second = np.split(_sums(lift("gaussian", tokens), gold, len(count)), 2, axis=1)
    n_tokens = len(gold)
    common = first.sum(axis=0) / n_tokens
    spread = np.maximum(second.sum(axis=0) / n_tokens - common**2, 0.0)
    spread = np.maximum(spread, _FLAT * float(spread.max()) or 1.0)
    mean = (first + smoothing * common) / (count + smoothing)
    around = second - 2 * mean * first + count * mean**2  # sum of (x - mean)^2
    # `around` is 0 for a single token, so the smoothing keeps it from being certain
    variance = (np.maximum(around, 0.0) + smoothing * spread) / (count + smoothing)
    weights = np.hstack([mean / variance, -0.5 / variance])
    return Emission(weights, -0.5 * (mean**2 / variance + np.log(variance)).sum(axis=1))


def _sums(tokens: Any, gold: Ints, n_labels: int) -> Floats:
    """Return the tokens of each label added up, (K, d)."""
    ones = (np.ones(len(gold)), (gold, np.arange(len(gold))))
    total = sp.csr_array(ones, shape=(n_labels, len(gold))) @ tokens
    return np.asarray(total.toarray() if sp.issparse(total) else total)
