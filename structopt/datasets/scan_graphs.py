r"""Airborne laser scans: points to be told apart as ground or not, as graphs of neighbours.

A scan is cut into square tiles; a tile is one example of :class:`structopt.GraphCut`,

    x = (edges, node_features, edge_features),    y_j = 1 where point j is ground.

Nodes are points. Their features: a constant; exp(-h / 0.3 m), near 1 on the ground, for the height
h above the lowest point within each of some radii in the plane; of the plane fitted to a point and
its k nearest ones (the smallest principal component) its uprightness and the share of the variance
across it; whether the return is the first and the last of its pulse; and the intensity, scaled to
mean 0 and deviation 1 in the scan. Edges join points to their k nearest ones in space; their
features, all >= 0, are a constant and exp(-|dz| / 0.5 m), large where the height does not change.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> scan = Scan(rng.uniform(0, 20, (300, 3)), np.ones(300), np.ones(300), np.ones(300),
...             rng.integers(1, 3, 300))
>>> X, Y = scan_tiles(scan, side=10.0, k=4)
>>> edges, nodes, features = X[0]
>>> len(X), nodes.shape[1] == len(NODE_FEATURES), features.shape[1], sorted(set(Y[0].tolist()))
(4, True, 2, [0, 1])
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.errors import InvalidInputError
from structopt.parameters import Count, Positive, checked

GROUND = 2
"""The class of the LAS format."""
RADII = (1.0, 3.0, 10.0)
"""Metres: a shrub, a tree, the slope."""
LOW, STEP = 0.3, 0.5
"""Metres of height over which a node's and an edge's feature lose a factor e."""
NODE_FEATURES = (
    "bias", *(f"low within {r:g} m" for r in RADII), "upright", "rough", "first return",
    "last return", "intensity",
)  # fmt: skip


class Scan(NamedTuple):
    """Points (n, 3) in metres, z upwards, and what the scanner says of each."""

    xyz: Floats
    return_number: Floats
    number_of_returns: Floats
    intensity: Floats
    classification: Ints


@checked
def scan_tiles(
    scan: Scan, *, side: Positive = 50.0, k: Count = 6
) -> tuple[list[tuple[Ints, Floats, Floats]], list[Ints]]:
    """Cut a scan into tiles; return X and Y for :class:`structopt.GraphCut`.

    Parameters
    ----------
    scan : Scan
    side : float
        Metres along a tile. Heights look across the borders of tiles, edges do not.
    k : int
        Neighbours of a point. Tiles with no more than k points are left out.

    Returns
    -------
    X : list of (edges (E, 2), node_features (n, 9), edge_features (E, 2))
    Y : list of int arrays (n,)
        1 is ground.
    """
    if not side > 0 or k < 3:
        raise InvalidInputError(f"Give side > 0 and k >= 3 (for a plane); got {side} and {k}.")
    place = np.floor((scan.xyz[:, :2] - scan.xyz[:, :2].min(axis=0)) / side).astype(np.int64)
    _, tile = np.unique(place, axis=0, return_inverse=True)
    features = node_features(scan, k)
    X, Y = [], []
    for t in range(int(tile.max()) + 1):
        here = np.flatnonzero(tile == t)
        if len(here) > k:
            xyz = scan.xyz[here]
            edges = neighbour_edges(xyz, k)
            X.append((edges, features[here], edge_features(xyz, edges)))
            Y.append((scan.classification[here] == GROUND).astype(np.int64))
    if not X:
        raise InvalidInputError(
            f"No tile of {side} m has more than {k} of the {len(scan.xyz)} points: choose a larger "
            "side."
        )
    return X, Y


def neighbour_edges(xyz: Floats, k: int) -> Ints:
    """Return the undirected edges between points and their k nearest ones, once each."""
    from scipy.spatial import cKDTree

    n = len(xyz)
    _, near = cKDTree(xyz).query(xyz, k + 1)
    pairs = np.stack([np.repeat(np.arange(n), k + 1), near.ravel()], axis=1)
    pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
    edges: Ints = np.unique(pairs, axis=0).astype(np.int64)
    return edges


def edge_features(xyz: Floats, edges: Ints) -> Floats:
    """Return the two features of every edge."""
    rise = np.abs(xyz[edges[:, 0], 2] - xyz[edges[:, 1], 2])
    return np.stack([np.ones(len(edges)), np.exp(-rise / STEP)], axis=1)


def node_features(scan: Scan, k: int) -> Floats:
    """Return the nine features of every point, planes through it and its k nearest ones."""
    xyz, z = scan.xyz, scan.xyz[:, 2]
    lows = [np.exp(-(z - _lowest(xyz, radius)) / LOW) for radius in RADII]
    upright, rough = _planes(xyz, min(k + 1, len(xyz)))
    spread = scan.intensity.std()
    columns = [
        np.ones(len(xyz)),
        *lows,
        upright,
        rough,
        (scan.return_number == 1).astype(np.float64),
        (scan.return_number == scan.number_of_returns).astype(np.float64),
        (scan.intensity - scan.intensity.mean()) / (spread if spread > 0 else 1.0),
    ]
    return np.stack(columns, axis=1)


def _lowest(xyz: Floats, radius: float) -> Floats:
    """Return the height of the lowest point within a radius in the plane, of every point."""
    from scipy.spatial import cKDTree

    # Lowest points first claim all that is near and not yet claimed: each point is claimed once,
    # by its lowest neighbour, and no list of all neighbours is ever held.
    tree, order = cKDTree(xyz[:, :2]), np.argsort(xyz[:, 2], kind="stable")
    lowest = np.full(len(xyz), np.nan)
    open_ = np.ones(len(xyz), dtype=bool)
    left = len(xyz)
    for point in order:
        if left == 0:
            break
        near = np.asarray(tree.query_ball_point(xyz[point, :2], radius))
        near = near[open_[near]]
        lowest[near] = xyz[point, 2]
        open_[near] = False
        left -= len(near)
    return lowest


def _planes(xyz: Floats, k: int) -> tuple[Floats, Floats]:
    """Return how upright the normal of the plane through k points is, and the variance across."""
    from scipy.spatial import cKDTree

    _, near = cKDTree(xyz).query(xyz, k)
    cloud = xyz[near.reshape(len(xyz), k)]
    cloud = cloud - cloud.mean(axis=1, keepdims=True)
    variance, axes = np.linalg.eigh(np.einsum("nki,nkj->nij", cloud, cloud))
    total = variance.sum(axis=1)
    rough = np.divide(variance[:, 0], total, out=np.zeros(len(xyz)), where=total > 0)
    return np.abs(axes[:, 2, 0]), np.clip(rough, 0.0, 1.0)
