r"""Pairwise Markov nets encoded for a pass: the inputs of all nodes and edges in one base.

What a search leaves open is the answer's `excess`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints, base_matrix, check_weights
from structopt.structures.base.label_costs import augmented, paid
from structopt.structures.base.oracles import Oracle, loss_augmented, worst
from structopt.structures.base.parts import Directions
from structopt.structures.base.shard import Answers, Shard
from structopt.structures.markov_net import kernels
from structopt.structures.markov_net.inputs import Net
from structopt.structures.markov_net.search import NetSearch


class MarkovNetShard(Shard):
    """Nets with gold labels.

    Parameters
    ----------
    nets : sequence of Net
    golds : sequence of int arrays
    class_weight : array of float, shape (K,)
    pairs : array of int, shape (K, K)
        Which block of weights a pair of labels has.
    branch : bool
    start : int
        Number of the first example in messages.
    costs : array of shape (N,) or (N, K), optional
        What a wrong label costs, or each label; by default the class weight of gold.
    """

    along: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "ends": ("gold", "cost", "node_inputs"),
        "edge_ends": ("edges", "edge_inputs"),
    }
    each = ("nets", "searches")

    def __init__(
        self, nets: Sequence[Net], golds: Sequence[Ints], class_weight: Floats, pairs: Ints,
        branch: bool, start: int = 0, costs: Floats | None = None,
    ) -> None:  # fmt: skip
        self.nets, self.pairs, self.start = list(nets), pairs, start
        self.n_examples, self.n_labels = len(nets), len(class_weight)
        self.gold = np.concatenate(golds)
        self.cost = class_weight[self.gold] if costs is None else costs
        self.ends = _ends([len(net.nodes) for net in nets])
        self.edge_ends = _ends([len(net.edges) for net in nets])
        self.edges = np.concatenate([net.edges for net in nets])
        # base: the rows of all nodes, then those of all edges; both are views of its numbers
        nodes, edges = (nets[0].node_inputs.shape[1], nets[0].edge_inputs.shape[1])
        n, m = len(self.gold), len(self.edges)
        numbers = np.empty(n * nodes + m * edges)
        self.node_inputs = numbers[: n * nodes].reshape(n, nodes)
        self.edge_inputs = numbers[n * nodes :].reshape(m, edges)
        np.concatenate([net.node_inputs for net in nets], out=self.node_inputs)
        np.concatenate([net.edge_inputs for net in nets], out=self.edge_inputs)
        column = np.concatenate([np.tile(np.arange(nodes), n), np.tile(np.arange(edges), m)])
        ends = np.concatenate([[0], np.cumsum(np.repeat([nodes, edges], [n, m]))])
        shape = (n + m, max(nodes, edges))
        self.base = base_matrix(sp.csr_array((numbers, column, ends), shape=shape))
        self.searches = [NetSearch(net, self.n_labels, branch) for net in nets]
        self.first = (0, n)  # where own nodes and edges begin in base

    def part(self, a: int, b: int) -> Self:
        """Return nets a to b - 1 as a shard over the same base."""
        part = super().part(a, b)
        part.first = (
            self.first[0] + int(self.ends[a]),
            self.first[1] + int(self.edge_ends[a]),
        )
        return part

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every net; outputs are stacked integers."""
        unary, pair = self._scores(weights)
        if oracle is loss_augmented:
            return self._each(unary, pair, augmented(unary, self.gold, self.cost), pair)
        if oracle is worst:
            return self._each(unary, pair, -unary, -pair)
        raise self._unknown(oracle)

    def argmax(self, weights: Floats) -> Answers:
        """Return every net's best labels, without the loss."""
        unary, pair = self._scores(weights)
        return self._each(unary, pair, unary, pair)

    def within(self, weights: Floats, held: Any) -> tuple[Ints, Any]:
        """Return every net's best labels among those allowed: each net has some."""
        unary, pair = self._scores(weights)
        # more than a label can gain at its node, whatever its neighbours are
        most = 1.0 + np.ptp(unary, axis=1)
        for side in range(2):
            reach = np.ptp(pair, axis=(1, 2))
            most += np.bincount(self._ends_of[:, side], reach, minlength=len(most))
        labels = self._each(unary, pair, np.where(held, unary, unary - most[:, None]), pair).outputs
        for s in np.flatnonzero(~held[np.arange(len(labels)), labels]):  # a relaxation rounded so
            value = unary[s].copy()
            for side in range(2):
                for e in np.flatnonzero(self._ends_of[:, side] == s):
                    other = labels[self._ends_of[e, 1 - side]]
                    value += pair[e, :, other] if side == 0 else pair[e, other, :]
            labels[s] = np.argmax(np.where(held[s], value, -np.inf))
        return labels, np.zeros(self.n_examples, dtype=bool)

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the nets ``which``: the parts in which they differ from gold."""
        d, d_edge = self.node_inputs.shape[1], self.edge_inputs.shape[1]
        first_node, first_edge = self.first
        batches = []
        for i in which:
            a, b = int(self.ends[i]), int(self.ends[i + 1])
            gold, mine = self.gold[a:b], np.asarray(outputs[a:b])
            node = np.flatnonzero(gold != mine)
            c, ends = int(self.edge_ends[i]), self.nets[i].edges
            was = self.pairs[gold[ends[:, 0]], gold[ends[:, 1]]]
            now = self.pairs[mine[ends[:, 0]], mine[ends[:, 1]]]
            edge = np.flatnonzero(was != now)
            source = np.concatenate([first_node + a + node, first_edge + c + edge])
            shift = self.n_labels * d
            plus = np.concatenate([gold[node] * d, shift + was[edge] * d_edge])
            minus = np.concatenate([mine[node] * d, shift + now[edge] * d_edge])
            batches.append(
                Directions(
                    np.array([0, 2 * len(source)]),
                    np.tile(source, 2).astype(np.int64),
                    np.concatenate([plus, minus]).astype(np.int64),
                    np.repeat([1.0, -1.0], len(source)),
                )
            )
        return Directions.concatenate(batches)

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        yield from (self.edges, self.ends, self.cost)

    @property
    def offsets(self) -> Ints:
        """Where the nodes of each net begin."""
        return self.ends

    @property
    def _ends_of(self) -> Ints:
        """The two nodes of each edge, numbered over all nets."""
        owner = np.repeat(np.arange(self.n_examples), np.diff(self.edge_ends))
        return self.edges + self.ends[owner][:, None]

    def _scores(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return (nodes, K) scores of labels and (edges, K, K) scores of pairs of labels."""
        d, d_edge = self.node_inputs.shape[1], self.edge_inputs.shape[1]
        n_labels, n_pairs = self.n_labels, int(self.pairs.max()) + 1
        w = check_weights(weights, n_labels * d + n_pairs * d_edge)
        unary = np.ascontiguousarray(self.node_inputs @ w[: n_labels * d].reshape(n_labels, d).T)
        table = self.edge_inputs @ w[n_labels * d :].reshape(n_pairs, d_edge).T
        return unary, np.ascontiguousarray(table[:, self.pairs])

    def _each(self, unary: Floats, pair: Floats, asked: Floats, asked_pair: Floats) -> Answers:
        n = self.n_examples
        outputs = self.gold.copy()
        loss, score, excess = np.zeros(n), np.zeros(n), np.zeros(n)
        for i, search in enumerate(self.searches):
            a, b = int(self.ends[i]), int(self.ends[i + 1])
            c, d = int(self.edge_ends[i]), int(self.edge_ends[i + 1])
            labels, excess[i] = search.best(asked[a:b], asked_pair[c:d])
            gold, edges = self.gold[a:b], self.nets[i].edges
            outputs[a:b] = labels
            loss[i] = paid(self.cost[a:b], gold, labels).sum()
            score[i] = kernels.score(unary[a:b], pair[c:d], edges, gold) - kernels.score(
                unary[a:b], pair[c:d], edges, labels
            )
        return Answers(outputs, loss, score, excess=excess)


def _ends(counts: list[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
