r"""A partial matching between two sets of nodes: which left node goes with which right node.

    score(y) = sum over edges (i, j) of y of w . x_ij,
    loss(gold, y) = missed |gold - y| + extra |y - gold|                            (PartCosts).

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
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.errors import InvalidInputError
from structopt.structures.base.costed import costs_of, plain
from structopt.structures.base.packed import PackedStructure, check_decoder
from structopt.structures.base.sketch import Links, parts_of
from structopt.structures.base.structure import check_lengths
from structopt.structures.losses.part_costs import PartCosts
from structopt.structures.matching.inputs import (
    Pair,
    as_set,
    given_edges,
    gold_mask,
    known_edges,
    parted,
    read_pair,
)
from structopt.structures.matching.shard import MatchingShard

Edges = frozenset[tuple[Any, Any]]


class Matching(PackedStructure):
    r"""Bipartite matchings: the output of an example is a frozenset of pairs (left, right).

    An input x is an array ``(n1, n2, d)`` of edge features,
    :class:`~structopt.CandidateEdges` where not every edge can occur, or
    a networkx graph whose nodes have ``bipartite`` 0 or 1 (and perhaps ``fertility``) and whose
    edges have ``features``. An output y is given as a set or a list of pairs, or as a 0/1 matrix.

    Parameters
    ----------
    loss : PartCosts or your own with an oracle, optional
        What an edge too many (`extra`, for precision) and an edge too few (`missed`, for recall)
        cost, both > 0; by default 1.
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

    offers: ClassVar[frozenset[str]] = frozenset({"argmax", "argmin", "second_best", "k_best"})

    def __init__(
        self,
        loss: Any = None,
        fertility: int | tuple[int, int] = 1,
        decoder: str = "compiled",
    ) -> None:
        self.cost = loss
        self.fertility = fertility
        self.decoder = decoder

    # ------------------------------------------------------------------ fitting and encoding
    def fitted(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Return a copy that knows the dimension."""
        check_lengths(X, Y)
        check_decoder(self.decoder)
        PartCosts.given(self.cost).checked(positive=True)
        self._limits()
        for i, x in enumerate(X):  # an example without candidates says nothing about columns
            pair = read_pair(x, self._limits(), None, i) if _has_edges(x) else None
            if pair is not None:
                fitted = copy.copy(self)
                fitted.n_features_ = int(pair.features.shape[1])
                return fitted
        raise InvalidInputError("No example has a candidate edge: there is nothing to learn.")

    def pack(self, X: Sequence[Any], Y: Sequence[Any] | None, start: int = 0) -> MatchingShard:
        """Return checked pairs as a shard."""
        pairs = [self._pair(x, i) for i, x in enumerate(X, start)]
        if Y is None:
            none = [np.zeros(len(p.edges), dtype=bool) for p in pairs]
            added = np.zeros(sum(map(len, none)))
            return MatchingShard(pairs, none, added, start, self.decoder)
        each = list(enumerate(zip(pairs, Y, strict=True), start))
        known = [known_edges(p, plain(y), i) for i, (p, y) in each]
        given = zip(each, known, strict=True)
        added = np.concatenate([self._added(p, y, k == 1, i) for (i, (p, y)), k in given])
        shard = MatchingShard(pairs, [k == 1 for k in known], added, start, self.decoder)
        return shard.begun(np.concatenate(known))

    def held(self, X: Any, given: Any, shard: Any) -> Any:
        """Return which edges must be in and out: 1 and 0, -1 where nothing is given."""
        each = enumerate(zip(given, shard.pairs, strict=True), shard.start)
        return np.concatenate([given_edges(pair, told, i) for i, (told, pair) in each])

    def unpack(self, shard: MatchingShard, outputs: Any) -> list[Edges]:
        """Return the chosen edges of every pair."""
        ends = pairwise(shard.offsets.tolist())
        return [p.named(outputs[a:b]) for p, (a, b) in zip(shard.pairs, ends, strict=True)]

    # ------------------------------------------------------------------ what it means
    def joint_features(self, x: Any, y: Any) -> Any:
        """Return the summed features of the edges of y, as one sparse row."""
        pair = self._pair(x)
        mask = gold_mask(pair, plain(y))
        summed = np.asarray(pair.features[mask].sum(axis=0)).reshape(1, -1)
        return sp.csr_array(summed)

    def loss(self, y: Any, other: Any) -> float:
        """Return the weighted number of edges in which ``other`` differs from y."""
        if self.own_loss is not None:
            return float(self.own_loss(y, other))
        (gold, open_), predicted, costs = parted(plain(y)), as_set(other), costs_of(y)
        if costs is None:
            return PartCosts.given(self.cost).of(gold - open_, predicted - open_)
        return float(sum(costs[edge] for edge in (gold ^ predicted) - open_))

    def part_count(self, y: Any) -> int:
        """Return the number of edges of y, at least 1."""
        return max(1, len(parted(plain(y))[0]))

    def part_errors(self, y: Any, other: Any) -> int:
        """Return the number of edges missed or invented, whichever is larger."""
        gold, open_ = parted(plain(y))
        predicted = as_set(other) - open_
        wrong = max(len(gold - predicted), len(predicted - gold))
        return min(self.part_count(y), wrong)

    def feature_names(self, inputs: Sequence[str] | None = None) -> list[tuple[str, str]]:
        """Return ``(input, "edge")`` for each weight; inputs are x0, x1, ... unless named."""
        names = [f"x{j}" for j in range(self.n_features_)] if inputs is None else list(inputs)
        return [(name, "edge") for name in names]

    def sketch(self, x: Any, y: Any, shown: Any = None) -> Links:
        """Return the links between two sides; ``shown`` is a pair of sequences of words."""
        pair = read_pair(x, (1, 1), None)
        sides: Any = pair.names or tuple(list(range(n)) for n in pair.shape)
        place = [{node: k for k, node in enumerate(side)} for side in sides]
        pairs = frozenset((place[0][i], place[1][j]) for i, j in parted(plain(y))[0])
        given: Any = sides if shown is None else shown
        left, right = (parts_of(s, len(n)) or n for s, n in zip(given, sides, strict=True))
        return Links(pairs, left, right)

    # ------------------------------------------------------------------ inside
    def _added(self, pair: Pair, y: Any, gold: Any, example: int) -> Floats:
        """Return what each candidate edge adds to the loss."""
        brought = costs_of(y)
        if brought is None:
            return PartCosts.given(self.cost).added(gold)
        if brought.shape != pair.shape or pair.names is not None:
            raise InvalidInputError(
                f"The costs of example {example} have shape {brought.shape}: give a matrix of "
                f"shape {pair.shape}, a cost for each (left, right); nodes with names take none.",
                example=example,
            )
        cost = brought[pair.edges[:, 0], pair.edges[:, 1]]
        return np.where(gold, -cost, cost)

    def _limits(self) -> tuple[int, int]:
        given: Any = self.fertility
        both = given if isinstance(given, tuple | list) else [given] * 2
        if len(both) != 2 or any(not isinstance(b, Integral) or b < 1 for b in both):
            raise InvalidInputError(
                f"fertility is {self.fertility!r}: give an integer >= 1, or one for left and one "
                "for right nodes."
            )
        return int(both[0]), int(both[1])

    def _pair(self, x: Any, example: int | None = None) -> Pair:
        return read_pair(x, self._limits(), self.n_features_, example)


def _has_edges(x: Any) -> bool:
    edges: Any = getattr(x, "edges", None)
    sized = hasattr(edges, "__len__") and getattr(edges, "shape", None) != ()
    return len(edges) > 0 if sized and not hasattr(edges, "nnz") else True
