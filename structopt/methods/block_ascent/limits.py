r"""Multipliers under other limits: feasible ones stay so if they are scaled as the limits are.

D(alpha) = g - q,   D(t alpha) = t g - t^2 q        with the gain g linear, q quadratic in alpha.
"""

from __future__ import annotations

import numpy as np

from structopt.arrays import Floats


def ratio(limit: Floats, before: Floats) -> float | None:
    """Return the factor between two arrays of limits, None if there is not one for all.

    >>> ratio(np.array([2.0, 0.0, 4.0]), np.array([1.0, 0.0, 2.0]))
    2.0
    """
    there = before > 0
    if len(limit) != len(before) or not np.array_equal(there, limit > 0):
        return None
    each = limit[there] / before[there]
    return float(each[0]) if np.allclose(each, each[0], 1e-12, 0.0) else None


def recovered(factor: float, dual: float, gain: float) -> float:
    """Return the dual value of scaled multipliers, from the value and the gain that they had.

    >>> recovered(2.0, 3.0, 4.0)
    4.0
    """
    return factor * gain - factor * factor * (gain - dual)
