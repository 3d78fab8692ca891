r"""Sentences to tag: sparse inputs, as in text, from a hidden Markov model.

    y_1 ~ U,   y_{t+1} ~ P[y_t, .],   word_t ~ Q[y_t, .],   x_t = one-hot(word_t) + one-hot(suffix)

Every word belongs to one tag, which says it in Zipf's proportions; a small share of the words of a
sentence is drawn from all words instead. With a large share no weights separate more sentences than
they break, and formulations whose margin does not grow with the loss, LP-Struct, learn w = 0.

>>> X, Y = make_tagging(2, n_words=30, n_labels=3, seed=0)
>>> X[0].shape[1], int(X[0].sum()) == 2 * len(Y[0])
(33, True)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from structopt.errors import InvalidInputError


def make_tagging(
    n_sentences: int,
    *,
    n_words: int = 300,
    n_labels: int = 12,
    length: tuple[int, int] = (8, 16),
    ambiguous: float = 0.05,
    seed: int = 0,
) -> tuple[list[Any], list[NDArray[np.int64]]]:
    """Draw sentences with their tags.

    Parameters
    ----------
    n_sentences, n_words, n_labels : int
        Sentences, size of the vocabulary, tags; no fewer words than tags. There is one suffix per
        ten words.
    length : (int, int)
        Shortest and longest sentence.
    ambiguous : float
        Share of the words that say nothing about their tag.
    seed : int

    Returns
    -------
    X : list of CSR arrays, a row a word
    Y : list of int arrays
    """
    if n_words < n_labels:
        raise InvalidInputError(f"Every tag needs a word; got {n_words} words, {n_labels} tags.")
    rng = np.random.default_rng(seed)
    n_suffixes = max(1, n_words // 10)
    follows = rng.dirichlet(np.full(n_labels, 0.3), size=n_labels).cumsum(axis=1)
    frequency = 1.0 / np.arange(1, n_words + 1)
    home = rng.permutation(np.arange(n_words) % n_labels)
    own = frequency * (home == np.arange(n_labels)[:, None])
    own /= own.sum(axis=1, keepdims=True)
    anyone = frequency / frequency.sum()
    says = ((1.0 - ambiguous) * own + ambiguous * anyone).cumsum(axis=1)
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
