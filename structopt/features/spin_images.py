r"""Spin images of points: where their neighbours lie around and along their normals.

For a point p with normal n, a neighbour x has the coordinates (Johnson and Hebert, 1999)

    beta = <n, x - p>,    alpha = sqrt(|x - p|^2 - beta^2),

the signed height above the tangent plane and the distance from the normal's line: all that a turn
around the normal leaves as it is. The image is a grid of values of beta (rows, from radius down to
-radius) and alpha (columns, from 0 to radius), and each x within the cylinder alpha <= radius,
|beta| <= radius adds bilinear weights, 1 in all, to the four grid points around it.

>>> points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 2]]
>>> spin_images(points, [[0, 0, 1]] * 4, radius=2.0, bins=(3, 3))[0].reshape(3, 3)
array([[1., 0., 0.],
       [1., 2., 0.],
       [0., 0., 0.]])
>>> surface_normals(points[:3], k=2)
array([[0., 0., 1.],
       [0., 0., 1.],
       [0., 0., 1.]])
"""

from __future__ import annotations

import operator
from itertools import chain
from typing import Any

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.errors import InvalidInputError
from structopt.parameters import Count, Positive, checked

AT_ONCE = 256
"""Points whose neighbours are held at once: there may be thousands of each."""


@checked
def spin_images(
    points: Any, normals: Any, *, radius: Positive, bins: tuple[int, int] = (10, 5)
) -> Floats:
    """Return the spin image of every point of a cloud.

    Parameters
    ----------
    points : array (n, 3)
    normals : array (n, 3)
        The axis of each point's image, of any length but 0, as :func:`surface_normals` finds them;
        with the vertical for all points heights are those above the point itself.
    radius : float
        Of the cylinder, and half its height.
    bins : (int, int)
        Grid points along beta and alpha, at least 2 of each: so many values of beta from radius
        to -radius, and of alpha from 0 to radius.

    Returns
    -------
    array (n, bins[0] * bins[1])
        Images by rows. The values of an image sum to the number of points in the cylinder, the
        point itself, at alpha = beta = 0, among them.

    Notes
    -----
    Moving points and normals rigidly changes nothing. A. E. Johnson and M. Hebert, *Using spin
    images for efficient object recognition in cluttered 3D scenes*, PAMI 21(5), 1999, section 2.
    """
    from scipy.spatial import cKDTree

    cloud, axes = _triples(points, "points"), _directions(normals, "normals")
    if len(axes) != len(cloud):
        raise InvalidInputError(f"{len(cloud)} points have {len(axes)} normals: give one each.")
    rows, columns = _grid_size(bins)
    # the ball around the cylinder, and a little more: those outside are sorted out exactly below
    tree, reach = cKDTree(cloud), 1.001 * np.sqrt(2.0) * radius
    images = np.zeros((len(cloud), rows * columns))
    for start in range(0, len(cloud), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        p, x = _pairs(tree, cloud[some], reach)
        beta, alpha = _coordinates(cloud[x] - cloud[some][p], axes[some][p])
        inside = (alpha <= radius) & (np.abs(beta) <= radius)
        p, beta, alpha = p[inside], beta[inside], alpha[inside]
        i, down = _grid(0.5 * (1.0 - beta / radius), rows)
        j, right = _grid(alpha / radius, columns)
        near = (p * rows + i) * columns + j
        corners = np.concatenate([near, near + 1, near + columns, near + columns + 1])
        up, left = 1.0 - down, 1.0 - right
        weights = np.concatenate([up * left, up * right, down * left, down * right])
        found = np.bincount(corners, weights, images[some].size)
        images[some] = found.reshape(-1, rows * columns)
    return images


@checked
def surface_normals(
    points: Any, *, k: Count = 12, up: tuple[float, float, float] = (0.0, 0.0, 1.0)
) -> Floats:
    """Return unit normals of the planes through the points and their nearest ones.

    The normal of p is the direction in which p and its k nearest points vary least, the last
    principal component; of the two signs the one with <normal, up> >= 0.

    Parameters
    ----------
    points : array (n, 3)
    k : int
        Neighbours, at least 2. Where these and p lie on a line, the normal is one of those across
        it.
    up : (float, float, float)
        Towards the scanner.
    """
    from scipy.spatial import cKDTree

    cloud = _triples(points, "points")
    if not 2 <= k < len(cloud):
        raise InvalidInputError(
            f"k must be at least 2 and less than the number of points, {len(cloud)}; got {k}."
        )
    _, near = cKDTree(cloud).query(cloud, k + 1)
    local = cloud[near] - cloud[near].mean(axis=1, keepdims=True)
    normals: Floats = np.linalg.eigh(np.einsum("nki,nkj->nij", local, local))[1][:, :, 0]
    down = normals @ _directions([up], "up")[0] < 0
    return np.where(down[:, None], -normals, normals) + 0.0  # no -0.0


def _triples(values: Any, name: str) -> Floats:
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInputError(f"{name} must be numbers, one row of three a point.") from None
    if found.ndim != 2 or found.shape[1] != 3 or not len(found) or not np.isfinite(found).all():
        raise InvalidInputError(
            f"{name} must be finite and have shape (n, 3), n >= 1; got shape {found.shape}."
        )
    return found


def _directions(values: Any, name: str) -> Floats:
    """Return rows of length 1."""
    found = _triples(values, name)
    length = np.linalg.norm(found, axis=1)
    if not np.all((length > 0) & (length < np.inf)):
        row = int(np.argmin((length > 0) & (length < np.inf)))
        raise InvalidInputError(
            f"Row {row} of {name} is no direction; its length is {length[row]}."
        )
    unit: Floats = found / length[:, None]
    return unit


def _grid_size(bins: Any) -> tuple[int, int]:
    try:
        rows, columns = map(operator.index, bins)
    except (TypeError, ValueError):
        rows = columns = 0
    if min(rows, columns) < 2:
        raise InvalidInputError(f"bins must be two whole numbers >= 2; got {bins!r}.")
    return rows, columns


def _pairs(tree: Any, centres: Floats, reach: float) -> tuple[Ints, Ints]:
    """Return the numbers of centres and of the points within reach of them."""
    near = tree.query_ball_point(centres, reach)
    many = np.fromiter(map(len, near), np.int64, len(near))
    x = np.fromiter(chain.from_iterable(near), np.int64, int(many.sum()))
    return np.repeat(np.arange(len(near)), many), x


def _coordinates(offset: Floats, axis: Floats) -> tuple[Floats, Floats]:
    """Return beta and alpha; alpha as the length of what is across, which does not cancel."""
    beta = np.einsum("ij,ij->i", offset, axis)
    return beta, np.linalg.norm(offset - beta[:, None] * axis, axis=1)


def _grid(share: Floats, points: int) -> tuple[Ints, Floats]:
    """Return the grid point before a place in [0, 1], and the weight of the one behind it."""
    place = np.clip(share, 0.0, 1.0) * (points - 1)
    before = np.minimum(place.astype(np.int64), points - 2)
    return before, place - before
