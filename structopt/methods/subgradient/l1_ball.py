r"""Euclidean projection on the l1 ball, row by row.

    min 1/2 |z - v|^2   s.t.  |z|_1 <= radius.

The answer is soft-thresholding, z = sign(v) max(|v| - theta, 0), with theta = 0 inside the ball and
the theta of |v|'s projection on the simplex outside: entries below theta become exactly 0.

>>> import numpy as np
>>> p = project_l1_ball(np.array([0.5, -2.0, 1.8]), 1.0)
>>> p.point.round(12)
array([ 0. , -0.6,  0.4])
>>> project_l1_ball(np.array([0.25, -0.5]), 1.0).point
array([ 0.25, -0.5 ])
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from structopt.structures.multiclass.projection import Projection, project_simplex


def project_l1_ball(v: ArrayLike, radius: ArrayLike = 1.0) -> Projection:
    r"""Project rows on ``{|z|_1 <= radius}``.

    .. math:: z = \operatorname{sign}(v) \max(|v| - \theta, 0)

    Parameters
    ----------
    v : array of shape (n,) or (m, n)
        One vector, or m of them.
    radius : float or array of shape (m,)
        Radius >= 0 of each row's ball.

    Returns
    -------
    Projection
        Its `threshold` is theta, its `residual` a bound on the distance to the exact projection.

    Raises
    ------
    InvalidInputError
        On an empty or non-finite v, or a negative radius.

    Notes
    -----
    Duchi, Shalev-Shwartz, Singer and Chandra (2008), Section 4. Zhu, Xing and Zhang (2009) print an
    l1 norm under the projection (3); the sub-gradient method needs the Euclidean one.

    Examples
    --------
    >>> project_l1_ball([[3.0, -4.0], [0.0, 0.0]], 1.0).point
    array([[ 0., -1.],
           [ 0.,  0.]])
    """
    given = np.asarray(v, dtype=np.float64)
    magnitude = project_simplex(np.abs(given), radius, at_most=True)
    point = np.copysign(magnitude.point, given) + 0.0  # no negative zeros
    return Projection(point, magnitude.threshold, magnitude.residual)
