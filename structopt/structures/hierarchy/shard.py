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

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints, base_matrix, check_weights
from structopt.errors import IncompatibleError
from structopt.structures.base.expectations import Expected
from structopt.structures.base.input_rows import MAX_DENSITY
from structopt.structures.base.oracles import Oracle, best_other, loss_augmented, worst
from structopt.structures.base.parts import Directions
from structopt.structures.base.parts_kernels import part_scores, sparse_scores
from structopt.structures.base.shard import Answers, Shard
from structopt.structures.hierarchy import kernels
from structopt.structures.hierarchy.inputs import Forest
from structopt.structures.hierarchy.marginals import expected


class TreeScores(NamedTuple):
    """What decoders read: score of each label at each node, and of each pair [child, parent]."""

    unary: Floats
    pair: Floats

    @classmethod
    def of(cls, nodes: Any, edges: Any, weights: Any, n_labels: int) -> TreeScores:
        """Score stacked nodes and kinds of edges."""
        split = n_labels * nodes.shape[1]
        w = check_weights(weights, split + n_labels * n_labels * edges.shape[1])
        columns = w[:split].reshape(n_labels, -1).T
        if sp.issparse(nodes):
            rows = (nodes.indptr, nodes.indices, nodes.data)
            unary = sparse_scores(*rows, np.array(columns, order="C"))
        else:
            unary = np.ascontiguousarray(nodes @ columns)
        return cls(unary, pair_scores(edges, w[split:], n_labels))

    def negated(self) -> TreeScores:
        """Return the scores of the opposite question."""
        return TreeScores(-self.unary, -self.pair)

    def masked(self, allowed: Any) -> TreeScores:
        """Return scores under which labels that are not allowed never win."""
        if allowed is None:
            return self
        return TreeScores(np.where(allowed, self.unary, -np.inf), self.pair)

    def augmented(self, gold: Ints, cost: Floats) -> TreeScores:
        """Return scores with ``cost[v]`` added where the label of v is not gold."""
        unary = self.unary + cost[:, None]
        every = np.arange(len(gold))
        unary[every, gold] = self.unary[every, gold]
        return TreeScores(unary, self.pair)


def pair_scores(edges: Any, weights: Floats, n_labels: int) -> Floats:
    """Return the score of every pair of labels [child, parent] for each kind of edge."""
    table = np.asarray(edges @ weights.reshape(n_labels * n_labels, -1).T)
    shaped = table.reshape(-1, n_labels, n_labels)
    return np.ascontiguousarray(shaped.transpose(0, 2, 1))


