r"""Assignments: every left node gets a right node of its own.

    y_{ij} in {0, 1},   sum_j y_ij = 1,   sum_i y_ij <= 1,    cost(y) = sum_ij c_ij y_ij,

by SciPy's `linear_sum_assignment`; decisions and costs are matrices row by row.

>>> Assignments(2, 2).minimize(np.array([[1.0, 2.0, 2.0, 9.0]])).points
array([[0., 1., 1., 0.]])
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from structopt.arrays import Floats
from structopt.errors import InfeasibleError
from structopt.parameters import Count
from structopt.structures.decision.base import Decided, DecisionSet, no_excess


class Assignments(DecisionSet, trusted=True):
    """Assignments of ``n_left`` nodes to ``n_right`` others, m = n_left * n_right parts.

    Parameters
    ----------
    n_left, n_right : int
        At most as many on the left as on the right; n_right is n_left by default.
    """

    checked_in = "check"

    def __init__(self, n_left: Count, n_right: Count | None = None) -> None:
        self.n_left, self.n_right = n_left, n_right

    @property
    def shape(self) -> tuple[int, int]:
        """Nodes on the left and on the right."""
        return self.n_left, self.n_left if self.n_right is None else self.n_right

    @property
    def n_parts(self) -> int:
        """How many pairs there are."""
        return self.shape[0] * self.shape[1]

    def check(self) -> None:
        """Refuse more left nodes than right ones."""
        if self.shape[0] > self.shape[1]:
            raise InfeasibleError(
                f"{self.shape[0]} left nodes cannot all have one of {self.shape[1]} right nodes of "
                "their own: swap the sides, or add right nodes."
            )

    def minimize(self, costs: Floats, start: int = 0) -> Decided:
        """Return the cheapest assignment of each row of costs."""
        points = np.zeros_like(costs)
        rows = np.arange(self.shape[0]) * self.shape[1]
        for point, own in zip(points, costs, strict=True):
            point[rows + linear_sum_assignment(own.reshape(self.shape))[1]] = 1.0
        return no_excess(points)

    def contains(self, points: Floats) -> NDArray[np.bool_]:
        """Return whether each point is an assignment."""
        tables = points.reshape(-1, *self.shape)
        whole = np.all((points == 0) | (points == 1), axis=1)
        once = np.all(tables.sum(axis=2) == 1, axis=1) & np.all(tables.sum(axis=1) <= 1, axis=1)
        return np.asarray(whole & once)

    def part_names(self) -> list[str]:
        """Return the pairs as text."""
        return [f"{i}-{j}" for i in range(self.shape[0]) for j in range(self.shape[1])]
