r"""Synthetic word alignments: pairs of sentences, and which word goes with which.

A hidden alignment is drawn for each pair, near the diagonal and with some words left out; the
features of a word pair say, with noise, whether it is in it.

>>> X, Y = make_alignments(n_examples=2, seed=0)
>>> X[0].shape[2], all(x.shape[0] > i and x.shape[1] > j for x, y in zip(X, Y) for i, j in y)
(20, True)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from structopt.arrays import Floats
from structopt.errors import InvalidInputError
from structopt.parameters import Count, Natural, Positive, Seed, checked

SHAPE, RATIO, LONGEST = 4.0, (0.8, 1.25), 40
"""Law of the lengths: Gamma of this shape, the other sentence so many times as long, at most."""
ALIGNED = 0.85
"""Share of the words of the shorter sentence that are aligned."""
JITTER = 0.15
"""How far words move from the diagonal, in sentence lengths."""


@checked
def make_alignments(
    n_examples: Natural = 100,
    *,
    n_features: Count = 20,
    mean_edges: Positive = 111.0,
    signal: float = 2.0,
    seed: Seed = 0,
) -> tuple[list[Floats], list[frozenset[tuple[int, int]]]]:
    r"""Draw sentence pairs with a partial one-to-one alignment each.

    Feature 0 of a word pair (i, j) is 1, feature 1 its distance from the diagonal, feature 2 an
    association score, and the others show the alignment less and less well:

        x_1 = |i / n1 - j / n2|,    x_k = signal * [aligned] / (k - 1) + e,   e ~ N(0, 1),   k >= 2.

    Parameters
    ----------
    n_examples : int
        Number of pairs. The first n are the same for any larger number.
    n_features : int
        Features of a word pair, at least 3.
    mean_edges : float
        Word pairs of a sentence pair on average.
    signal : float
        How well the features show the alignment.
    seed : int

    Returns
    -------
    X : list of arrays of shape (n1, n2, n_features)
    Y : list of frozensets of (i, j)

    Notes
    -----
    5,000 pairs with the default ``mean_edges`` have about 555,000 edges: the size of the word
    alignment task of Taskar, Lacoste-Julien and Jordan (2006), section 4.

    Examples
    --------
    >>> X, Y = make_alignments(300, seed=1)
    >>> 90 < sum(x.shape[0] * x.shape[1] for x in X) / 300 < 130
    True
    """
    if n_features < 3 or mean_edges < 1:
        raise InvalidInputError(
            f"make_alignments needs n_features >= 3 and mean_edges >= 1, not {n_features} and "
            f"{mean_edges}."
        )
    # E[n1 n2] = scale^2 SHAPE (SHAPE + 1) E[ratio]
    scale = np.sqrt(mean_edges / (SHAPE * (SHAPE + 1) * np.mean(RATIO)))
    X, Y = [], []
    for i in range(n_examples):
        rng = np.random.default_rng([seed, i])
        length = rng.gamma(SHAPE, scale)
        n1 = int(np.clip(round(length), 1, LONGEST))
        n2 = int(np.clip(round(length * rng.uniform(*RATIO)), 1, LONGEST))
        aligned = _alignment(n1, n2, rng)
        x = rng.standard_normal((n1, n2, n_features))
        x[:, :, 0] = 1.0
        x[:, :, 1] = _from_diagonal(n1, n2)
        rank = np.arange(1, n_features - 1)
        x[:, :, 2:] += float(signal) * aligned[:, :, None] / rank
        X.append(x)
        Y.append(frozenset((int(a), int(b)) for a, b in np.argwhere(aligned)))
    return X, Y


def _from_diagonal(n1: int, n2: int) -> Floats:
    return np.abs(np.arange(n1)[:, None] / n1 - np.arange(n2)[None, :] / n2)


def _alignment(n1: int, n2: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return a random matching near the diagonal, as a matrix."""
    rows, columns = linear_sum_assignment(_from_diagonal(n1, n2) + JITTER * rng.random((n1, n2)))
    kept = rng.random(len(rows)) < ALIGNED
    aligned = np.zeros((n1, n2), dtype=bool)
    aligned[rows[kept], columns[kept]] = True
    return aligned
