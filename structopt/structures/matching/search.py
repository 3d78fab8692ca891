r"""The heaviest matching of one pair, the best other one, and the k best.

    max  sum_e s_e z_e   s.t.  sum of z over the edges at a node <= its limit,   z in {0, 1}.

Where every limit is 1: clip scores at 0, solve the assignment, drop what scores <= 0. Otherwise
successive longest paths. The best matching other than a given one: if the given one is the best,
another either lacks one of its edges (forbid each in turn), or contains it and more (add the best
edge that still fits). The k best split the set of matchings at an edge in which the best and the
second best of a part differ (Hamacher and Queyranne, 1985).

>>> import numpy as np
>>> pair = PairSearch(np.array([[0, 0], [0, 1], [1, 0]]), (np.ones(2, int), np.ones(2, int)))
>>> pair.best(np.array([5.0, 3.0, 3.0]))
array([False,  True,  True])
>>> pair.best_other(np.array([5.0, 3.0, 3.0]), np.array([False, True, True]))
array([ True, False, False])
"""

from __future__ import annotations

import heapq
from itertools import count

import numpy as np
from scipy.optimize import linear_sum_assignment

from structopt.arrays import Floats, Ints
from structopt.structures.base.vectors import Mask
from structopt.structures.matching import kernels as matching_kernels


class PairSearch:
    """Candidate edges between two sets of nodes.

    Parameters
    ----------
    edges : array of int, shape (E, 2)
        Sorted by left, then right node.
    limits : (array (n1,), array (n2,))
    """

    def __init__(self, edges: Ints, limits: tuple[Ints, Ints]) -> None:
        self.left = np.ascontiguousarray(edges[:, 0])
        self.right = np.ascontiguousarray(edges[:, 1])
        self.limits = limits
        self._unit = all(bool(np.all(limit == 1)) for limit in limits)
        self._shape = (len(limits[0]), len(limits[1]))
        self._complete = len(edges) == self._shape[0] * self._shape[1]

    def best(self, scores: Floats) -> Mask:
        """Return the heaviest matching as a mask over the edges."""
        chosen = np.zeros(len(scores), dtype=bool)
        if len(scores) == 0:
            return chosen
        if not self._unit:
            matching_kernels.best_matching(scores, self.left, self.right, *self.limits, chosen)
            return chosen
        gain = np.maximum(scores, 0.0)
        if self._complete:
            rows, columns = linear_sum_assignment(gain.reshape(self._shape), maximize=True)
            chosen[rows * self._shape[1] + columns] = True
        else:
            table = np.zeros(self._shape)
            table[self.left, self.right] = gain
            rows, columns = linear_sum_assignment(table, maximize=True)
            taken = np.zeros(self._shape, dtype=bool)
            taken[rows, columns] = True
            chosen = taken[self.left, self.right]
        return chosen & (scores > 0)

    def best_other(self, scores: Floats, given: Mask) -> Mask | None:
        """Return the heaviest matching other than ``given``; None if there is no other."""
        found = self.best(scores)
        if np.any(found != given):
            return found
        return self._second(scores, given, np.zeros(0, dtype=np.int64))

    def k_best(self, scores: Floats, k: int) -> list[Mask]:
        """Return the k heaviest matchings, heaviest first (fewer if there are fewer)."""
        best = self.best(scores)
        found, ticket = [best], count()
        # a part of the set of matchings: all with the edges `kept` and none with score -inf
        parts: list[tuple[float, int, Mask, Mask, Floats, Ints]] = []

        def push(first: Mask, within: Floats, kept: Ints) -> None:
            second = self._second(within, first, kept)
            if second is not None:
                heavy = -float(scores[second].sum())
                heapq.heappush(parts, (heavy, next(ticket), first, second, within, kept))

        push(best, scores, np.zeros(0, dtype=np.int64))
        while parts and len(found) < k:
            _, _, first, second, within, kept = heapq.heappop(parts)
            found.append(second)
            split = int(np.flatnonzero(first != second)[0])
            without = within.copy()
            without[split] = -np.inf
            with_it, other = (first, second) if first[split] else (second, first)
            push(with_it, within, np.append(kept, split))
            push(other, without, kept)
        return found

    def _second(self, scores: Floats, best: Mask, kept: Ints) -> Mask | None:
        """Return the second best of a part whose best is given."""
        free = [limit.copy() for limit in self.limits]
        reduced = scores.copy()
        if len(kept):
            reduced[kept] = -np.inf
            for side, nodes in enumerate((self.left, self.right)):
                np.subtract.at(free[side], nodes[kept], 1)
        narrowed = self if not len(kept) else self._narrowed(free)
        if len(kept):
            full = (free[0][self.left] <= 0) | (free[1][self.right] <= 0)
            reduced[full] = -np.inf
        others = []
        for edge in np.setdiff1d(np.flatnonzero(best), kept):
            dropped = reduced.copy()
            dropped[edge] = -np.inf
            found = narrowed.best(dropped)
            found[kept] = True
            others.append(found)
        for side, nodes in enumerate((self.left, self.right)):
            free[side] = self.limits[side] - np.bincount(nodes[best], minlength=len(free[side]))
        fits = ~best & (free[0][self.left] > 0) & (free[1][self.right] > 0) & np.isfinite(scores)
        if np.any(fits):
            more = best.copy()
            more[np.argmax(np.where(fits, scores, -np.inf))] = True
            others.append(more)
        return max(others, key=lambda mask: float(scores[mask].sum()), default=None)

    def _narrowed(self, limits: list[Ints]) -> PairSearch:
        """Return the same edges with other limits; in an assignment the edges say it all."""
        if self._unit:
            return self
        edges = np.stack([self.left, self.right], axis=1)
        return PairSearch(edges, (limits[0], limits[1]))
