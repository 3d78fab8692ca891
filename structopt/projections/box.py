r"""Euclidean projection on a box.

    min 1/2 |z - v|^2   s.t.  lower <= z <= upper,       z_j = min(max(v_j, lower_j), upper_j).

>>> import numpy as np
>>> project_box([-1.0, 0.5, 7.0], lower=0.0, upper=[1.0, 1.0, np.inf]).point
array([0. , 0.5, 7. ])
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from structopt.errors import InvalidInputError
from structopt.structures.relaxation import Projected


def project_box(v: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> Projected:
    """Project on ``lower <= z <= upper``; bounds may be infinite, and one number or one each.

    Raises
    ------
    InvalidInputError
        On a v that is not finite, or bounds that leave no room.

    Examples
    --------
    >>> project_box([2.0, -3.0], -1.0, 1.0).error
    0.0
    """
    given, low, high = (np.asarray(a, dtype=np.float64) for a in (v, lower, upper))
    if not np.all(np.isfinite(given)):
        raise InvalidInputError(f"Only finite vectors can be projected; got {given!r}.")
    if not np.all(low <= high):  # NaN included
        raise InvalidInputError("Some lower bound lies above its upper bound: the box is empty.")
    return Projected(np.clip(given, low, high), 0.0)
