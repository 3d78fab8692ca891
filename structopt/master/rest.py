r"""Where a column of a Lagrangian has its minimum.

Given its reduced cost r,

    min over lb <= x <= ub of  1/2 p x^2 + r x + l1 |x|.

With p = 0 and no bound above it needs ``r >= -l1``, without one below ``r <= l1``; within these it
*rests* at 0, or at the bound nearest to it.

>>> rests = np.array([0.5, -3.0]), np.zeros(2), np.ones(2), np.full(2, -np.inf), np.full(2, np.inf)
>>> resting_points(*rests)  # the second column falls for ever
array([ 0., inf])
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Floats
from structopt.master.program import ROUNDING, Program


def resting_range(program: Program, flat: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return the least and the largest reduced cost at which each ``flat`` column has a minimum."""
    floor = np.where(flat & np.isposinf(program.ub), -program.l1, -np.inf)
    return floor, np.where(flat & np.isneginf(program.lb), program.l1, np.inf)


def resting_points(reduced: Any, curvature: Any, l1: Any, lb: Any, ub: Any) -> Floats:
    """Return where each column has its minimum; infinite where it has none, beyond rounding."""
    over = np.abs(reduced) - l1 - np.where(curvature > 0, 0.0, ROUNDING)
    pulled = np.sign(-reduced) * np.maximum(over, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.where(curvature > 0, pulled / curvature, pulled * np.inf)
    return np.clip(np.where(pulled == 0.0, 0.0, x), lb, ub)
