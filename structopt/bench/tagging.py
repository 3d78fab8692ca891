r"""Sentences to tag: sparse inputs, as in text, from a hidden Markov model.

    y_1 ~ U,   y_{t+1} ~ P[y_t, .],   word_t ~ Q[y_t, .],   x_t = one-hot(word_t) + one-hot(suffix)

>>> X, Y = make_tagging(2, n_words=30, n_labels=3, seed=0)
>>> X[0].shape[1], int(X[0].sum()) == 2 * len(Y[0])
(33, True)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


def make_tagging(
    n_sentences: int,
    *,
    n_words: int = 300,
    n_labels: int = 12,
    length: tuple[int, int] = (8, 16),
    seed: int = 0,
) -> tuple[list[Any], list[NDArray[np.int64]]]:
    """Draw sentences with their tags.

    Parameters
    ----------
    n_sentences, n_words, n_labels : int
        Sentences, size of the vocabulary, tags. There is one suffix per ten words.
    length : (int, int)
        Shortest and longest sentence.
    seed : int

    Returns
    -------
    X : list of CSR arrays of shape (length, n_words + n_words // 10)
    Y : list of int arrays
    """
    rng = np.random.default_rng(seed)
    n_suffixes = max(1, n_words // 10)
    # few likely successors a tag, and few frequent words a tag (Zipf): ambiguous but learnable
    follows = rng.dirichlet(np.full(n_labels, 0.3), size=n_labels).cumsum(axis=1)
    frequency = np.array(
        [rng.permutation(1.0 / np.arange(1, n_words + 1)) for _ in range(n_labels)]
    )
    frequency *= rng.gamma(0.3, size=frequency.shape)
    says = (frequency / frequency.sum(axis=1, keepdims=True)).cumsum(axis=1)
    suffix = rng.integers(n_suffixes, size=n_words)
    X, Y = [], []
    for size in rng.integers(length[0], length[1] + 1, size=n_sentences):
        tags = np.empty(size, dtype=np.int64)
        tags[0] = rng.integers(n_labels)
        for t in range(1, size):
            tags[t] = _draw(follows[tags[t - 1]], rng)
        words = np.array([_draw(says[tag], rng) for tag in tags])
        columns = np.column_stack([words, n_words + suffix[words]]).ravel()
        rows = (np.ones(2 * size), columns, np.arange(0, 2 * size + 1, 2))
        X.append(sp.csr_array(rows, shape=(size, n_words + n_suffixes)))
        Y.append(tags)
    return X, Y


def _draw(cumulative: NDArray[np.float64], rng: np.random.Generator) -> int:
    # the last sum is 1 up to rounding
    return min(int(np.searchsorted(cumulative, rng.random(), side="right")), len(cumulative) - 1)
