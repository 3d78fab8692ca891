r"""Knapsacks: items of given weights up to some capacities, whose values are minus their costs.

    y_j in {0, 1},   sum_j w_rj y_j <= b_r for every resource r,    cost(y) = - sum_j v_j y_j.

The set is the same for all examples, so the packings to which no item can be added are listed once
where there are not too many: the cheapest is found by one product, and items that gain nothing are
left out again. Else HiGHS answers.

>>> Knapsack([2.0, 3.0, 4.0], 6.0).minimize(np.array([[-3.0, -4.0, -5.0]])).points
array([[1., 0., 1.]])
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Floats, as_floats
from structopt.errors import InfeasibleError, InvalidInputError
from structopt.structures.base.integer.rows import TOLERANCE, LinearRows
from structopt.structures.base.integer.solver import IntegerProgram
from structopt.structures.decision.base import Decided, DecisionSet, no_excess
from structopt.structures.decision.lazy import linear_rows
from structopt.structures.decision.listed import cheapest

MOST_PACKINGS = 300_000
"""Packings that are looked at before HiGHS is asked instead, all those that fit; of 32 items, four
of which fit at a time, 4,643 remain to which nothing can be added."""


class Knapsack(DecisionSet, trusted=True):
    """Sets of items that fit; give minus the items' values as costs.

    Parameters
    ----------
    weights : array (m,) or (resources, m)
        At least 0.
    capacity : float or array (resources,)
        At least 0.
    """

    def __init__(self, weights: Any, capacity: Any) -> None:
        self.weights, self.capacity = weights, capacity

    @cached_property
    def _rows(self) -> tuple[Floats, Floats]:
        """Weights (resources, m) and capacities (resources,)."""
        weights = np.atleast_2d(as_floats(self.weights, "weights"))
        capacity = np.atleast_1d(as_floats(self.capacity, "capacity"))
        if len(capacity) == 1:
            capacity = np.repeat(capacity, len(weights))
        if weights.ndim != 2 or capacity.shape != (len(weights),) or not weights.size:
            raise InvalidInputError(
                f"weights has shape {np.shape(self.weights)} and capacity "
                f"{np.shape(self.capacity)}: give (resources, items) and (resources,)."
            )
        if not (np.all(np.isfinite(weights)) and np.all(weights >= 0)):
            raise InvalidInputError("weights must be finite and >= 0.")
        if not np.all(np.isfinite(capacity)):
            raise InvalidInputError("capacity must be finite.")
        if np.any(capacity < 0):
            raise InfeasibleError(
                f"capacity is {capacity.min():g}: nothing fits, not even no item at all."
            )
        return weights, capacity

    @property
    def n_parts(self) -> int:
        """How many items there are."""
        return int(self._rows[0].shape[1])

    def check(self) -> None:
        """Refuse weights and capacities that make no sense."""
        _ = self._rows

    @cached_property
    def packings(self) -> Floats | None:
        """The packings to which no item can be added; None if there are too many."""
        weights, capacity = self._rows
        taken, room = np.zeros((1, 0), dtype=bool), capacity[None, :] + TOLERANCE
        for j in range(self.n_parts):
            more = np.flatnonzero((room >= weights[:, j]).all(axis=1))
            if len(taken) + len(more) > MOST_PACKINGS:
                return None
            with_it, without = np.ones((len(more), 1), bool), np.zeros((len(taken), 1), bool)
            taken = np.vstack([np.hstack([taken, without]), np.hstack([taken[more], with_it])])
            room = np.vstack([room, room[more] - weights[:, j]])
        full = np.ones(len(taken), dtype=bool)
        for j in range(self.n_parts):
            full &= taken[:, j] | (room < weights[:, j]).any(axis=1)
        return taken[full].astype(np.float64)

    def minimize(self, costs: Floats, start: int = 0) -> Decided:
        """Return the cheapest packing of each row of costs."""
        if self.packings is None:
            points, excess = np.zeros_like(costs), np.zeros(len(costs))
            for i, own in enumerate(costs):
                best = self._program.maximize(-own)
                assert best is not None, "the empty knapsack fits"
                points[i], excess[i] = best.point, best.excess
            return Decided(points, excess)
        gains = np.minimum(costs, 0.0)
        return no_excess(self.packings[cheapest(gains, self.packings)] * (costs < 0))

    @cached_property
    def _program(self) -> IntegerProgram:
        weights, capacity = self._rows
        resource, item = np.nonzero(weights)
        least = np.full(len(capacity), -np.inf)
        rows = LinearRows(resource, item, weights[resource, item], least, capacity)
        return IntegerProgram(linear_rows(rows, self.n_parts))

    def contains(self, points: Floats) -> NDArray[np.bool_]:
        """Return whether each point is a packing that fits."""
        weights, capacity = self._rows
        whole = np.all((points == 0) | (points == 1), axis=1)
        return np.asarray(whole & np.all(points @ weights.T <= capacity + TOLERANCE, axis=1))
