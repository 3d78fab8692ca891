r"""Synthetic scenes: grids whose nodes are inside or outside of some disks.

>>> X, Y = make_grids(n_examples=1, side=5, seed=0)
>>> edges, nodes = X[0]
>>> edges.shape, nodes.shape, sorted({int(label) for label in Y[0]})
((40, 2), (25, 45), [0, 1])
"""

from __future__ import annotations

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.errors import InvalidInputError
from structopt.parameters import Count, Natural, Seed, Share, checked

DISKS, RADII = 6, (0.07, 0.21)
"""Disks of a scene, and their radii in sides of the grid."""


@checked
def make_grids(
    n_examples: Natural = 5,
    *,
    side: Count = 20,
    diagonals: Share = 0.0,
    n_features: Count = 45,
    signal: float = 1.2,
    seed: Seed = 0,
) -> tuple[list[tuple[Ints, Floats]], list[Ints]]:
    r"""Draw square grids, labelled 1 inside some disks, with noisy node features.

    Nodes have edges to their 4 neighbours, and a share of the falling diagonals is added. Feature 0
    of a node is 1, the others are

        x_j = signal * (2 y_j - 1) * direction + e,    e ~ N(0, I),

    with one direction, of length about 1, for all scenes. There are no edge features: every edge is
    alike.

    Parameters
    ----------
    n_examples : int
        Number of scenes. The first n are the same for any larger number.
    side : int
        Nodes along a side, at least 2.
    diagonals : float
        Share of the diagonals that are edges too, between 0 (the grid is bipartite) and 1.
    n_features : int
        Features of a node, at least 2.
    signal : float
        How well the features show the label.
    seed : int

    Returns
    -------
    X : list of (edges, node_features)
    Y : list of int arrays of shape (side * side,)

    Notes
    -----
    ``make_grids(5, side=86, diagonals=0.4125)`` has 36,980 nodes, 88,000 edges and, with one weight
    for edges, 46 weights: the size of the segmentation task of Taskar, Lacoste-Julien and Jordan
    (2006), section 4.

    Examples
    --------
    >>> X, Y = make_grids(2, side=86, diagonals=0.4125)
    >>> sum(len(y) for y in Y), sum(len(edges) for edges, _ in X)
    (14792, 35200)
    """
    if side < 2 or n_features < 2:
        raise InvalidInputError(
            f"make_grids needs side >= 2 and n_features >= 2, not {side} and {n_features}."
        )
    direction = np.random.default_rng(seed).standard_normal(n_features) / np.sqrt(n_features)
    X, Y = [], []
    for i in range(n_examples):
        rng = np.random.default_rng([seed, i])
        y = _disks(side, rng)
        x = rng.standard_normal((side * side, n_features))
        x += float(signal) * np.outer(2 * y - 1, direction)
        x[:, 0] = 1.0
        X.append((_edges(side, diagonals, rng), x))
        Y.append(y)
    return X, Y


def _edges(side: int, diagonals: Share, rng: np.random.Generator) -> Ints:
    node = np.arange(side * side).reshape(side, side)
    across = np.stack([node[:, :-1].ravel(), node[:, 1:].ravel()], axis=1)
    down = np.stack([node[:-1].ravel(), node[1:].ravel()], axis=1)
    falling = np.stack([node[:-1, :-1].ravel(), node[1:, 1:].ravel()], axis=1)
    some = rng.permutation(len(falling))[: round(diagonals * len(falling))]
    return np.concatenate([across, down, falling[np.sort(some)]]).astype(np.int64)


def _disks(side: int, rng: np.random.Generator) -> Ints:
    """Return 1 inside of disks with random centres and radii."""
    row, column = np.divmod(np.arange(side * side), side)
    inside = np.zeros(side * side, dtype=bool)
    for _ in range(DISKS):
        a, b = rng.uniform(0, side, size=2)
        radius = rng.uniform(*RADII) * side
        inside |= (row - a) ** 2 + (column - b) ** 2 < radius**2
    return inside.astype(np.int64)
