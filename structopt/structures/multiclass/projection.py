r"""Euclidean projection on the simplex, row by row.

    min 1/2 |z - v|^2   s.t.  z >= 0,  sum z = s   (or <= s).

The answer is z = max(v - theta, 0) with one number theta a row (theta >= 0 where the sum may stay
below s), found by sorting: O(n log n), exact up to rounding.

For any theta that point is the exact projection on a simplex of another size, s' = sum z. All
entries of z move the same way with theta, so the distance to the true answer is at most |s' - s|:
the residual is a bound on the error, not an estimate.

>>> import numpy as np
>>> p = project_simplex(np.array([0.5, 2.0, 1.8]), 1.0)
>>> p.point.round(12), round(float(p.threshold), 12)
(array([0. , 0.6, 0.4]), 1.4)
>>> project_simplex(np.array([[3.0, 0.0], [0.2, 0.3]]), 1.0, at_most=True).point
array([[1. , 0. ],
       [0.2, 0.3]])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from structopt.arrays import Floats
from structopt.errors import InvalidInputError


@dataclass(frozen=True)
class Projection:
    """A projected point and the proof of its accuracy.

    Attributes
    ----------
    point : array
        Of the shape of what was projected.
    threshold : array
        theta of each row (a 0-dimensional array for one vector); 0 where the row was inside.
    residual : float
        Bound on the Euclidean distance of any row from its exact projection.
    """

    point: Floats
    threshold: Floats
    residual: float


def project_simplex(v: ArrayLike, size: ArrayLike = 1.0, *, at_most: bool = False) -> Projection:
    r"""Project rows on ``{z >= 0, sum z = size}``.

    .. math:: z = \max(v - \theta, 0), \qquad \textstyle\sum_j \max(v_j - \theta, 0) = s

    Parameters
    ----------
    v : array of shape (n,) or (m, n)
        One vector, or m of them.
    size : float or array of shape (m,)
        s >= 0 of each row.
    at_most : bool
        Project on ``sum z <= size`` instead.

    Returns
    -------
    Projection

    Raises
    ------
    InvalidInputError
        On an empty or non-finite v, or a negative size.

    Notes
    -----
    Held, Wolfe and Crowder (1974); Duchi, Shalev-Shwartz, Singer and Chandra (2008), Figure 1.

    Examples
    --------
    >>> project_simplex([-1.0, -2.0], 1.0).point
    array([1., 0.])
    """
    vector, rows, total = _checked(v, size)
    # working relative to the largest entry, so that a far away v costs no digits of z
    top = rows.max(axis=1)
    lowered = rows - top[:, None]
    theta = _thresholds(lowered, total)
    point = np.maximum(lowered - theta[:, None], 0.0)
    theta = theta + top
    if at_most:
        inside = np.maximum(rows, 0.0).sum(axis=1) <= total
        point[inside] = np.maximum(rows[inside], 0.0)
        theta[inside] = 0.0
        total = np.where(inside, point.sum(axis=1), total)
    residual = float(np.abs(point.sum(axis=1) - total).max(initial=0.0))
    if vector:
        return Projection(point[0], np.asarray(theta[0]), residual)
    return Projection(point, theta, residual)


def _thresholds(rows: Floats, total: Floats) -> Floats:
    """Return theta of rows whose largest entry is 0."""
    falling = -np.sort(-rows, axis=1)
    excess = np.cumsum(falling, axis=1) - total[:, None]
    count = np.arange(1, rows.shape[1] + 1)
    # the support is the longest run of largest entries that stay positive; a size of 0 leaves none
    support = np.maximum(np.count_nonzero(falling * count > excess, axis=1), 1)
    return np.asarray(excess[np.arange(len(rows)), support - 1] / support)


def _checked(v: ArrayLike, size: ArrayLike) -> tuple[bool, Floats, Floats]:
    """Return whether v is one vector, its rows, and the size of each."""
    given = np.asarray(v, dtype=np.float64)
    rows = np.atleast_2d(given)
    if given.ndim not in (1, 2) or rows.shape[1] == 0 or not np.all(np.isfinite(rows)):
        raise InvalidInputError(
            f"Only finite vectors, or rows of a matrix, can be projected; got shape {given.shape}."
        )
    sizes = np.asarray(size, dtype=np.float64)
    if sizes.shape not in ((), (len(rows),)) or not np.all(np.isfinite(sizes) & (sizes >= 0)):
        raise InvalidInputError(
            f"size must be finite and >= 0, one number or one for each of {len(rows)} rows; got "
            f"{size!r}."
        )
    return given.ndim == 1, rows, np.broadcast_to(sizes, (len(rows),))