class HierarchyShard(Shard):
    """Stacked trees with gold labels.

    Parameters
    ----------
    forest : Forest
    allowed : array of bool, shape (N, K), or None
        Labels that each node may have; None for all.
    gold : array of int, shape (N,)
    class_weight : array of float, shape (K,)
    """

    def __init__(self, forest: Forest, allowed: Any, gold: Ints, class_weight: Floats) -> None:
        self.allowed, self.gold, self.cost = allowed, gold, class_weight[gold]
        self.n_labels, self.n_inputs = len(class_weight), forest.nodes.shape[1]
        self.offsets, self.parent, self.order, self.kind = forest[1:5]
        self.edges, self.n_examples = forest.edges, len(self.offsets) - 1
        width = max(self.n_inputs, self.edges.shape[1])
        rows = [sp.csr_array(forest.nodes), sp.csr_array(self.edges)]
        for block in rows:
            block.resize(block.shape[0], width)
        self.base = base_matrix(sp.vstack(rows, format="csr"))
        self.nodes = forest.nodes
        n = len(gold)
        if sp.issparse(self.nodes) or self.base.indptr[n] < MAX_DENSITY * self.nodes.size:
            own = (self.base.data, self.base.indices, self.base.indptr[: n + 1])
            self.nodes = sp.csr_array(own, shape=(n, self.n_inputs))
        self._rows: Ints | None = None  # where this shard's rows are in base; None if the same

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every tree; outputs are stacked integers."""
        scores = self._scores(weights)
        if oracle is loss_augmented:
            return self._decoded(scores, scores.augmented(self.gold, self.cost))
        if oracle is worst:
            return self._decoded(scores, scores.negated())
        if oracle is best_other:
            given = (*scores.masked(self.allowed), *self._shape(), self.offsets, self.gold)
            labels, missing = kernels.best_other(*given)
            answers = self._compared(scores, labels)
            answers.score[missing] = np.inf  # nothing but gold is possible
            return answers
        raise IncompatibleError(f"Hierarchy does not know the oracle {oracle.name!r}.")

    def argmax(self, weights: Floats) -> Answers:
        """Return every tree's best labels, without the loss."""
        scores = self._scores(weights)
        return self._decoded(scores, scores)

    def k_best(self, weights: Floats, k: int) -> list[Answers]:
        """Return the k best of every tree; ``score`` is infinite where there are fewer."""
        scores, found = self._scores(weights), np.tile(self.gold, (k, 1))
        masked = scores.masked(self.allowed)
        missing = np.zeros((k, self.n_examples), dtype=bool)
        for i, (a, b) in enumerate(pairwise(self.offsets.tolist())):
            parent, order = self.parent[a:b], self.order[a:b] - a
            given = (masked.unary[a:b], masked.pair, self.kind[a:b])
            rows = k_best_labels(*given, np.where(parent < 0, -1, parent - a), order, k)
            found[: len(rows), a:b] = rows
            missing[len(rows) :, i] = True
        answers = [self._compared(scores, labels) for labels in found]
        for answer, none in zip(answers, missing, strict=True):
            answer.score[none] = np.inf
        return answers

    def part_scores(self, weights: Floats) -> TreeScores:
        """Return the score of each label at each node, and of each pair of labels."""
        return self._scores(weights)

    def expected(self, weights: Floats, loss_weight: float, cost: Floats) -> Expected:
        """Return expectations over all labellings, by sum-product."""
        return expected(self, weights, loss_weight, cost)

    def single(self, i: int) -> SingleHierarchy:
        """Return tree i as a shard of its own: a view."""
        return SingleHierarchy(self, i)

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the trees ``which``: the parts in which they differ from gold."""
        ptr, source, offset, coef = kernels.differing_parts(
            self.parent, self.kind, self.offsets, self.gold, outputs, which, self.n_labels,
            self.n_inputs, self.edges.shape[1],
        )  # fmt: skip
        return Directions(ptr, source if self._rows is None else self._rows[source], offset, coef)

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        yield from (self.offsets, self.parent, self.kind, self.cost)
        if self.allowed is not None:
            yield self.allowed

    def _shape(self) -> tuple[Ints, Ints, Ints]:
        return self.kind, self.parent, self.order

    def _scores(self, weights: Floats) -> TreeScores:
        return TreeScores.of(self.nodes, self.edges, weights, self.n_labels)

    def _decoded(self, scores: TreeScores, aim: TreeScores) -> Answers:
        labels = kernels.max_product(*aim.masked(self.allowed), *self._shape())
        return self._compared(scores, labels)

    def _compared(self, scores: TreeScores, labels: Ints) -> Answers:
        given = (self.kind, self.parent, self.offsets, self.gold, self.cost, labels)
        return Answers(labels, *kernels.compare(*scores, *given))


class SingleHierarchy(HierarchyShard):
    """One tree of a shard, over the same base and without copies of it.

    Made for many small questions: weights must be a float64 vector of the right length, and are
    not checked.
    """

    def __init__(self, whole: HierarchyShard, i: int) -> None:
        first, stop = int(whole.offsets[i]), int(whole.offsets[i + 1])
        own = slice(first, stop)
        self.allowed = None if whole.allowed is None else whole.allowed[own]
        self.gold, self.cost = whole.gold[own], whole.cost[own]
        self.n_labels, self.n_inputs, self.n_examples = whole.n_labels, whole.n_inputs, 1
        self.offsets = np.array([0, stop - first])
        self.parent = np.where(whole.parent[own] < 0, -1, whole.parent[own] - first)
        self.order = whole.order[own] - first
        kinds, self.kind = np.unique(whole.kind[own], return_inverse=True)
        self.edges, self.base = whole.edges[kinds], whole.base
        self._rows = np.concatenate([np.arange(first, stop), len(whole.gold) + kinds])
        sparse, base = sp.issparse(whole.nodes), whole.base
        self.nodes = (
            (base.indptr[first : stop + 1], base.indices, base.data) if sparse else whole.nodes[own]
        )

    def single(self, i: int) -> SingleHierarchy:
        """Return itself."""
        return self

    def _scores(self, weights: Floats) -> TreeScores:
        split, n_labels = self.n_labels * self.n_inputs, self.n_labels
        if isinstance(self.nodes, tuple):
            unary = part_scores(*self.nodes, weights[:split], n_labels)
        else:
            unary = np.ascontiguousarray(self.nodes @ weights[:split].reshape(n_labels, -1).T)
        return TreeScores(unary, pair_scores(self.edges, weights[split:], n_labels))


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
