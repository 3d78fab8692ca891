r"""What is made of rows: costs, shifted geometric means, performance profiles, true claims.

The cost of solver s on problem p is the median of its CPU seconds, and a failure costs the time
limit. Over problems p,

    mean_s = exp(mean_p log(t_ps + shift)) - shift,
    rho_s(tau) = share of p with t_ps <= tau min_s' t_ps'.

References: E. D. Dolan and J. J. More, "Benchmarking optimization software with performance
profiles" (2002); the rules are those of S. Caron et al., "qpbenchmark".

>>> round(shifted_mean([1.0, 1.0]), 6)
1.0
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from structopt.lab.compare.comparison import SOLVED
from structopt.lab.harness.study import Row

SHIFT = 0.1
"""Seconds. Keeps the smallest problems, whose times are mostly noise, from deciding."""


@dataclass(frozen=True)
class Cost:
    """A solver on a problem at a tolerance.

    Attributes
    ----------
    seconds : float
        Median of the repetitions, a failure at the limit.
    solved : bool
        Whether every repetition was.
    error : float
        The largest error of the repetitions; infinite without an answer.
    """

    seconds: float
    solved: bool
    error: float


Costs = dict[str, dict[str, Cost]]
"""By solver and problem; what a solver does not take is not there."""


def slices(rows: Iterable[Row]) -> dict[tuple[str, float], Costs]:
    """Return costs by set and tolerance: only within one are solvers compared."""
    found: dict[tuple[str, float], dict[str, dict[str, list[Row]]]] = {}
    for row in rows:
        if row["status"] == "refused":
            continue
        part = found.setdefault((row["set"], row["tolerance"]), {})
        part.setdefault(row["solver"], defaultdict(list))[row["problem"]].append(row)
    return {
        key: {
            solver: {name: cost_of(runs) for name, runs in problems.items()}
            for solver, problems in part.items()
        }
        for key, part in found.items()
    }


def cost_of(runs: Sequence[Row]) -> Cost:
    """Return the cost of some repetitions."""
    solved = [row["status"] in SOLVED for row in runs]
    seconds = statistics.median(
        float(row["cpu"]) if fine else float(row["limit"])
        for row, fine in zip(runs, solved, strict=True)
    )
    return Cost(seconds, all(solved), max(_error(row) for row in runs))


def _error(row: Row) -> float:
    if row["status"] in ("infeasible", "unbounded"):
        return 0.0
    value = row.get("error")
    return math.inf if value is None else float(value)


def shifted_mean(seconds: Iterable[float], shift: float = SHIFT) -> float:
    """Return the shifted geometric mean; NaN of nothing."""
    logs = [math.log(s + shift) for s in seconds]
    return math.exp(statistics.fmean(logs)) - shift if logs else math.nan


def common(costs: Costs) -> set[str]:
    """Return the problems that every solver solved which takes any."""
    solved = [{n for n, cost in problems.items() if cost.solved} for problems in costs.values()]
    return set.intersection(*solved) if solved else set()


def mean_error(problems: dict[str, Cost], tolerance: float) -> float:
    """Return the geometric mean of the errors of what was answered, floored at the tolerance.

    Without the floor a solver that happens to be exact on some problems would hide its failures.
    """
    errors = [max(c.error, tolerance) for c in problems.values() if math.isfinite(c.error)]
    return math.exp(statistics.fmean(map(math.log, errors))) if errors else math.nan


def profile(costs: Costs) -> dict[str, list[float]]:
    """Return by solver the sorted ratios to the best on each problem it takes; failures infinite.

    >>> one, three = Cost(1.0, True, 0.0), Cost(3.0, True, 0.0)
    >>> profile({"x": {"a": one, "b": Cost(9.0, False, 1.0)}, "y": {"a": three}})
    {'x': [1.0, inf], 'y': [3.0]}
    """
    best: dict[str, float] = defaultdict(lambda: math.inf)
    for problems in costs.values():
        for name, cost in problems.items():
            if cost.solved:
                best[name] = min(best[name], cost.seconds)
    return {
        solver: sorted(
            max(cost.seconds, 1e-9) / max(best[name], 1e-9) if cost.solved else math.inf
            for name, cost in problems.items()
        )
        for solver, problems in costs.items()
    }


def claims(rows: Iterable[Row]) -> dict[tuple[str, float], tuple[int, int]]:
    """Return by solver and tolerance how many answers it called optimal, and how many were."""
    found: dict[tuple[str, float], tuple[int, int]] = {}
    for row in rows:
        if row.get("claim") == "optimal":
            made, true = found.get((row["solver"], row["tolerance"]), (0, 0))
            # what came late was true all the same
            right = _error(row) <= row["tolerance"]
            found[row["solver"], row["tolerance"]] = made + 1, true + right
    return found


def by_status(rows: Iterable[Row]) -> dict[str, dict[str, int]]:
    """Return how often each status occurs, by solver."""
    found: dict[str, dict[str, int]] = {}
    for row in rows:
        counts: dict[str, Any] = found.setdefault(row["solver"], {})
        counts[row["status"]] = counts.get(row["status"], 0) + 1
    return found
