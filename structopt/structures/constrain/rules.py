r"""Ready-made constraints on a labelling, to be handed to :func:`structopt.constrain`.

With z[t, k] = 1 where position t has label k:

    at_most_one(a)     sum_t z[t, a] <= 1           at_least_one(a)    sum_t z[t, a] >= 1
    exactly(a, n)      sum_t z[t, a] = n            if_then(a, b)      z[t, a] <= sum_s z[s, b]
    allowed(f)         z[t, k] = 0 for k not in f(x)
    no_overlap(f, o)   z[s, o] + z[t, o] >= 1 where the spans f(x)[s] and f(x)[t] overlap.

A constraint of your own is a function of the example and of z: ``z["verb"]`` is a CVXPY vector with
an entry for each position, ``z[0, "verb"]`` one entry, ``z.variable`` the (T, K) matrix.

>>> z = Labelling(["noun", "verb"], 3)
>>> at_least_one("verb")(None, z)[0].column
array([1, 3, 5])
>>> z[0, "verb"].shape, z["verb"].shape, z.variable.shape
((), (3,), (3, 2))
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from structopt.errors import InvalidInputError
from structopt.parameters import Natural, checked
from structopt.structures.base.integer.rows import LinearRows
from structopt.structures.base.labels import LabelSet

Rule = Callable[[Any, Any], Any]
"""Example and :class:`Labelling` to a list of CVXPY constraints or `LinearRows`."""


class Labelling:
    """The labels of one example as a boolean CVXPY matrix, read by position and label.

    Attributes
    ----------
    labels : sequence
        The K labels, in the order of the columns.
    length : int
        Positions T.
    variable : cvxpy.Variable
        (T, K), boolean. Every position has exactly one label; that need not be said again.
    """

    def __init__(self, labels: Sequence[Any], length: int) -> None:
        self.labels = labels if isinstance(labels, LabelSet) else LabelSet(labels)
        self.length = length

    @cached_property
    def variable(self) -> Any:
        """The (T, K) boolean matrix."""
        import cvxpy as cp

        return cp.Variable((self.length, len(self.labels)), boolean=True, name="z")

    @property
    def size(self) -> int:
        """Parts T K."""
        return self.length * len(self.labels)

    def column(self, label: Any) -> int:
        """Return the column of a label."""
        if label not in self.labels:
            raise InvalidInputError(
                f"A constraint names the label {label!r}, which is not one of {self.labels!r}: "
                "declare every label that can occur with labels=[...]."
            )
        return int(self.labels.encode([label])[0])

    def __contains__(self, label: Any) -> bool:
        return label in self.labels

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple) and key not in self.labels:
            return self.variable[key[0], self.column(key[1])]
        return self.variable[:, self.column(key)]

    def place(self, t: Any, k: Any) -> Any:
        """Return where z[t, k] stands among all T K parts; arrays are taken too."""
        return t * len(self.labels) + k

    def rows(
        self, row: Any, column: Any, value: Any, count: int, lower: float, upper: float
    ) -> LinearRows:
        """Return ``count`` rows over all parts, given as triplets."""
        where = np.asarray(column, dtype=np.int64)
        return LinearRows(
            np.asarray(row, dtype=np.int64), where, np.broadcast_to(np.float64(value), where.shape)
            if np.ndim(value) == 0 else np.asarray(value, dtype=np.float64),
            np.full(count, lower), np.full(count, upper),
        )  # fmt: skip

    def count(self, columns: Sequence[int], lower: float, upper: float) -> LinearRows:
        """Return a row for each label (column of z) that counts its positions."""
        n, t = len(columns), np.arange(self.length)
        places = self.place(t[None, :], np.asarray(columns, dtype=np.int64)[:, None])
        return self.rows(np.repeat(np.arange(n), self.length), places.ravel(), 1.0, n, lower, upper)


@dataclass(frozen=True)
class _Count:
    labels: tuple[Hashable, ...]
    least: float
    most: float

    def __call__(self, x: Any, z: Labelling) -> list[LinearRows]:
        return [z.count([z.column(label) for label in self.labels], self.least, self.most)]


@dataclass(frozen=True)
class _IfThen:
    cause: Hashable
    effect: Hashable

    def __call__(self, x: Any, z: Labelling) -> list[LinearRows]:
        t = np.arange(z.length)
        cause, effect = z.place(t, z.column(self.cause)), z.place(t, z.column(self.effect))
        row = np.concatenate([t, np.repeat(t, z.length)])
        column = np.concatenate([cause, np.tile(effect, z.length)])
        value = np.concatenate([np.ones(z.length), -np.ones(z.length**2)])
        return [z.rows(row, column, value, z.length, -np.inf, 0.0)]


@dataclass(frozen=True)
class _Allowed:
    of: Callable[[Any], Iterable[Any]]

    def __call__(self, x: Any, z: Labelling) -> list[LinearRows]:
        legal = set(self.of(x))
        barred = [k for k, label in enumerate(z.labels) if label not in legal]
        return [z.count(barred, 0.0, 0.0)]


@dataclass(frozen=True)
class _NoOverlap:
    spans: Callable[[Any], Sequence[tuple[int, int]]]
    outside: Hashable

    def __call__(self, x: Any, z: Labelling) -> list[LinearRows]:
        spans, outside = list(self.spans(x)), z.column(self.outside)
        if len(spans) != z.length:
            raise InvalidInputError(
                f"no_overlap got {len(spans)} spans for {z.length} positions: give one for each."
            )
        pairs = np.array(
            [
                (s, t)
                for (s, a), (t, b) in combinations(enumerate(spans), 2)
                if max(a[0], b[0]) < min(a[1], b[1])
            ],
            dtype=np.int64,
        ).reshape(-1, 2)
        row = np.repeat(np.arange(len(pairs)), 2)
        return [z.rows(row, z.place(pairs.ravel(), outside), 1.0, len(pairs), 1.0, np.inf)]


def at_most_one(*labels: Hashable) -> Rule:
    """Each of the labels stands at one position at most."""
    return _Count(labels, 0.0, 1.0)


def at_least_one(*labels: Hashable) -> Rule:
    """Each of the labels stands at one position at least."""
    return _Count(labels, 1.0, np.inf)


@checked
def exactly(label: Hashable, count: Natural) -> Rule:
    """The label stands at ``count`` positions, no more and no less."""
    return _Count((label,), count, count)


def if_then(cause: Hashable, effect: Hashable) -> Rule:
    """Where the label ``cause`` occurs at all, ``effect`` occurs too."""
    return _IfThen(cause, effect)


def allowed(labels: Callable[[Any], Iterable[Any]]) -> Rule:
    """Only the labels that ``labels(x)`` lists may occur in example x."""
    return _Allowed(labels)


def no_overlap(spans: Callable[[Any], Sequence[tuple[int, int]]], outside: Hashable) -> Rule:
    """Of two positions whose spans overlap, one at least has the label ``outside``.

    ``spans(x)`` gives ``(start, stop)`` for each position, ``stop`` not included.
    """
    return _NoOverlap(spans, outside)
