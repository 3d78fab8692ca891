"""Weighted means of what methods average: points, planes (M, V), distributions."""

from __future__ import annotations

from typing import Any


class Mean:
    """A weighted mean of several vectors and numbers, taken in together.

    >>> import numpy as np
    >>> mean = Mean()
    >>> mean.add(1.0, np.array([0.0, 4.0]), 2.0)
    >>> mean.add(3.0, np.array([4.0, 4.0]), 6.0)
    >>> mean.values()
    [array([3., 4.]), 5.0]
    """

    def __init__(self) -> None:
        self.weight = 0.0
        self._totals: list[Any] = []

    def add(self, weight: float, *values: Any) -> None:
        """Take in values with a weight; the first decide how many there are."""
        self.weight += weight
        if not self._totals:
            self._totals = [weight * value for value in values]
            return
        for k, value in enumerate(values):
            self._totals[k] += weight * value  # vectors in place

    def values(self) -> list[Any]:
        """Return the mean of each."""
        return [total / self.weight for total in self._totals]
