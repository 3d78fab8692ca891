r"""A partial matching between two sets of nodes: which left node goes with which right node.

    score(y) = sum over edges (i, j) of y of w . x_ij,
    loss(gold, y) = c_fn |gold - y| + c_fp |y - gold|                        (weighted Hamming).

Nodes may stay unmatched, and no node has more edges than its fertility (1 unless told otherwise).

>>> import numpy as np, structopt as so
>>> x = np.array([[[2.0, 1.0], [1.0, 0.0]], [[3.0, 0.0], [-1.0, 1.0]]])  # 2 x 2 nodes, 2 inputs
>>> structure = so.Matching().fitted([x], [{(0, 1), (1, 0)}])
>>> sorted(structure.argmax(x, np.array([1.0, 0.0])))
[(0, 1), (1, 0)]
>>> [sorted(y) for y in structure.k_best(x, np.array([1.0, 0.0]), 2)]
[[(0, 1), (1, 0)], [(1, 0)]]
>>> structure.joint_features(x, {(0, 1), (1, 0)}).toarray()
array([[4., 0.]])
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.errors import InvalidInputError
from structopt.structures.base.oracles import best_other, loss_augmented, worst
from structopt.structures.base.shard import Answers
from structopt.structures.base.structure import Structure, check_lengths
from structopt.structures.matching.inputs import Pair, as_set, gold_mask, read_pair
from structopt.structures.matching.shard import MatchingShard

DECODERS = ("compiled", "networkx")

Edges = frozenset[tuple[Any, Any]]


class Matching(Structure):
    r"""Bipartite matchings: the output of an example is a frozenset of pairs (left, right).

    An input x is an array ``(n1, n2, d)`` of edge features,
    :class:`~structopt.CandidateEdges` where not every edge can occur, or
    a networkx graph whose nodes have ``bipartite`` 0 or 1 (and perhaps ``fertility``) and whose
    edges have ``features``. An output y is given as a set or a list of pairs, or as a 0/1 matrix.

    Parameters
    ----------
    false_positive, false_negative : float
        Loss of an edge too many and of an edge too few, > 0.
    fertility : int or (int, int)
        Edges that a left and a right node may have, unless the example says otherwise.
    decoder : {"compiled", "networkx"}
        Who decodes. "networkx" is the slow reference that the fast one must agree with.

    Attributes
    ----------
    n_features_ : int
        d, one weight for each feature of an edge.

    Notes
    -----
    Taskar, Lacoste-Julien and Jordan (2006), section 2.2; word alignment is their example.
    """

    releases_gil: ClassVar[bool] = False

    def __init__(
        self,
        false_positive: float = 1.0,
        false_negative: float = 1.0,
        fertility: int | tuple[int, int] = 1,
        decoder: str = "compiled",
    ) -> None:
        self.false_positive = false_positive
        self.false_negative = false_negative
        self.fertility = fertility
        self.decoder = decoder

    # ------------------------------------------------------------------ fitting and encoding
    def fitted(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Return a copy that knows the dimension."""
        check_lengths(X, Y)
        if self.decoder not in DECODERS:
            raise InvalidInputError(f"decoder is {self.decoder!r}; it must be one of {DECODERS}.")
        for name in ("false_positive", "false_negative"):
            cost = getattr(self, name)
            if not (np.isfinite(cost) and cost > 0):
                raise InvalidInputError(f"{name} is {cost!r}: it must be a finite number > 0.")
        self._limits()
        for i, x in enumerate(X):  # an example without candidates says nothing about columns
            pair = read_pair(x, self._limits(), None, i) if _has_edges(x) else None
            if pair is not None:
                fitted = copy.copy(self)
                fitted.n_features_ = int(pair.features.shape[1])
                return fitted
        raise InvalidInputError("No example has a candidate edge: there is nothing to learn.")

    def encode(self, X: Sequence[Any], Y: Sequence[Any], *, start: int = 0) -> MatchingShard:
        """Encode examples with their gold matchings; ``start`` numbers the first in messages."""
        check_lengths(X, Y)
        pairs = [self._pair(x, i) for i, x in enumerate(X, start)]
        gold = [gold_mask(p, y, i) for i, (p, y) in enumerate(zip(pairs, Y, strict=True), start)]
        return self._shard(pairs, gold)

    # ------------------------------------------------------------------ one example
    def joint_features(self, x: Any, y: Any) -> Any:
        """Return the summed features of the edges of y, as one sparse row."""
        pair = self._pair(x)
        mask = gold_mask(pair, y)
        summed = np.asarray(pair.features[mask].sum(axis=0)).reshape(1, -1)
        return sp.csr_array(summed)

    def loss(self, y: Any, other: Any) -> float:
        """Return the weighted number of edges in which ``other`` differs from y."""
        gold, predicted = as_set(y), as_set(other)
        missed, invented = len(gold - predicted), len(predicted - gold)
        return float(self.false_negative * missed + self.false_positive * invented)

    def argmax(self, x: Any, weights: Floats, *, gold: Any = None) -> Edges:
        """Return the best matching, loss-augmented if gold is given."""
        pair, shard = self._single(x, gold)
        asked = shard.argmax(weights) if gold is None else shard.ask(loss_augmented, weights)
        return pair.named(asked.outputs)

    def argmin(self, x: Any, weights: Floats) -> Edges:
        """Return the matching with the lowest score."""
        pair, shard = self._single(x, None)
        return pair.named(shard.ask(worst, weights).outputs)

    def second_best(self, x: Any, weights: Floats, gold: Any) -> Edges | None:
        """Return the best matching other than gold; None if no edge can be matched."""
        pair, shard = self._single(x, gold)
        answers = shard.ask(best_other, weights)
        return pair.named(answers.outputs) if np.isfinite(answers.score[0]) else None

    def k_best(self, x: Any, weights: Floats, k: int) -> list[Edges]:
        """Return the k best matchings, best first (fewer if there are fewer)."""
        if k < 1:
            raise InvalidInputError(f"k is {k}; ask for at least one output.")
        pair, shard = self._single(x, None)
        found: list[Answers] = shard.k_best(weights, k)
        return [pair.named(a.outputs) for a in found if np.isfinite(a.score[0])]

    def part_count(self, y: Any) -> int:
        """Return the number of edges of y, at least 1."""
        return max(1, len(as_set(y)))

    def part_errors(self, y: Any, other: Any) -> int:
        """Return the number of edges missed or invented, whichever is larger."""
        gold, predicted = as_set(y), as_set(other)
        wrong = max(len(gold - predicted), len(predicted - gold))
        return min(self.part_count(y), wrong)

    # ------------------------------------------------------------------ many examples
    def predict(self, X: Sequence[Any], weights: Floats) -> list[Edges]:
        """Return the best matching of every example."""
        if len(X) == 0:
            return []
        pairs = [self._pair(x, i) for i, x in enumerate(X)]
        shard = self._shard(pairs, [np.zeros(len(p.edges), dtype=bool) for p in pairs])
        mask = shard.argmax(weights).outputs
        ends = pairwise(shard.offsets.tolist())
        return [pair.named(mask[a:b]) for pair, (a, b) in zip(pairs, ends, strict=True)]

    def feature_names(self, inputs: Sequence[str] | None = None) -> list[tuple[str, str]]:
        """Return ``(input, "edge")`` for each weight; inputs are x0, x1, ... unless named."""
        names = [f"x{j}" for j in range(self.n_features_)] if inputs is None else list(inputs)
        return [(name, "edge") for name in names]

    # ------------------------------------------------------------------ inside
    def _limits(self) -> tuple[int, int]:
        both = self.fertility if isinstance(self.fertility, tuple | list) else [self.fertility] * 2
        if len(both) != 2 or any(int(b) != b or b < 1 for b in both):
            raise InvalidInputError(
                f"fertility is {self.fertility!r}: give an integer >= 1, or one for left and one "
                "for right nodes."
            )
        return int(both[0]), int(both[1])

    def _pair(self, x: Any, example: int | None = None) -> Pair:
        return read_pair(x, self._limits(), self.n_features_, example)

    def _single(self, x: Any, gold: Any) -> tuple[Pair, MatchingShard]:
        pair = self._pair(x)
        mask = np.zeros(len(pair.edges), bool) if gold is None else gold_mask(pair, gold)
        return pair, self._shard([pair], [mask])

    def _shard(self, pairs: list[Pair], gold: list[Any]) -> MatchingShard:
        searches = None
        if self.decoder == "networkx":
            from structopt.structures.matching.reference import ReferenceSearch

            searches = [ReferenceSearch(pair.edges, pair.fertility) for pair in pairs]
        costs = (float(self.false_positive), float(self.false_negative))
        return MatchingShard(pairs, gold, *costs, searches)


def _has_edges(x: Any) -> bool:
    edges = getattr(x, "edges", None)
    return True if edges is None else len(edges) > 0
