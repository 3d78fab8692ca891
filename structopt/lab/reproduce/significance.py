"""Paired tests between two columns of finished cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from structopt.lab.harness.study import Row


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
