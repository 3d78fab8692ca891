r"""A laser scan as scenes of equally many points, described by spin images or by nine features.

The paper computes spin images of 10 x 5 bins at two resolutions, scales the values and keeps 45
principal components; an edge has a constant and nothing else. Components are those of the training
scenes.

>>> [len(part) for part in halved(np.arange(22.0).reshape(11, 2), 3)]
[3, 4, 4]
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.datasets.scan_graphs import (
    GROUND,
    Scan,
    edge_features,
    neighbour_edges,
    node_features,
)
from structopt.features.spin_images import spin_images, surface_normals

SPIN, UPRIGHT, NINE = "spin images", "spin images, upright", "9 features"
FEATURES = (SPIN, UPRIGHT, NINE)
"""Spin images around normals, as the paper's, and around the vertical; those of the data set."""
RADII = (3.0, 10.0)
"""Metres: the two resolutions, on average 17 and 300 points an image."""
COMPONENTS = 45
NEAREST = 4
"""Neighbours of a point: 2.5 edges a point, the paper's scans have 2.4."""
PLANE = 6
"""Neighbours that nine features fit a plane to, as in `load_lidar`."""

Part = tuple[list[Any], list[Ints]]


def scenes(scan: Scan, features: str, sets: Sequence[int], seed: int) -> list[Part]:
    """Return inputs and outputs of ``GraphCut`` for so many scenes a set, training first."""
    images = _described(scan, features)
    places = halved(scan.xyz[:, :2], sum(sets))
    order = np.random.default_rng(seed).permutation(len(places))
    parts = [[places[i] for i in order[a:b]] for a, b in pairwise(np.cumsum([0, *sets]))]
    if features != NINE:
        images = _components(images, np.concatenate(parts[0]))
    found: list[Part] = []
    for part in parts:
        X = [_graph(scan.xyz[here], images[here], features) for here in part]
        found.append((X, [(scan.classification[here] == GROUND).astype(np.int64) for here in part]))
    return found


def halved(plane: Floats, many: int) -> list[Ints]:
    """Return points of the plane in so many pieces of equal size, cut across the longer side."""

    def cut(here: Ints, pieces: int) -> list[Ints]:
        if pieces == 1:
            return [here]
        side = int(np.argmax(np.ptp(plane[here], axis=0)))
        here = here[np.argsort(plane[here, side], kind="stable")]
        at = len(here) * (pieces // 2) // pieces
        return cut(here[:at], pieces // 2) + cut(here[at:], pieces - pieces // 2)

    return cut(np.arange(len(plane)), many)


def _described(scan: Scan, features: str) -> Floats:
    if features == NINE:
        return node_features(scan, PLANE)
    upwards = np.tile([0.0, 0.0, 1.0], (len(scan.xyz), 1))
    normals = upwards if features == UPRIGHT else surface_normals(scan.xyz)
    return np.hstack([spin_images(scan.xyz, normals, radius=radius) for radius in RADII])


def _components(images: Floats, train: Ints) -> Floats:
    """Return a constant and the principal components of the scaled values."""
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    fitted = make_pipeline(StandardScaler(), PCA(COMPONENTS)).fit(images[train])
    return np.hstack([np.ones((len(images), 1)), fitted.transform(images)])


def _graph(xyz: Floats, nodes: Floats, features: str) -> tuple[Ints, Floats, Floats]:
    edges = neighbour_edges(xyz, NEAREST)
    constant = np.ones((len(edges), 1))
    return edges, nodes, edge_features(xyz, edges) if features == NINE else constant
