r"""Shortest paths through a grid, to the right and down: the standard set of the literature.

>>> import numpy as np
>>> grid = GridPaths(2, 2)
>>> grid.edges
[(0, 1), (0, 2), (1, 3), (2, 3)]
>>> grid.minimize(np.array([[1.0, 2.0, 5.0, 1.0]])).points
array([[0., 1., 0., 1.]])
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Floats
from structopt.errors import InvalidInputError
from structopt.parameters import Count
from structopt.structures.decision.base import Decided, DecisionSet, no_excess
from structopt.structures.decision.dag import DagPaths
from structopt.structures.decision.walks import are_paths


class GridPaths(DecisionSet, trusted=True):
    """Paths from the first to the last node of a grid, each step to the right or down.

    Nodes are numbered row by row; so are the edges, in each row first those to the right, then
    those down (as in PyEPO's grids).

    Parameters
    ----------
    rows, columns : int
        Nodes in each direction; 5 x 5 nodes have 40 edges and 70 paths.
    """

    checked_in = "check"

    def __init__(self, rows: Count = 5, columns: Count = 5) -> None:
        self.rows, self.columns = rows, columns

    @cached_property
    def edges(self) -> list[tuple[int, int]]:
        """The edges, in the order of costs."""
        found = []
        for i in range(self.rows):
            first = i * self.columns
            found += [(first + j, first + j + 1) for j in range(self.columns - 1)]
            if i + 1 < self.rows:
                found += [(first + j, first + j + self.columns) for j in range(self.columns)]
        return found

    @cached_property
    def _paths(self) -> DagPaths:
        return DagPaths(self.edges, 0, self.rows * self.columns - 1)

    @property
    def n_parts(self) -> int:
        """How many edges there are."""
        return len(self.edges)

    def check(self) -> None:
        """Refuse a grid of one node."""
        if self.rows * self.columns < 2:
            raise InvalidInputError("A grid of one node has no paths: give it two rows or columns.")

    def minimize(self, costs: Floats, start: int = 0) -> Decided:
        """Return the shortest path of each row of costs."""
        return no_excess(self._paths.minimize(costs))

    def contains(self, points: Floats) -> NDArray[np.bool_]:
        """Return whether each point is a path."""
        return are_paths(points, self.edges, 0, self.rows * self.columns - 1)

    def part_names(self) -> list[str]:
        """Return the edges as text."""
        return [f"{u}-{v}" for u, v in self.edges]
