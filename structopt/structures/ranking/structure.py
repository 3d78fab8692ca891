r"""Items in order: what is relevant above what is not.

    score(y) = (1 / 2P) sum over pairs (i, j) of y_ij w . (x_i - x_j),    y_ij = 1 if i is above j
                                                                          and -1 if it is below,

over the P pairs of items of unlike relevance. To predict is to sort by the scores s_i = w . x_i,
equals by number. A gold output is the relevance of each item; losses are `SwappedPairs` (one minus
the area under the ROC curve), `AveragePrecision`, `NDCG` and `PrecisionAt`, each with its exact
loss-augmented order.

>>> import numpy as np, structopt as so
>>> X, Y = [np.array([[0.0, 1.0], [2.0, 0.0], [1.0, 1.0]])], [[0, 1, 1]]
>>> structure = so.Ranking(so.losses.AveragePrecision()).fitted(X, Y)
>>> structure.predict(X, np.array([1.0, 0.0]))
[[1, 2, 0]]
>>> structure.loss(Y[0], [0, 1, 2]).__round__(4), structure.joint_features(X[0], Y[0]).toarray()
(0.4167, array([[ 0.75, -0.25]]))
>>> structure.argmax(X[0], np.array([0.3, 0.0]), gold=Y[0])             # loss-augmented
[1, 0, 2]
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, count, stack_sequences
from structopt.errors import InvalidInputError
from structopt.structures.base.given import listed, permitted
from structopt.structures.base.labels import LabelSet
from structopt.structures.base.orders import Order, as_order, as_relevance, balance, pair_count
from structopt.structures.base.packed import PackedStructure
from structopt.structures.base.sketch import Order as OrderSketch
from structopt.structures.base.sketch import Sketch, parts_of
from structopt.structures.base.structure import check_lengths
from structopt.structures.losses.swapped_pairs import SwappedPairs
from structopt.structures.ranking.shard import RankingShard


class Ranking(PackedStructure):
    r"""Orders of items: X is a list of (n_i, d) matrices, Y a list of relevances, one an item.

    Predicted outputs are lists of item numbers, best first. Any whole batch of rows with labels 0
    and 1 is one example: then the area under its ROC curve is learned.

    Parameters
    ----------
    loss : SwappedPairs, AveragePrecision, NDCG, PrecisionAt or your own, optional
        What a wrong order costs (:mod:`structopt.losses`); by default `SwappedPairs`. One of your
        own has ``of(relevance, order)``, the loss, and ``order(scores, relevance)``, the order that
        maximises it plus the score; or ``argmax(structure, x, weights, gold)``.

    Attributes
    ----------
    n_features_ : int
        d, one weight for each feature of an item.

    Raises
    ------
    InvalidInputError
        All items of an example have the same relevance, so that there is nothing to learn from it.

    Notes
    -----
    Joachims (2005), ROCArea; Yue, Finley, Radlinski and Joachims (2007), whose features are twice
    these; with `SwappedPairs` and relevances 0 and 1 the hinge is the mean over pairs of
    max(0, 1 - (s_i - s_j)), the ranking SVM.
    """

    offers: ClassVar[frozenset[str]] = frozenset({"argmax", "argmin", "second_best", "k_best"})

    def __init__(self, loss: Any = None) -> None:
        self.cost = loss

    # ------------------------------------------------------------------ fitting and encoding
    def fitted(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Return a copy that knows the dimension."""
        check_lengths(X, Y)
        if self.own_loss is None:
            self._measure()
        fitted = copy.copy(self)
        whole = sp.issparse(X) or hasattr(X, "columns")  # is told that it is no list
        fitted.n_features_ = int(stack_sequences(X if whole else [X[0]]).matrix.shape[1])
        return fitted

    def pack(self, X: Sequence[Any], Y: Sequence[Any] | None, start: int = 0) -> RankingShard:
        """Return checked lists of items as a shard."""
        stacked, loss = stack_sequences(X, self.n_features_, start=start), self._measure()
        if Y is None:
            return RankingShard(stacked, None, loss, start)
        sizes = np.diff(stacked.offsets).tolist()
        each = enumerate(zip(Y, sizes, strict=True), start)
        relevance = [self._relevance(y, n, i) for i, (y, n) in each]
        return RankingShard(stacked, np.concatenate(relevance), loss, start)

    def unpack(self, shard: RankingShard, outputs: Any) -> list[Any]:
        """Return the orders of every list, with its relevance where that is known."""
        known = shard.relevance
        return [
            Order(outputs[a:b].tolist(), None if known is None else known[a:b])
            for a, b in pairwise(shard.offsets.tolist())
        ]

    def held(self, X: Any, given: Any, shard: Any) -> Any:
        """Return which item each rank may have: a table [rank, item] for each list."""
        tables = []
        for i, (told, n) in enumerate(zip(given, np.diff(shard.offsets).tolist(), strict=True)):
            items, number = LabelSet(range(n)), shard.start + i
            entries = enumerate(listed(told, range(n), number))
            rows = [permitted(entry, items, f"rank {r}", number) for r, entry in entries]
            tables.append(np.array(rows))
        return tables

    # ------------------------------------------------------------------ what it means
    def joint_features(self, x: Any, y: Any) -> Any:
        """Return the mean difference of pairs as y orders them: a sparse row.

        y is the relevance of each item, or an `Order`: where it has no relevance, all pairs count.
        """
        items = stack_sequences([x], self.n_features_).matrix
        n = items.shape[0]
        if isinstance(y, Order):
            known = None if y.relevance is None else np.array(y.relevance)
            order = as_order(y, n)
        else:
            known = as_relevance(y, n)
            order = np.array(Order.best(known))
        return sp.csr_array((balance(order, known) @ items).reshape(1, -1))

    def loss(self, y: Any, other: Any) -> float:
        """Return what an order costs where y is the relevance of each item."""
        if self.own_loss is not None:
            return float(self.own_loss(y, other))
        relevance = self._relevance(y, count(y, "The relevance of items"))
        return float(self._measure().of(relevance, as_order(other, len(relevance))))

    def beside(self, gold: Any, y: Any) -> Order:
        """Return an order of which the pairs that gold tells apart count; gold's, if y is gold."""
        known = as_relevance(gold, len(gold))
        if y is gold:
            return Order.best(known)
        return Order(as_order(y, len(known)), known)

    def part_count(self, y: Any) -> int:
        """Return the number of pairs that count, at least 1."""
        return max(1, pair_count(as_relevance(y, len(y)), len(y)))

    def part_errors(self, y: Any, other: Any) -> int:
        """Return the number of pairs that are swapped."""
        relevance = as_relevance(y, len(y))
        by_rank = np.unique(relevance, return_inverse=True)[1][as_order(other, len(relevance))]
        seen, swapped = np.zeros(len(by_rank) + 1, dtype=np.int64), 0
        for grade in by_rank.tolist():  # items of lower grades above this one
            swapped += int(seen[:grade].sum())
            seen[grade] += 1
        return swapped

    def sketches(
        self, x: Any, gold: Any, predicted: Any, shown: Any = None
    ) -> tuple[Sketch, Sketch]:
        """Return a best order and the predicted one, with the relevance of items."""
        grades = as_relevance(gold, len(gold))
        names, best = parts_of(shown, len(grades)), np.argsort(-grades, kind="stable")
        orders = (tuple(int(k) for k in order) for order in (best, predicted))
        first, second = (OrderSketch(items, names, grades.tolist()) for items in orders)
        return first, second

    def feature_names(self, inputs: Sequence[str] | None = None) -> list[tuple[str, str]]:
        """Return ``(input, "item")`` for each weight; inputs are x0, x1, ... unless named."""
        names = [f"x{j}" for j in range(self.n_features_)] if inputs is None else list(inputs)
        return [(name, "item") for name in names]

    # ------------------------------------------------------------------ inside
    def _measure(self) -> Any:
        """Return the loss that sorts; that of one's own oracle sorts nothing."""
        given = SwappedPairs() if self.cost is None or self.own_loss is not None else self.cost
        if not all(callable(getattr(given, name, None)) for name in ("of", "order")):
            raise InvalidInputError(
                f"loss is {given!r}, which is no loss of rankings: give so.losses.SwappedPairs, "
                "AveragePrecision, NDCG or PrecisionAt, or an object with of(relevance, order) and "
                "order(scores, relevance)."
            )
        return given

    def _relevance(self, y: Any, n: int, example: int | None = None) -> Floats:
        """Return relevances of which something can be learned, by this loss."""
        found = as_relevance(y, n, example)
        if not (n and np.ptp(found) > 0):
            where = "an example" if example is None else f"example {example}"
            raise InvalidInputError(
                f"All {n} items of {where} have the relevance {found[0] if n else 0:g}: there is "
                "no pair to put in order. Leave it out.",
                example=example,
            )
        check = getattr(self._measure(), "check", None)
        if check is not None:
            check(found, example)
        return found
