r"""What every model that decides can do: predict costs, decide, and say what its decisions cost.

    regret = sum_i c_i . (y_hat_i - y_i*) / sum_i |c_i . y_i*|,

where y_i* is the cheapest decision at the costs c_i that were seen.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import networkx as nx
import numpy as np

from structopt.arrays import Floats, as_floats
from structopt.errors import InvalidInputError
from structopt.structures.base.given import nothing_agrees
from structopt.structures.base.structure import check_lengths
from structopt.structures.decision.base import DecisionSet, as_rows
from structopt.structures.decision.paths import ShortestPaths
from structopt.structures.program.structure import BooleanProgram


class Decider:
    """Mixin of the models: a set of decisions, and costs that are predicted."""

    decisions: Any

    @abstractmethod
    def predict_costs(self, X: Any) -> Floats:
        """Return the predicted costs of every part, (n, m)."""

    def predict(self, X: Any, *, given: Any = None) -> Any:
        """Return the cheapest decisions at the predicted costs, (n, m); whole numbers if 0/1.

        Parameters
        ----------
        X : sequence
        given : sequence, optional
            For each input what is known of its 0/1 decision (None: nothing): 1, 0 or None for each
            part, or a mapping of some. The cheapest decision that agrees is returned.
        """
        of, costs = as_set(self.decisions), self.predict_costs(X)
        if given is None:
            points = of.minimize(costs).points
        else:
            check_lengths(list(costs), given)
            points, excess = of.within(costs, of.held(given))
            if np.any(excess < 0):
                i = int(np.argmax(excess < 0))
                raise nothing_agrees(given[i], i)
        return points.astype(np.int64) if of.boolean else points

    def regrets(self, X: Any, costs: Any) -> Floats:
        """Return what each decision costs more than the best one."""
        return self._regrets(X, costs)[0]

    def regret(self, X: Any, costs: Any, *, sample_weight: Any = None) -> float:
        """Return the normalised regret: what decisions cost too much, over what the best cost."""
        regrets, best = self._regrets(X, costs)
        weight = np.ones(len(best)) if sample_weight is None else sample_weight
        weight = as_floats(weight, "sample_weight")
        if weight.shape != best.shape:
            raise InvalidInputError(f"sample_weight must hold {len(best)} numbers.")
        whole = float(weight @ np.abs(best))
        if whole == 0:
            raise InvalidInputError(
                "The best decisions cost nothing at all, so that regret cannot be normalised: use "
                "regrets(X, costs)."
            )
        return float(weight @ regrets) / whole

    def _regrets(self, X: Any, costs: Any) -> tuple[Floats, Floats]:
        of = as_set(self.decisions)
        costs = as_rows(costs, of.n_parts, "costs")
        decided = np.asarray(self.predict(X), dtype=np.float64)
        if len(decided) != len(costs):
            raise InvalidInputError(f"{len(decided)} inputs but {len(costs)} vectors of costs.")
        best = (costs * of.minimize(costs).points).sum(axis=1)
        return (costs * decided).sum(axis=1) - best, best


def as_set(given: Any) -> DecisionSet:
    """Return a set of decisions as it was given, or the paths of a networkx graph."""
    if isinstance(given, DecisionSet):
        return given
    if isinstance(given, nx.Graph):
        return ShortestPaths(given)
    if isinstance(given, BooleanProgram):
        raise InvalidInputError(
            "decisions is a BooleanProgram, whose constraints depend on each input: give those "
            "that hold for all, as so.decisions.LinearProgram(lambda y: [...], n_parts)."
        )
    raise InvalidInputError(
        f"decisions is a {type(given).__name__}: give a set of so.decisions (GridPaths, "
        "ShortestPaths, Assignments, Knapsack, SpanningTrees, Tours, LinearProgram, Listed), or a "
        "networkx graph with the attributes 'source' and 'sink'."
    )


def best_decisions(of: DecisionSet, costs: Any, start: int = 0) -> tuple[Floats, Floats]:
    """Return checked costs, and the cheapest decision at each."""
    of.check()
    checked = as_rows(costs, of.n_parts, "costs", start)
    of.check_costs(checked, start)
    return checked, of.minimize(checked, start).points
