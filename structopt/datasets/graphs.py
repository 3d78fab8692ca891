r"""Synthetic matchings and segmentations: outputs are the best under hidden weights and noise.

    y = argmax over matchings of sum_(j,k) in y (w* . x_jk + noise),
    x_j ~ N((2 y_j - 1) v, I)  for node labels y that are discs on a grid.

>>> X, Y = make_sentence_pairs(2, seed=0)
>>> X[0].ndim, max(j for j, _ in Y[0]) < X[0].shape[0]
(3, True)
>>> (edges, nodes), y = (part[0] for part in make_scenes(1, side=8, seed=0))
>>> nodes.shape, len(y), edges.shape[1]
((64, 45), 64, 2)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from structopt.errors import InvalidInputError


def make_sentence_pairs(
    n_examples: int = 100,
    *,
    n_edges: float = 111.0,
    n_features: int = 20,
    noise: float = 2.5,
    seed: int = 0,
) -> tuple[list[NDArray[np.float64]], list[frozenset[tuple[int, int]]]]:
    """Draw pairs of sentences with features of word pairs, and their alignments.

    Parameters
    ----------
    n_examples : int
    n_edges : float
        Word pairs of an example, on average (the Hansards have 111).
    n_features : int
        The first is constant 1.
    noise : float
        Standard deviation of what the features do not tell; scores have one of about 4.
    seed : int

    Returns
    -------
    X : list of arrays (n1, n2, n_features)
    Y : list of frozensets of (left, right)
    """
    if n_examples < 1 or n_features < 1 or not n_edges >= 4:
        raise InvalidInputError(
            "make_sentence_pairs draws at least one example, feature and 4 edges."
        )
    rng = np.random.default_rng(seed)
    length = np.clip(rng.gamma(4.0, 2.5, size=n_examples), 2.0, 40.0)
    other = length * rng.uniform(0.8, 1.25, size=n_examples)
    scale = np.sqrt(n_edges / (length * other).mean())
    sizes = np.maximum(2, np.round(scale * np.stack([length, other], axis=1))).astype(int)
    # the hidden weights do not depend on how many examples are drawn
    hidden = np.random.default_rng([seed, 1]).standard_normal(n_features)
    hidden[0] = -2.0
    X, Y = [], []
    for n1, n2 in sizes.tolist():
        x = rng.standard_normal((n1, n2, n_features))
        x[:, :, 0] = 1.0
        score = x @ hidden + noise * rng.standard_normal((n1, n2))
        rows, columns = linear_sum_assignment(np.maximum(score, 0.0), maximize=True)
        good = score[rows, columns] > 0
        X.append(x)
        Y.append(frozenset(zip(rows[good].tolist(), columns[good].tolist(), strict=True)))
    return X, Y


def make_scenes(
    n_examples: int = 5,
    *,
    side: int = 86,
    n_features: int = 45,
    diagonals: float = 0.4,
    separation: float = 1.2,
    seed: int = 0,
) -> tuple[list[tuple[Any, Any]], list[NDArray[np.int64]]]:
    """Draw grids with some diagonals, discs of label 1 on them, and noisy node features.

    Parameters
    ----------
    n_examples, side : int
        Grids of ``side * side`` nodes.
    n_features : int
        Of a node; the first is constant 1. Edges have one, constant 1.
    diagonals : float
        Share of the diagonals that are edges, too.
    separation : float
        Distance of either label's mean from 0; the noise has variance 1.
    seed : int

    Returns
    -------
    X : list of (edges, node_features)
    Y : list of arrays of 0 and 1
    """
    if n_examples < 1 or side < 2 or n_features < 1 or not 0 <= diagonals <= 1:
        raise InvalidInputError(
            "make_scenes draws at least one grid of side 2, with 0 <= diagonals <= 1."
        )
    rng = np.random.default_rng(seed)
    direction = np.random.default_rng([seed, 1]).standard_normal(n_features) / n_features**0.5
    place = np.arange(side * side).reshape(side, side)
    across = np.stack([place[:, :-1].ravel(), place[:, 1:].ravel()], axis=1)
    down = np.stack([place[:-1].ravel(), place[1:].ravel()], axis=1)
    diagonal = np.stack([place[:-1, :-1].ravel(), place[1:, 1:].ravel()], axis=1)
    row, column = np.mgrid[:side, :side]
    X, Y = [], []
    for _ in range(n_examples):
        chosen = rng.permutation(len(diagonal))[: round(diagonals * len(diagonal))]
        inside = np.zeros((side, side), dtype=bool)
        for _ in range(6):
            centre = rng.integers(side, size=2)
            radius = rng.uniform(side / 14, side / 5)
            inside |= (row - centre[0]) ** 2 + (column - centre[1]) ** 2 < radius**2
        y = inside.ravel().astype(np.int64)
        nodes = rng.standard_normal((side * side, n_features))
        nodes += separation * np.outer(2 * y - 1, direction)
        nodes[:, 0] = 1.0
        X.append((np.concatenate([across, down, diagonal[np.sort(chosen)]]), nodes))
        Y.append(y)
    return X, Y
