r"""Trees encoded for a pass: all nodes in one matrix, decoded in one compiled call.

With nodes X (N, d), distinct rows of edge features G, labels K and weights w = (W, E) a pass is

    unary = X W',    pair = G E',    labels = max-product,    loss and w . delta per example.

>>> import numpy as np
>>> from structopt.structures.hierarchy.inputs import stack_trees
>>> from structopt.structures.base.oracles import loss_augmented
>>> forest = stack_trees([(np.eye(2), [-1, 0])])
>>> shard = HierarchyShard(forest, None, np.array([0, 1]), np.ones(2))
>>> answers = shard.ask(loss_augmented, np.zeros(8))
>>> answers.outputs, answers.loss, answers.score
(array([1, 0]), array([2.]), array([0.]))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.structures.base.expectations import Expected
from structopt.structures.base.input_rows import InputRows
from structopt.structures.base.label_costs import paid
from structopt.structures.base.labelled_shard import LabelledShard
from structopt.structures.base.oracles import (
    Oracle,
    best_other,
    loss_augmented,
    other_augmented,
    worst,
)
from structopt.structures.base.parts import Directions
from structopt.structures.base.shard import Answers, decoders, ranked
from structopt.structures.hierarchy import kernels
from structopt.structures.hierarchy.inputs import Forest
from structopt.structures.hierarchy.marginals import expected
from structopt.structures.hierarchy.marginals_kernels import marginals
from structopt.structures.hierarchy.scores import TreeScores


class HierarchyShard(LabelledShard):
    """Stacked trees with gold labels.

    Parameters
    ----------
    forest : Forest
    allowed : array of bool, shape (N, K), or None
        Labels that each node may have; None for all.
    gold : array of int, shape (N,)
    class_weight : array of float, shape (K,)
    start : int
        Number of the first example in messages.
    decoder : {"compiled", "networkx"}
    costs : array of shape (N,) or (N, K), optional
        What a wrong label costs, or each label; by default the class weight of gold.
    """

    inputs_in = "nodes"
    along: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "offsets": ("nodes", "gold", "cost", "known", "allowed", "parent", "order", "kind")
    }

    def __init__(
        self, forest: Forest, allowed: Any, gold: Ints, class_weight: Floats, start: int = 0,
        decoder: str = "compiled", costs: Floats | None = None,
    ) -> None:  # fmt: skip
        self.allowed, self.gold = allowed, gold
        self.cost = class_weight[gold] if costs is None else costs
        self.n_labels, self.start, self.decoder = len(class_weight), start, decoder
        self.parent, self.order, self.kind, self.edges = forest[1:5]
        self.offsets = forest.stacked.offsets
        self.nodes = InputRows.of(forest.stacked.matrix, forest.base)
        self.edge_rows: Ints = len(gold) + np.arange(self.edges.shape[0])  # of base, for each kind
        self.n_examples, self.known = len(self.offsets) - 1, None

    @cached_property
    def base(self) -> Any:
        """The base matrix."""
        return self.nodes.base

    def part(self, a: int, b: int) -> Self:
        """Return trees a to b - 1 as a shard over the same base, with their kinds of edges."""
        part, first = super().part(a, b), int(self.offsets[a])
        part.parent = np.where(part.parent < 0, -1, part.parent - first)
        part.order = part.order - first
        kinds, part.kind = np.unique(part.kind, return_inverse=True)
        part.edges, part.edge_rows = self.edges[kinds], self.edge_rows[kinds]
        return part

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every tree; outputs are stacked integers."""
        scores = self.part_scores(weights)
        if oracle is loss_augmented:
            return self._decoded(scores, scores.augmented(self.gold, self.cost))
        if oracle is worst:
            return self._decoded(scores, scores.negated())
        if oracle in (best_other, other_augmented):
            plain = oracle is best_other
            aim = scores if plain else scores.augmented(self.gold, self.cost)
            given = (*aim.masked(self.allowed), *self._shape(), self.offsets, self.gold)
            return self._compared(scores, *decoders(kernels, self.decoder).best_other(*given))
        raise self._unknown(oracle)

    def argmax(self, weights: Floats) -> Answers:
        """Return every tree's best labels, without the loss."""
        scores = self.part_scores(weights)
        return self._decoded(scores, scores)

    def k_best(self, weights: Floats, k: int) -> list[Answers]:
        """Return the k best of every tree; ``score`` is infinite where there are fewer."""
        scores = self.part_scores(weights)
        masked, found = scores.masked(self.allowed), []
        ask = (
            k_best_labels if self.decoder == "compiled" else decoders(kernels, self.decoder).k_best
        )
        for a, b in pairwise(self.offsets.tolist()):
            parent, order = self.parent[a:b], self.order[a:b] - a
            given = (masked.unary[a:b], masked.pair, self.kind[a:b])
            found.append(ask(*given, np.where(parent < 0, -1, parent - a), order, k))
        every = ranked(self.gold, self.offsets, found)
        return [self._compared(scores, labels, missing) for labels, missing in every]

    def marginals(self, weights: Floats) -> list[Floats]:
        """Return the probability of each label at each node, by sum-product."""
        scores = self.part_scores(weights).masked(self.allowed)
        found = marginals(*scores, *self._shape(), np.zeros(len(self.kind)))[0]
        return [found[a:b] for a, b in pairwise(self.offsets.tolist())]

    def part_scores(self, weights: Floats) -> TreeScores:
        """Return the score of each label at each node, and of each pair of labels."""
        return TreeScores.of(self.nodes, self.edges, weights, self.n_labels)

    def expected(self, weights: Floats, loss_weight: float, cost: Floats) -> Expected:
        """Return expectations over all labellings, by sum-product."""
        return expected(self, weights, loss_weight, cost)

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the trees ``which``: the parts in which they differ from gold."""
        parts = kernels.differing_parts(
            self.parent, self.kind, self.offsets, self.gold, outputs, which, self.n_labels,
            self.nodes.n_inputs, self.edges.shape[1], self.nodes.first, self.edge_rows,
        )  # fmt: skip
        return Directions(*parts)

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        yield from (self.offsets, self.parent, self.kind, self.cost)
        if self.allowed is not None:
            yield self.allowed

    def _within(self, weights: Floats, allowed: Any) -> Ints:
        scores = self.part_scores(weights).masked(allowed).masked(self.allowed)
        return np.asarray(decoders(kernels, self.decoder).max_product(*scores, *self._shape()))

    def _impossible(self, labels: Ints) -> Any:
        if self.allowed is None:
            return super()._impossible(labels)
        return ~self._whole(self.allowed[np.arange(len(labels)), labels])

    def _shape(self) -> tuple[Ints, Ints, Ints]:
        return self.kind, self.parent, self.order

    def _decoded(self, scores: TreeScores, aim: TreeScores) -> Answers:
        given = (*aim.masked(self.allowed), *self._shape())
        return self._compared(scores, decoders(kernels, self.decoder).max_product(*given))

    def _compared(self, scores: TreeScores, labels: Ints, missing: Any = None) -> Answers:
        """Return outputs with their loss and ``w . delta``, infinite where they are missing."""
        given = (self.kind, self.parent, self.offsets, self.gold, np.zeros(len(labels)), labels)
        _, score = kernels.compare(*scores, *given)
        loss = np.add.reduceat(paid(self.cost, self.gold, labels), self.offsets[:-1])
        if missing is not None:
            score[missing] = np.inf
        return Answers(labels, loss, score)


def k_best_labels(
    unary: Floats, pair: Floats, kind: Ints, parent: Ints, order: Ints, k: int
) -> Ints:
    """Return the k best labellings of one example as rows, best first; it may be a forest."""
    n, n_labels = unary.shape
    # a node above all roots, with one label and no scores, makes it one tree
    top = np.full((1, n_labels), -np.inf)
    top[0, 0] = 0.0
    zero = np.zeros((1, n_labels, n_labels))
    rows = kernels.k_best(
        np.concatenate([unary, top]),
        np.concatenate([pair, zero]),
        np.append(np.where(parent < 0, len(pair), kind), 0),
        np.append(np.where(parent < 0, n, parent), -1),
        np.concatenate([[n], order]),
        k,
    )
    return np.asarray(rows[:, :n])
