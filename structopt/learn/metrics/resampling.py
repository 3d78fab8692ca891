r"""How sure a score is, and whether one model beats another: resampling of examples.

- *Bootstrap*: the examples are drawn again with replacement, B times; the interval holds the middle
  share of the B scores (Efron's percentile interval).
- *Approximate randomisation* (Noreen 1989; Yeh 2000): if two models were equally good, swapping
  their outputs on any examples would change nothing but chance. Over R random swaps,

      p = (1 + #{|difference of the swapped| >= |difference|}) / (1 + R).

Whole examples are drawn or swapped, since labels of one example are not independent.

>>> Y = [["a"]] * 40
>>> good, poor = Y[:38] + [["b"]] * 2, Y[:20] + [["b"]] * 20
>>> interval = bootstrap_interval("token_accuracy", Y, good, random_state=0)
>>> round(interval.value, 3), interval.low < 0.95 < interval.high
(0.95, True)
>>> found = randomisation_test("token_accuracy", Y, good, poor, random_state=0)
>>> round(found.difference, 3), found.p_value < 0.001
(0.45, True)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from structopt.arrays import Floats
from structopt.errors import InvalidInputError
from structopt.learn.metrics.counted import Counted, check_outputs
from structopt.learn.metrics.scorers import lookup
from structopt.parameters import Seed

Metric = str | Callable[..., float]


class Interval(NamedTuple):
    """A score, and where it lies with a given confidence."""

    value: float
    low: float
    high: float
    level: float


class Comparison(NamedTuple):
    """Two scores on the same examples; ``p_value`` is how likely chance does as much."""

    first: float
    second: float
    difference: float
    p_value: float


def bootstrap_interval(
    metric: Metric,
    Y: Sequence[Any],
    predicted: Sequence[Any],
    *,
    level: float = 0.95,
    n_resamples: int = 2000,
    random_state: Seed | None = None,
    **options: Any,
) -> Interval:
    """Return a score with its bootstrap interval.

    Parameters
    ----------
    metric : str or callable
        A name such as "span_f1" (fast: examples are counted once), or ``metric(Y, predicted)``.
    Y, predicted : sequences
    level : float
        Confidence, between 0 and 1.
    n_resamples : int
    random_state : int, optional
    **options
        Further arguments of the metric.
    """
    if not 0 < level < 1:
        raise InvalidInputError(f"level is {level}; it must lie between 0 and 1.")
    n = len(Y)
    score = _Score(metric, options, Y, [predicted], n_resamples)
    rng = np.random.default_rng(random_state)
    values = [score(np.bincount(rng.integers(n, size=n), minlength=n)) for _ in range(n_resamples)]
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return Interval(score(np.ones(n, dtype=np.int64)), low, high, level)


def randomisation_test(
    metric: Metric,
    Y: Sequence[Any],
    first: Sequence[Any],
    second: Sequence[Any],
    *,
    n_resamples: int = 2000,
    random_state: Seed | None = None,
    **options: Any,
) -> Comparison:
    """Test whether two models differ by more than chance.

    Parameters
    ----------
    metric : str or callable
        As :func:`bootstrap_interval` takes it.
    Y, first, second : sequences
        Gold outputs, and those of the two models.
    n_resamples : int
    random_state : int, optional
    **options
        Further arguments of the metric.
    """
    n = len(Y)
    score = _Score(metric, options, Y, [first, second], n_resamples)
    rng = np.random.default_rng(random_state)
    ones = np.ones(n, dtype=np.int64)
    a, b = score(ones, ones * 0), score(ones, ones)
    extreme = 0
    for _ in range(n_resamples):
        swap = rng.integers(2, size=n)
        # equal up to rounding is as extreme: without a difference, every swap is
        extreme += abs(score(ones, swap) - score(ones, 1 - swap)) >= abs(a - b) - 1e-12
    return Comparison(a, b, a - b, (1 + extreme) / (1 + n_resamples))


class _Score:
    """The score of a data set in which example i stands ``times[i]`` times.

    ``model[i]`` says whose output is taken for it.
    """

    def __init__(
        self,
        metric: Metric,
        options: dict[str, Any],
        Y: Sequence[Any],
        outputs: list[Sequence[Any]],
        n_resamples: int,
    ) -> None:
        if n_resamples < 1:
            raise InvalidInputError(f"n_resamples is {n_resamples}; it must be at least 1.")
        for predicted in outputs:
            check_outputs(Y, predicted)
        self.Y, self.outputs, self.metric, self.options = Y, outputs, metric, options
        self.counted: Counted | None = None
        if isinstance(metric, str):
            self.counted, further = lookup(metric, options)
            # counted together, so that both models have the same columns (types of spans)
            together = [p for predicted in outputs for p in predicted]
            counts = self.counted.count(
                list(Y) * len(outputs), together, **_tiled(further, outputs)
            )
            self.counts: Floats = counts.reshape(len(outputs), len(Y), -1)

    def __call__(self, times: Any, model: Any = None) -> float:
        if self.counted is not None:
            summed = times @ self.counts[0]
            if model is not None:
                summed = summed + (times * model) @ (self.counts[1] - self.counts[0])
            return float(self.counted.value(summed))
        chosen = np.repeat(np.arange(len(times)), times).tolist()
        of = np.zeros(len(times), dtype=np.int64) if model is None else model
        assert callable(self.metric)
        gold, given = [self.Y[i] for i in chosen], [self.outputs[of[i]][i] for i in chosen]
        return float(self.metric(gold, given, **self.options))


def _tiled(options: dict[str, Any], outputs: list[Sequence[Any]]) -> dict[str, Any]:
    """Return the options with those that hold one entry an example repeated for every model."""
    per_example = ("where", "possible")
    return {
        k: list(v) * len(outputs) if k in per_example and v is not None else v
        for k, v in options.items()
    }
