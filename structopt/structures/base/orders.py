r"""Orders of items, and what the pairs of an order that count add to its features.

Items i and j of unlike relevance are a pair. With P of them, an order y has

    phi(x, y) = sum_i b_i(y) x_i,    b_i(y) = ( |pairs that i is above in| - |below| ) / (2 P),

so that w . delta is the mean over all pairs of the margins (s_i - s_j) of those that are swapped.

>>> Order([2, 0, 1], [1, 0, 1]) == Order([0, 2, 1], [1, 0, 1]), Order([2, 0, 1]) == [0, 2, 1]
(True, False)
>>> balance(np.array([2, 0, 1]), np.array([1, 0, 1]))
array([ 0.25, -0.5 ,  0.25])
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.errors import InvalidInputError


class Order(list[int]):
    """The numbers of items, best first.

    Parameters
    ----------
    items : iterable of int
        Every number from 0 once.
    relevance : sequence of numbers, optional
        Of each item, where it is known: then only pairs of unlike relevance count, and orders that
        differ in others are equal.
    """

    def __init__(self, items: Iterable[int], relevance: Any = None) -> None:
        try:
            super().__init__(int(item) for item in items)
            self.relevance = None if relevance is None else tuple(float(r) for r in relevance)
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidInputError(
                f"An order is a list of item numbers, each with a number as relevance ({error})."
            ) from error

    def __reduce__(self) -> Any:
        return (Order, (list(self), self.relevance))

    def __eq__(self, other: object) -> bool:
        known = self.relevance or getattr(other, "relevance", None)
        if known is None or not isinstance(other, list):
            return list.__eq__(self, other)
        return len(self) == len(other) == len(known) and _runs(self, known) == _runs(other, known)

    __hash__ = None  # as of any list

    @classmethod
    def best(cls, relevance: Any) -> Order:
        """Return an order that is right: by decreasing relevance, then by number."""
        return cls(np.argsort(-np.asarray(relevance, dtype=np.float64), kind="stable"), relevance)


def _runs(items: list[int], relevance: tuple[float, ...]) -> list[frozenset[int]]:
    """Return the sets of items of one relevance that follow each other."""
    runs: list[set[int]] = []
    last = None
    for item in items:
        if relevance[item] != last:
            runs.append(set())
        runs[-1].add(item)
        last = relevance[item]
    return [frozenset(run) for run in runs]


def pair_count(relevance: Floats | None, n: int) -> int:
    """Return how many pairs of n items count."""
    if relevance is None:
        return n * (n - 1) // 2
    sizes = np.unique(relevance, return_counts=True)[1]
    return int(n * n - sizes @ sizes) // 2


def balance(order: Ints, relevance: Floats | None) -> Floats:
    """Return b, for each item; without relevance every pair counts."""
    n = len(order)
    found = np.zeros(n)
    pairs = pair_count(relevance, n)
    if not pairs:
        return found
    if relevance is None:
        found[order] = n - 1 - 2.0 * np.arange(n)
    else:
        grade, sizes = np.unique(relevance[order], return_inverse=True, return_counts=True)[1:]
        by_grade = np.argsort(grade, kind="stable")
        like_above = np.empty(n)  # items of its own grade above each
        like_above[by_grade] = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        above = np.arange(n) - like_above
        found[order] = n - sizes[grade] - 2.0 * above
    return found / (2.0 * pairs)


def as_order(y: Any, n: int, example: int | None = None) -> Ints:
    """Return an order as an array; refuse what is none."""
    where = "An output" if example is None else f"The output of example {example}"
    try:
        items = np.asarray(list(y))
    except (TypeError, ValueError):
        items = np.zeros(0)
    if (items.dtype.kind not in "iu" and n) or not np.array_equal(np.sort(items), np.arange(n)):
        raise InvalidInputError(
            f"{where} is {y!r}: give the numbers 0 to {n - 1} of its items, best first.",
            example=example,
        )
    return items.astype(np.int64)


def as_relevance(y: Any, n: int, example: int | None = None) -> Floats:
    """Return the relevance of each item; refuse what is no numbers, and an order that errs."""
    where = "An output" if example is None else f"The output of example {example}"
    if isinstance(y, Order):
        if y.relevance is None or y != Order.best(y.relevance):
            raise InvalidInputError(
                f"{where} is an order without relevance, or against it: give the relevance of each "
                "item.",
                example=example,
            )
        y = y.relevance
    try:
        found = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != (n,) or not np.all(np.isfinite(found)):
        raise InvalidInputError(
            f"{where} is {y!r}: give {n} finite numbers, the relevance of each item.",
            example=example,
        )
    return found
