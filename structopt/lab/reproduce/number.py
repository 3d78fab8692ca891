r"""Numbers found here beside those of a paper, and what is made of several draws.

>>> Number("LP (7)", "BLEU %", 32.1, spread=0.4, paper=32.35).ours
'32.1 ± 0.4'
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from structopt.lab.harness.study import Row


@dataclass(frozen=True)
class Number:
    """One entry of the paper's table, or point of its figure, and what was found here.

    Attributes
    ----------
    label, metric : str
        Row and column, such as "CRF" and "error %".
    value : float or None
        Found here; None where nothing is known yet.
    spread : float or None
        Standard deviation over draws.
    paper, paper_spread : float or None
        The paper's; None where it gives none.
    """

    label: str
    metric: str
    value: float | None
    spread: float | None = None
    paper: float | None = None
    paper_spread: float | None = None

    @property
    def ours(self) -> str:
        """What was found here, as text."""
        return _text(self.value, self.spread)

    @property
    def theirs(self) -> str:
        """The paper's number, as text."""
        return _text(self.paper, self.paper_spread)


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of what is there, None of nothing.

    >>> mean([1.0, None, 3.0]), mean([])
    (2.0, None)
    """
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def deviation(values: Iterable[float | None]) -> float | None:
    """Return the sample standard deviation, None of fewer than two values."""
    known = [value for value in values if value is not None]
    return statistics.stdev(known) if len(known) > 1 else None


def paired_p(rows: Sequence[Row], a: str, b: str) -> float | None:
    """Return the p-value of the two-sided paired t-test, None where it says nothing.

    It needs two rows at least, and differences that are not all the same.

    >>> rows = [{"a": 1.0, "b": 0.5}, {"a": 2.0, "b": 1.6}, {"a": 3.0, "b": 2.4}]
    >>> round(paired_p(rows, "a", "b"), 4)
    0.0131
    >>> paired_p(rows[:1], "a", "b") is None
    True
    """
    from scipy.stats import ttest_rel

    left, right = (np.array([row[key] for row in rows], dtype=float) for key in (a, b))
    if len(rows) < 2 or np.ptp(left - right) < 1e-12:
        return None
    return float(ttest_rel(left, right).pvalue)


def _text(value: float | None, spread: float | None) -> str:
    if value is None or math.isnan(value):
        return "-"
    text = f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"
    return text if spread is None else f"{text} ± {spread:.2g}"
