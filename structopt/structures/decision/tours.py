r"""Travelling salesman tours: degree rows, and subtours cut off when they appear.

    y_e in {0, 1},   sum_{e at v} y_e = 2,   sum_{e inside S} y_e <= |S| - 1   for S of 3 .. n - 3.

HiGHS solves the degree rows and the cuts known so far; a subtour in its answer is a new cut
(Dantzig, Fulkerson and Johnson), which stays for all examples and rounds. Whoever runs out of time
returns the best tour at hand, and how far it may be from the shortest.

>>> import numpy as np
>>> tours = Tours(4)
>>> tours.edges
[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
>>> tours.minimize(np.array([[1.0, 9.0, 1.0, 1.0, 9.0, 1.0]])).points
array([[1., 0., 1., 1., 0., 1.]])
"""

from __future__ import annotations

from functools import cached_property
from itertools import combinations, pairwise

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Floats
from structopt.errors import InvalidInputError
from structopt.parameters import Count, NonNegative
from structopt.structures.base.integer.rows import LinearRows
from structopt.structures.decision.base import Decided, DecisionSet
from structopt.structures.decision.lazy import Cut, LazyProgram, linear_rows


class Tours(DecisionSet, trusted=True):
    """Tours through all of n nodes, each edge (u, v) with u < v once: m = n (n - 1) / 2 parts.

    Parameters
    ----------
    n_nodes : int
        At least 3.
    gap : float
        Relative gap at which branch and bound may stop; certificates count what it leaves open.
    time_limit : float, optional
        Seconds that one question may take; again certificates count it.
    """

    checked_in = "check"

    def __init__(
        self, n_nodes: Count, *, gap: NonNegative = 0.0, time_limit: NonNegative | None = None
    ) -> None:
        self.n_nodes, self.gap, self.time_limit = n_nodes, gap, time_limit

    @cached_property
    def edges(self) -> list[tuple[int, int]]:
        """The edges, in the order of costs."""
        return list(combinations(range(self.n_nodes), 2))

    @property
    def n_parts(self) -> int:
        """How many edges there are."""
        return self.n_nodes * (self.n_nodes - 1) // 2

    def check(self) -> None:
        """Refuse tours through fewer than three nodes."""
        if self.n_nodes < 3:
            raise InvalidInputError(f"A tour needs at least 3 nodes; n_nodes is {self.n_nodes}.")

    def note(self) -> str:
        """Return that answers may stop short of the best, if they may."""
        if self.gap == 0 and self.time_limit is None:
            return ""
        return "tours may stop short of the best; the primal value counts what they leave open"

    def minimize(self, costs: Floats, start: int = 0) -> Decided:
        """Return the shortest tour of each row of costs."""
        points, excess = np.zeros_like(costs), np.zeros(len(costs))
        for i, own in enumerate(costs):
            best = self._program.maximize(-own, fallback=self._nearest)
            assert best is not None, "a complete graph has tours"
            points[i], excess[i] = best.point, best.excess
        return Decided(points, excess)

    def contains(self, points: Floats) -> NDArray[np.bool_]:
        """Return whether each point is a tour."""
        degrees = points @ self._incidence.T
        fits = np.all((points == 0) | (points == 1), axis=1) & np.all(degrees == 2, axis=1)
        pairs = zip(fits, points, strict=True)
        return np.array([bool(fit) and not self._broken(y) for fit, y in pairs])

    def part_names(self) -> list[str]:
        """Return the edges as text."""
        return [f"{u}-{v}" for u, v in self.edges]

    # ------------------------------------------------------------------ inside
    @cached_property
    def _incidence(self) -> Floats:
        ends = np.array(self.edges).T
        incidence = np.zeros((self.n_nodes, self.n_parts))
        incidence[ends, np.arange(self.n_parts)] = 1.0
        return incidence

    @cached_property
    def _program(self) -> LazyProgram:
        node, edge = np.nonzero(self._incidence)
        two = np.full(self.n_nodes, 2.0)
        rows = linear_rows(LinearRows(node, edge, np.ones(len(node)), two, two), self.n_parts)
        return LazyProgram(rows, self._broken, gap=self.gap, time_limit=self.time_limit)

    def _broken(self, point: Floats) -> list[Cut]:
        """Return the cuts that the subtours of a point break."""
        graph = nx.Graph([self.edges[j] for j in np.flatnonzero(point > 0.5)])
        found = [sorted(nodes) for nodes in nx.connected_components(graph)]
        if len(found) == 1:
            return []
        return [([self._place(u, v) for u, v in combinations(s, 2)], len(s) - 1.0) for s in found]

    def _place(self, u: int, v: int) -> int:
        u, v = min(u, v), max(u, v)
        return u * (2 * self.n_nodes - u - 1) // 2 + v - u - 1

    def _nearest(self, scores: Floats) -> Floats:
        """Return the tour that goes to the nearest node left."""
        tour, left = [0], set(range(1, self.n_nodes))
        while left:
            tour.append(max(left, key=lambda v: scores[self._place(tour[-1], v)]))
            left.remove(tour[-1])
        point = np.zeros(self.n_parts)
        point[[self._place(u, v) for u, v in pairwise([*tour, 0])]] = 1.0
        return point
