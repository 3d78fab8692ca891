r"""Which items of an example are in: a set, judged as a whole.

    score(y) = sum over the items i of y of w . x_i,    loss(gold, y) = L(a, b),

where a items of y are right and b are wrong: `ErrorRate` (by default), `FScore`, `Precision` and
`Recall`, or any other function of the two. An example is a whole batch of items, such as all test
cases of a rare class; give items a column of ones where a threshold is to be learned. Without a
size an item is in where its score is above 0; with one, the highest scores are, equals by number.

>>> import numpy as np, structopt as so
>>> X, Y = [np.array([[2.0], [1.0], [-1.0], [-3.0]])], [[1, 0, 1, 0]]
>>> structure = so.Subset(so.losses.FScore()).fitted(X, Y)
>>> structure.predict(X, np.ones(1)), structure.loss(Y[0], [1, 1, 0, 0])
([(1, 1, 0, 0)], 0.5)
>>> structure.argmax(X[0], np.array([0.1]), gold=Y[0])                   # loss-augmented
(0, 1, 0, 0)
>>> so.Subset(size=1).fitted(X, Y).k_best(X[0], np.ones(1), 2)
[(1, 0, 0, 0), (0, 1, 0, 0)]
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Ints, count, stack_sequences
from structopt.errors import InvalidInputError
from structopt.structures.base.given import Mask, held_entries
from structopt.structures.base.structure import check_lengths
from structopt.structures.subset.base import SetStructure
from structopt.structures.subset.shard import SetShard


class Subset(SetStructure):
    r"""Sets of items: X is a list of (n_i, d) matrices, Y a list of 0/1 vectors, one an item.

    Parameters
    ----------
    loss : ErrorRate, FScore, Precision, Recall or your own, optional
        What a set costs (:mod:`structopt.losses`); by default the share of wrong items. One of your
        own has ``table(positives, negatives)``, the loss [a, b] of a items that are right and b
        that are wrong; or ``argmax(structure, x, weights, gold)``.
    size : int, optional
        Items that every set has: with `Precision` or `Recall` these are learned at k. Gold may be
        of any size.

    Attributes
    ----------
    n_features_ : int
        d, one weight for each feature of an item.

    Notes
    -----
    Joachims (2005), "A support vector method for multivariate performance measures". The area under
    the ROC curve is a loss of orders: see `Ranking`. The table of an example with P items in gold
    and N others has (P + 1) (N + 1) entries.
    """

    def __init__(self, loss: Any = None, size: int | None = None) -> None:
        self.cost = loss
        self.size = size

    # ------------------------------------------------------------------ fitting and encoding
    def fitted(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Return a copy that knows the dimension."""
        check_lengths(X, Y)
        self._check_table()
        self._check_size(None)
        fitted = copy.copy(self)
        whole = sp.issparse(X) or hasattr(X, "columns")  # is told that it is no list
        fitted.n_features_ = int(stack_sequences(X if whole else [X[0]]).matrix.shape[1])
        return fitted

    def pack(self, X: Sequence[Any], Y: Sequence[Any] | None, start: int = 0) -> SetShard:
        """Return checked items as a shard."""
        stacked = stack_sequences(X, self.n_features_, start=start)
        sizes = np.diff(stacked.offsets)
        self._check_size(sizes, start)
        gold = np.zeros(int(stacked.offsets[-1]), dtype=bool)
        if Y is not None:
            each = enumerate(zip(Y, sizes.tolist(), strict=True), start)
            gold = np.concatenate([_mask(y, n, i) for i, (y, n) in each])
        given = (gold, self._measure(), self.size, start)
        shard = SetShard(stacked.matrix, stacked.offsets, *given)
        shard.told = Y is not None
        return shard

    def unpack(self, shard: SetShard, outputs: Any) -> list[tuple[int, ...]]:
        """Return 1 or 0 for each item of every example."""
        every = outputs.astype(int).tolist()
        return [tuple(every[a:b]) for a, b in pairwise(shard.offsets.tolist())]

    def held(self, X: Any, given: Any, shard: Any) -> Any:
        """Return which items are held in (1) or out (0), -1 where nothing is given."""
        sizes = np.diff(shard.offsets).tolist()
        each = enumerate(zip(given, sizes, strict=True), shard.start)
        return np.concatenate([held_entries(told, n, i) for i, (told, n) in each])

    # ------------------------------------------------------------------ what it means
    def joint_features(self, x: Any, y: Any) -> Any:
        """Return the summed features of the items of y: a sparse row."""
        items = stack_sequences([x], self.n_features_).matrix
        chosen = _mask(y, items.shape[0]).astype(np.float64)
        return sp.csr_array((chosen @ items).reshape(1, -1))

    def loss(self, y: Any, other: Any) -> float:
        """Return what a set costs where y is right."""
        if self.own_loss is not None:
            return float(self.own_loss(y, other))
        n = count(y, "A set")
        return self._paid(_mask(y, n), _mask(other, n))

    def feature_names(self, inputs: Sequence[str] | None = None) -> list[tuple[str, str]]:
        """Return ``(input, "item")`` for each weight; inputs are x0, x1, ... unless named."""
        names = [f"x{j}" for j in range(self.n_features_)] if inputs is None else list(inputs)
        return [(name, "item") for name in names]

    # ------------------------------------------------------------------ inside
    def _check_size(self, sizes: Ints | None, start: int = 0) -> None:
        """Refuse a size that is none, as fitted and as read from a file, or that examples lack."""
        if self.size is not None and (int(self.size) != self.size or self.size < 1):
            raise InvalidInputError(f"size is {self.size!r}: give an integer >= 1, or None.")
        if self.size is not None and sizes is not None and sizes.min() < self.size:
            i = start + int(np.argmin(sizes))
            raise InvalidInputError(
                f"Example {i} has {sizes.min()} items, fewer than size={self.size}.", example=i
            )


def _mask(y: Any, n: int, example: int | None = None) -> Mask:
    """Return a 0/1 output as a mask."""
    try:
        values = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.zeros(0)
    if values.shape != (n,) or not np.all((values == 0) | (values == 1)):
        where = "An output" if example is None else f"The output of example {example}"
        raise InvalidInputError(
            f"{where} is {y!r}: give {n} numbers 0 or 1, one for each item.", example=example
        )
    return np.asarray(values == 1)
