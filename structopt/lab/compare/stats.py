r"""What is made of measured times: shifted geometric means, rankings and performance profiles.

The cost of backend s on problem p is the median of its CPU seconds, and a failure costs the time
limit. Over problems p,

    mean_s = exp(mean_p log(t_ps + shift)) - shift,
    rho_s(tau) = share of p with t_ps <= tau min_s' t_ps'.

References: J. J. More and E. D. Dolan, "Benchmarking optimization software with performance
profiles" (2002); the rules are those of S. Caron et al., "qpbenchmark".

>>> round(shifted_mean([1.0, 1.0]), 6)
1.0
>>> ranking({("M3N", "a", "fast"): 1.0, ("M3N", "a", "slow"): 2.0})
{'M3N': [('fast', 1.0), ('slow', 2.0)]}
"""

from __future__ import annotations

import csv
import math
import os
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import combinations

from structopt.errors import FileFormatError

SHIFT = 0.1
"""Seconds. Keeps the smallest problems, whose times are mostly noise, from deciding."""

Costs = Mapping[tuple[str, str, str], float]
"""Seconds by (formulation, data, backend); what a backend does not take is not there."""


def shifted_mean(seconds: Iterable[float], shift: float = SHIFT) -> float:
    """Return the shifted geometric mean."""
    return math.exp(statistics.fmean(math.log(s + shift) for s in seconds)) - shift


def ranking(costs: Costs) -> dict[str, list[tuple[str, float]]]:
    """Return (backend, shifted mean) by formulation, best first.

    Backends are ranked within a formulation only, where all that take it solved the same problems.
    """
    seconds: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (formulation, _, backend), cost in costs.items():
        seconds[formulation][backend].append(cost)
    return {
        formulation: sorted(
            ((backend, shifted_mean(times)) for backend, times in backends.items()),
            key=lambda pair: pair[1],
        )
        for formulation, backends in seconds.items()
    }


def profile(costs: Costs, failed: Iterable[tuple[str, str, str]]) -> dict[str, list[float]]:
    """Return by backend the sorted ratios to the best on each problem it takes; failures infinite.

    >>> costs = {("f", "a", "x"): 1.0, ("f", "a", "y"): 3.0, ("f", "b", "x"): 1.0}
    >>> profile(costs, [("f", "b", "x")])
    {'x': [1.0, inf], 'y': [3.0]}
    """
    lost = set(failed)
    best: dict[tuple[str, str], float] = defaultdict(lambda: math.inf)
    for key, cost in costs.items():
        if key not in lost:
            best[key[:2]] = min(best[key[:2]], cost)
    ratios: dict[str, list[float]] = defaultdict(list)
    for key, cost in costs.items():
        ratios[key[2]].append(math.inf if key in lost else cost / max(best[key[:2]], 1e-9))
    return {backend: sorted(values) for backend, values in ratios.items()}


def order_changes(before: Costs, after: Costs) -> tuple[int, list[str]]:
    """Return how many pairs of backends both runs rank, and which of them changed places.

    >>> one = {("M3N", "a", "x"): 1.0, ("M3N", "a", "y"): 1.1}
    >>> two = {("M3N", "a", "x"): 1.0, ("M3N", "a", "y"): 0.9}
    >>> order_changes(one, two)
    (1, ['M3N: x before y by 1.10 times, then y before x by 1.11 times'])
    """
    pairs, changed = 0, []
    then = {f: dict(ranked) for f, ranked in ranking(before).items()}
    for formulation, ranked in ranking(after).items():
        old = then.get(formulation, {})
        now = [(backend, mean) for backend, mean in ranked if backend in old]
        for (quick, mean), (slow, other) in combinations(now, 2):
            pairs += 1
            if old[slow] < old[quick]:
                changed.append(
                    f"{formulation}: {slow} before {quick} by {old[quick] / old[slow]:.2f} times, "
                    f"then {quick} before {slow} by {other / mean:.2f} times"
                )
    return pairs, changed


def read_costs(path: str | os.PathLike[str]) -> dict[tuple[str, str, str], float]:
    """Read the costs of an earlier comparison from its ``compare.csv``."""
    costs: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    with open(path, encoding="utf-8", newline="") as file:
        try:
            for row in csv.DictReader(file):
                if row["cost"]:
                    key = (row["formulation"], row["data"], row["backend"])
                    costs[key].append(float(row["cost"]))
        except (csv.Error, KeyError, TypeError, ValueError) as error:
            raise FileFormatError(
                f"{path} is not a file of `structopt compare`: {error}."
            ) from None
    return {key: statistics.median(values) for key, values in costs.items()}
