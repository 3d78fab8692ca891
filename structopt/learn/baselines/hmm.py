"""The hidden Markov model, by smoothed counts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from structopt.arrays import Floats, stack_sequences
from structopt.errors import InvalidInputError
from structopt.learn.baselines import emissions
from structopt.learn.predictor import accuracy
from structopt.parameters import Positive, check_params
from structopt.structures.chain.structure import Chain


class HMM(BaseEstimator):  # type: ignore[misc]
    r"""First-order hidden Markov model with smoothed counts, on the data that `Chain` takes.

    .. math::
        p(x, y) = \pi_{y_1} \prod_{t>1} A_{y_{t-1} y_t} \prod_t p(x_t \mid y_t), \qquad
        \pi_k = \frac{n^{\text{start}}_k + s}{n + s K}, \quad
        A_{jk} = \frac{n_{jk} + s}{n_{j\cdot} + s K}

    The log of it is linear in the features of :class:`~structopt.Chain` (with
    ``boundaries=True``), so that Viterbi decoding is the structure's own.

    Parameters
    ----------
    smoothing : float
        s, what is added to every count; > 0.
    emissions : {"auto", "categorical", "bernoulli", "gaussian"}
        p(x | y), see :mod:`structopt.learn.baselines.emissions`. "auto" looks at X: one-hot rows
        and counts are categorical, other zeros and ones Bernoulli (naive Bayes), else Gaussian.
    labels : sequence, optional
        Every label that can occur; by default those of the data.

    Attributes
    ----------
    startprob_, transmat_ : arrays
        pi and A, in the order of ``structure_.labels_``.
    emissions_ : str
        What "auto" chose.
    emission_ : Emission
        Weights and biases of log p(x | y).
    structure_ : Chain
    weights_ : array
        The whole model as weights of ``structure_``.

    Notes
    -----
    Rabiner (1989). The baseline of the papers' sequence experiments.

    Examples
    --------
    >>> import numpy as np, structopt as so
    >>> X, Y = [np.eye(2)[[0, 0, 1]], np.eye(2)[[0]]], ["aab", "a"]
    >>> model = so.HMM(smoothing=1.0).fit(X, Y)
    >>> model.emissions_, model.startprob_, model.transmat_[0]
    ('categorical', array([0.75, 0.25]), array([0.5, 0.5]))
    >>> model.predict(X)
    [['a', 'a', 'b'], ['a']]
    """

    structure_: Chain
    startprob_: Floats
    transmat_: Floats
    emissions_: str
    emission_: emissions.Emission
    weights_: Floats
    n_inputs_: int

    def __init__(
        self,
        smoothing: Positive = 1.0,
        *,
        emissions: str = "auto",
        labels: Sequence[Any] | None = None,
    ) -> None:
        self.smoothing = smoothing
        self.emissions = emissions
        self.labels = labels

    def fit(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Count."""
        check_params(self)
        if self.emissions not in ("auto", *emissions.KINDS):
            raise InvalidInputError(
                f"emissions is {self.emissions!r}; choose from {['auto', *emissions.KINDS]}."
            )
        plain = Chain(labels=self.labels, boundaries=True).fitted(X, Y)
        shard = plain.pack(X, Y)
        n_labels, s = len(plain.labels_), float(self.smoothing)
        tokens, gold, first = shard.tokens.matrix, shard.gold, shard.offsets[:-1]
        self.n_inputs_ = plain.n_inputs_
        self.emissions_ = emissions.kind_of(tokens) if self.emissions == "auto" else self.emissions
        self.emission_ = emissions.fit(self.emissions_, tokens, gold, n_labels, smoothing=s)
        inner = np.ones(len(gold), dtype=bool)
        inner[first] = False
        after = np.flatnonzero(inner)
        pairs = gold[after - 1] * n_labels + gold[after]
        starts = np.bincount(gold[first], minlength=n_labels) + s
        moves = np.bincount(pairs, minlength=n_labels**2).reshape(n_labels, n_labels) + s
        self.startprob_ = starts / starts.sum()
        self.transmat_ = moves / moves.sum(axis=1, keepdims=True)
        declared = Chain(labels=list(plain.labels_), boundaries=True)
        self.structure_ = declared.fitted(self._lifted(X[:1]), Y[:1])
        bias = self.emission_.bias  # every label but the first of a sequence is moved to
        self.weights_ = np.concatenate(
            [
                self.emission_.weights.ravel(),
                (np.log(self.transmat_) + bias).ravel(),
                np.log(self.startprob_) + bias,
                np.zeros(n_labels),
            ]
        )
        return self

    def predict(self, X: Sequence[Any]) -> list[list[Any]]:
        """Return the most probable labels of every sequence."""
        check_is_fitted(self, "weights_")
        if len(X) == 0:
            return []
        return self.structure_.predict(self._lifted(X), self.weights_)

    def score(self, X: Sequence[Any], Y: Sequence[Any], sample_weight: Any = None) -> float:
        """Return the share of positions that are labelled right."""
        predicted = self.predict(X)
        return accuracy(self.structure_, Y, predicted, sample_weight)

    def _lifted(self, X: Sequence[Any]) -> list[Any]:
        """Return the features that the emissions are linear in, sequence by sequence."""
        tokens, offsets, _ = stack_sequences(X, self.n_inputs_)
        features = emissions.lift(self.emissions_, tokens)
        return [features[a:b] for a, b in pairwise(offsets.tolist())]
