"""What a user's set of decisions answers, looked at before it is believed."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.errors import InvalidInputError, OracleError
from structopt.structures.decision.base import Decided, DecisionSet, as_rows, no_excess

_COMPARED = 50
"""Answers that are held against each other in every call."""


def looked_at(written: Callable[..., Any]) -> Callable[..., Decided]:
    """Return a user's `minimize` whose answers are decisions of the set, or an error."""
    numbers_examples = len(inspect.signature(written).parameters) > 2

    @wraps(written)
    def minimize(self: DecisionSet, costs: Floats, start: int = 0) -> Decided:
        found = written(self, costs, start) if numbers_examples else written(self, costs)
        said = f"{type(self).__name__}.minimize"
        if found is None:
            raise OracleError(f"{said} returned None: return a decision for each row of costs.")
        answer = found if isinstance(found, Decided) else no_excess(found)
        try:
            points = as_rows(answer.points, self.n_parts, f"What {said} returned", start)
        except InvalidInputError as error:
            raise OracleError(str(error)) from error
        if len(points) != len(costs):
            raise OracleError(f"{said} returned {len(points)} decisions for {len(costs)} costs.")
        inside = np.asarray(self.contains(points), dtype=bool)
        if inside.shape != (len(points),):
            raise OracleError(
                f"{type(self).__name__}.contains returned an array of shape {inside.shape} for "
                f"{len(points)} decisions: return a truth value for each."
            )
        if self.boolean:
            inside &= np.all((points == 0) | (points == 1), axis=1)
        if not inside.all():
            i = start + int(np.argmin(inside))
            raise OracleError(
                f"{said} returned {points[i - start]} for example {i}, which is not in the set"
                + (" of 0/1 decisions (of real ones, boolean = False)." if self.boolean else "."),
                example=i,
            )
        found = Decided(points, np.asarray(answer.excess, dtype=np.float64))
        _compare(self, costs, found, start)
        return found

    return minimize


def _compare(of: DecisionSet, costs: Floats, found: Decided, start: int) -> None:
    """Refuse answers that cost more than other examples', or than others with one part changed."""
    few = slice(0, _COMPARED)
    costs, points, excess = costs[few], found.points[few], found.excess[few]
    others = points
    if of.boolean and len(points):
        changed = np.abs(points[0] - np.eye(of.n_parts))
        others = np.vstack([points, changed[np.asarray(of.contains(changed), dtype=bool)]])
    value, cheapest = (costs * points).sum(axis=1) - excess, (costs @ others.T).min(axis=1)
    worse = value > cheapest + 1e-9 * (1.0 + np.abs(costs).sum(axis=1))
    if worse.any():
        i = int(np.argmax(worse))
        raise OracleError(
            f"{type(of).__name__}.minimize returned a decision of cost {value[i]:.6g} for example "
            f"{start + i}, and another one of the set costs {cheapest[i]:.6g}: it does not find "
            "the cheapest, and nothing that rests on it is certified.",
            example=start + i,
        )
