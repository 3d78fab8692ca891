r"""Decisions that are listed: brute force, one product and a look at every column.

    y = the row of Z with the least  (Z c)_k.

>>> import numpy as np
>>> two = Listed([[1.0, 0.0], [0.5, 0.5]])
>>> two.minimize(np.array([[1.0, 2.0], [2.0, 1.0]])).points, two.boolean
(array([[1. , 0. ],
       [0.5, 0.5]]), False)
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Floats, as_floats
from structopt.errors import InfeasibleError, InvalidInputError
from structopt.structures.decision.base import Decided, DecisionSet, no_excess

_AT_ONCE = 1 << 22
"""Numbers of a product that are held at once: 32 MB."""


class Listed(DecisionSet, trusted=True):
    """A finite set of decisions, given as a matrix with a decision a row.

    Parameters
    ----------
    decisions : array (K, m)
        Real numbers; 0/1 vectors can be told apart part by part (second best, distances).
    """

    def __init__(self, decisions: Any) -> None:
        self.decisions = decisions

    @cached_property
    def rows(self) -> Floats:
        """The decisions as floats."""
        rows = as_floats(self.decisions, "decisions")
        if rows.ndim != 2 or not np.isfinite(rows).all():
            raise InvalidInputError(
                f"decisions has shape {rows.shape}: give finite numbers, a decision a row."
            )
        if not rows.size:
            raise InfeasibleError("The list of decisions is empty: there is nothing to choose.")
        return rows

    @property
    def boolean(self) -> bool:  # type: ignore[override]
        """Whether all decisions are 0/1 vectors."""
        return bool(np.all((self.rows == 0) | (self.rows == 1)))

    @property
    def n_parts(self) -> int:
        """How many numbers a decision has."""
        return int(self.rows.shape[1])

    def check(self) -> None:
        """Refuse an empty list."""
        _ = self.rows

    def minimize(self, costs: Floats, start: int = 0) -> Decided:
        """Return the first of the cheapest decisions of each row of costs."""
        return no_excess(self.rows[cheapest(costs, self.rows)])

    def contains(self, points: Floats) -> NDArray[np.bool_]:
        """Return whether each point is listed."""
        return np.array([bool((self.rows == point).all(axis=1).any()) for point in points])


def cheapest(costs: Floats, rows: Floats) -> NDArray[np.int64]:
    """Return for each row of costs which of some decisions costs least."""
    step = max(1, _AT_ONCE // len(rows))
    transposed = np.ascontiguousarray(rows.T)
    found = [
        np.argmin(costs[a : a + step] @ transposed, axis=1) for a in range(0, len(costs), step)
    ]
    return np.concatenate([np.zeros(0, dtype=np.int64), *found])
