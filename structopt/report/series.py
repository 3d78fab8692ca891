r"""What the charts of a run show, as plain arrays.

Over the rounds r of a run, with P_r and D_r the best upper and lower bound known after round r:
the bounds themselves, the relative gap (P_r - D_r) / \|P_r\|, and where the time went.

>>> share = TimeSplit(oracle=1.0, lift=0.5, solve=2.0, other=0.5)
>>> share.total
4.0
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from structopt.arrays import Floats
from structopt.run.result import Result


@dataclass(frozen=True)
class BoundSeries:
    """The bounds of one run, round by round; infinite where a bound is not known yet.

    Attributes
    ----------
    seconds, rounds : array
        When each round ended, and its number.
    primal, dual, relative_gap : array
        Best upper bound, best lower bound, and the gap relative to the upper one.
    """

    seconds: Floats
    rounds: Floats
    primal: Floats
    dual: Floats
    relative_gap: Floats

    @classmethod
    def of(cls, result: Result) -> BoundSeries:
        """Read the bounds off a run's history."""
        h = result.history
        return cls(
            np.array([r.seconds for r in h], dtype=np.float64),
            np.array([r.round for r in h], dtype=np.float64),
            np.array([r.primal for r in h], dtype=np.float64),
            np.array([r.dual for r in h], dtype=np.float64),
            np.array([r.relative_gap for r in h], dtype=np.float64),
        )


@dataclass(frozen=True)
class TimeSplit:
    """Seconds of a run by what they were spent on; `other` is all that no round accounts for."""

    oracle: float
    lift: float
    solve: float
    other: float

    @classmethod
    def of(cls, result: Result) -> TimeSplit:
        """Add up a run's rounds."""
        oracle = float(sum(r.oracle_seconds for r in result.history))
        lift = float(sum(r.lift_seconds for r in result.history))
        solve = float(sum(r.solve_seconds for r in result.history))
        return cls(oracle, lift, solve, max(result.seconds - oracle - lift - solve, 0.0))

    @property
    def total(self) -> float:
        """The sum of the four."""
        return self.oracle + self.lift + self.solve + self.other

    def items(self) -> tuple[tuple[str, float], ...]:
        """Return (name, seconds), in the order in which charts stack them."""
        return (
            ("oracle", self.oracle),
            ("lift", self.lift),
            ("solve", self.solve),
            ("other", self.other),
        )


def joint_bounds(results: Iterable[Result]) -> tuple[float, float]:
    """Return the best lower and the best upper bound that runs of one problem prove together.

    Approximate oracles prove nothing; without any proof the bounds are infinite.
    """
    exact = [r.certificate for r in results if r.certificate.exact]
    low = max((c.dual for c in exact), default=-math.inf)
    return low, min((c.primal for c in exact), default=math.inf)


def bound_limits(runs: Iterable[BoundSeries]) -> tuple[float, float]:
    """Return the range of objective values that is worth showing.

    A first upper bound is often many times the optimum and would flatten all that follows, so
    the range covers the rounds whose gap is at most the upper bound itself - all rounds if there
    are none.

    >>> run = BoundSeries(*map(np.array, ([1., 2.], [1., 2.], [900., 20.], [-5., 0.], [1.006, 1.])))
    >>> bound_limits([run])
    (-1.0, 21.0)
    """
    values: list[Floats] = []
    early: list[Floats] = []
    for run in runs:
        close = run.relative_gap <= 1.0
        values += [run.primal[close], run.dual[close]]
        early += [run.primal[np.isfinite(run.primal)], run.dual[np.isfinite(run.dual)]]
    shown = np.concatenate([*values, np.empty(0)])
    if not len(shown):
        shown = np.concatenate([*early, np.empty(0)])
    if not len(shown):
        return 0.0, 1.0
    low, high = float(shown.min()), float(shown.max())
    # At least a thousandth of the value: bounds that met long ago are a line, not noise.
    pad = max(0.05 * (high - low), 1e-3 * abs(high)) or 1.0
    return low - pad, high + pad


def gap_floor(runs: Iterable[BoundSeries], tolerance: float) -> float:
    """Return what to draw for a gap of zero, which a logarithmic axis does not have.

    >>> run = BoundSeries(*map(np.array, ([1., 2.], [1., 2.], [2., 1.], [1., 1.], [.5, 0.])))
    >>> gap_floor([run], 0.001)
    0.0001
    """
    gaps = [run.relative_gap[run.relative_gap > 0] for run in runs]
    smallest = min([float(g.min()) for g in gaps if len(g)] + [tolerance if tolerance > 0 else 1.0])
    return max(0.1 * smallest, 1e-16)
