r"""Euclidean projection on products of matching polytopes.

    min 1/2 |z - a|^2   s.t.  0 <= z <= 1,   sum of z over the edges at a node <= its limit b.

With one multiplier a node, u, v >= 0, the answer is z_ij = clip(a_ij - u_i - v_j, 0, 1), and (u, v)
minimise the convex, piecewise quadratic

    sum_ij h(a_ij - u_i - v_j) + b . (u, v),      h' = clip(., 0, 1).

Semismooth Newton steps, one pair at a time (left multipliers eliminated, Cholesky of what is
left), with a sweep of exact block-coordinate steps wherever a step had to be cut.

A feasible point is made from any (u, v) by scaling down the edges of nodes over their limit. By
strong convexity its distance from the projection is at most the square root of twice the duality
gap, which is a sum of terms >= 0 and computed as such.

>>> import numpy as np
>>> left, right = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
>>> one_pair = np.array([[0, 4], [0, 2], [0, 2]])  # 4 edges, 2 left and 2 right nodes
>>> square = MatchingPolytope(left, right, (np.ones(2), np.ones(2)), one_pair)
>>> square.project(np.array([1.0, 0.5, 0.5, 1.0]), error=1e-9).point.round(9)
array([0.75, 0.25, 0.25, 0.75])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.errors import InvalidInputError
from structopt.structures.base.relaxation import Projected

MAX_STEPS = 500
"""Newton steps of a pair at most; a handful is usual."""


class MatchingPolytope:
    """Fractional matchings, with limits at the nodes, of many pairs.

    Parameters
    ----------
    left, right : arrays of int, shape (E,)
        The nodes of each edge, numbered over all pairs; ``left`` ascends.
    limits : (array, array)
        Limit >= 0 of every left and of every right node.
    offsets : array of int, shape (3, P + 1)
        Where each pair's edges, left nodes and right nodes begin; the last column is the end.
    """

    def __init__(self, left: Ints, right: Ints, limits: tuple[Any, Any], offsets: Ints) -> None:
        self._left, self._right = left.astype(np.int64), right.astype(np.int64)
        self._limits = tuple(np.asarray(b, dtype=np.float64) for b in limits)
        self._offsets, *self._nodes = (np.array(row, dtype=np.int64) for row in offsets)
        if np.any(np.diff(self._left) < 0):
            raise InvalidInputError("Edges must be sorted by their left node.")
        self._by_right = np.argsort(self._right, kind="stable").astype(np.int64)
        self._ptr = tuple(
            np.concatenate([[0], np.cumsum(np.bincount(nodes, minlength=len(limit)))])
            for nodes, limit in zip((self._left, self._right), self._limits, strict=True)
        )

    def project(self, a: Floats, *, error: float, state: Any = None) -> Projected:
        """Return the point nearest to ``a``, up to ``error`` where rounding allows it.

        ``state`` is that of an earlier projection on the same polytope: the multipliers.
        """
        from structopt.structures.matching import projection_kernels as matching_kernels

        given = np.ascontiguousarray(a, dtype=np.float64)
        if given.shape != self._left.shape or not np.all(np.isfinite(given)):
            raise InvalidInputError(
                f"A point of {len(self._left)} finite numbers is expected; got shape {given.shape}."
            )
        u, v = (np.zeros(len(b)) for b in self._limits) if state is None else map(np.copy, state)
        z = np.zeros(len(given))
        sizes = np.diff(self._offsets)
        targets = 0.5 * error**2 * sizes / max(1, len(given))
        gaps = np.zeros(len(sizes))
        matching_kernels.project(
            given, self._offsets, self._left, self._right, *self._ptr, self._by_right,
            *self._nodes, *self._limits, u, v, z, targets, gaps, state is not None, MAX_STEPS,
        )  # fmt: skip
        return Projected(z, float(np.sqrt(2.0 * gaps.sum())), (u, v))
