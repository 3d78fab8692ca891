r"""Pairwise Markov nets encoded for a pass, and how the best labelling of one is found.

Compiled message passing gives a labelling and a bound. Where they meet, the labelling is exact;
where they do not, the relaxation over the local polytope is solved by HiGHS if the net is small,

    sum_k z[s, k] = 1,   sum_k e[st, j, k] = z[s, j],   sum_j e[st, j, k] = z[t, k],

and what is still open is the answer's `excess`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints, base_matrix, check_weights
from structopt.structures.base.integer.rows import Rows
from structopt.structures.base.integer.solver import IntegerProgram
from structopt.structures.base.oracles import Oracle, loss_augmented, worst
from structopt.structures.base.parts import Directions
from structopt.structures.base.shard import Answers, Shard
from structopt.structures.markov_net import kernels

MAX_SWEEPS = 200
SMALL = 5000
"""Edge parts (edges times K^2) up to which HiGHS solves a relaxation that messages leave open: some
tenths of a second at this size."""


@dataclass(frozen=True)
class Net:
    """One graph: inputs of nodes and edges, edges as pairs of node numbers, and its shape.

    Nodes are numbered in the order of a search from the roots, so that in a forest every node has
    at most one neighbour before it; ``given`` holds them in the order of the user's graph.
    """

    given: list[Any]
    nodes: list[Any]
    node_inputs: Floats
    edges: Ints
    edge_inputs: Floats
    forest: bool

    def incidence(self) -> tuple[Ints, Ints, Ints]:
        """Return for each node (as CSR) its edges, and on which side of them it stands."""
        m = len(self.edges)
        node = self.edges.T.ravel()
        order = np.argsort(node, kind="stable")
        count = np.bincount(node, minlength=len(self.nodes))
        ptr = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
        edge, side = np.tile(np.arange(m), 2), np.repeat([0, 1], m)
        return ptr, edge[order].astype(np.int64), side[order].astype(np.int64)


class Decoder:
    """Finds the best labelling of one net for given scores.

    Parameters
    ----------
    net : Net
    n_labels : int
    branch : bool
        Whether to close what relaxations leave open by branch and bound.
    """

    def __init__(self, net: Net, n_labels: int, branch: bool) -> None:
        self.net, self.n_labels, self.branch = net, n_labels, branch
        self._incidence = net.incidence()
        self._program: IntegerProgram | None = None

    def best(self, unary: Floats, pair: Floats) -> tuple[Ints, float]:
        """Return labels and how far the true optimum may lie above their score."""
        net = self.net
        size = float(np.abs(unary).max(axis=1).sum() + np.abs(pair).max(axis=(1, 2)).sum())
        labels, value, bound = kernels.decode(
            unary, pair, net.edges, *self._incidence, net.forest, MAX_SWEEPS, 1e-10 * size
        )
        noise = 1e-9 * size
        if not (self.branch or len(net.edges) * self.n_labels**2 <= SMALL) or (
            bound - value <= noise
        ):
            # a difference in the last digits of the sums is no better labelling
            return labels, 0.0 if bound - value <= noise else bound - value
        scores = np.concatenate([unary.ravel(), pair.ravel()])
        if self._program is None:
            self._program = IntegerProgram(self._local_polytope())
        nodes = unary.size
        if self.branch:
            found = self._program.maximize(scores)
            assert found is not None, "every net has a labelling"
            return np.argmax(found.point[:nodes].reshape(unary.shape), axis=1), found.excess
        relaxed = self._program.relax(scores)
        assert relaxed is not None, "every net has a labelling"
        other = np.argmax(relaxed.values[:nodes].reshape(unary.shape), axis=1)
        other_value = kernels.score(unary, pair, net.edges, other)
        if other_value > value:
            labels, value = other, other_value
        over = min(bound, relaxed.bound) - value
        return labels, 0.0 if over <= noise else over

    def _local_polytope(self) -> Rows:
        n, m, K = len(self.net.nodes), len(self.net.edges), self.n_labels
        one = sp.kron(sp.eye_array(n), np.ones((1, K)))
        blocks: list[list[Any]] = [[one, sp.csr_array((n, m * K * K))]]
        flows = (
            sp.kron(sp.eye_array(m * K), np.ones((1, K))),
            sp.kron(sp.eye_array(m), sp.kron(np.ones((1, K)), sp.eye_array(K))),
        )
        for side, flow in enumerate(flows):
            column = (self.net.edges[:, side, None] * K + np.arange(K)).ravel()
            at = sp.csr_array((np.ones(m * K), (np.arange(m * K), column)), shape=(m * K, n * K))
            blocks.append([-at, flow])
        side_values = np.concatenate([np.ones(n), np.zeros(2 * m * K)])
        columns = n * K + m * K * K
        return Rows(
            sp.csr_array(sp.block_array(blocks)), side_values, side_values, np.zeros(columns),
            np.ones(columns), np.arange(columns) < n * K, columns,
        )  # fmt: skip


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
    """

    along: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "ends": ("gold", "cost", "node_inputs"),
        "edge_ends": ("edges", "edge_inputs"),
    }
    each = ("nets", "decoders")

    def __init__(
        self, nets: Sequence[Net], golds: Sequence[Ints], class_weight: Floats, pairs: Ints,
        branch: bool, start: int = 0,
    ) -> None:  # fmt: skip
        self.nets, self.pairs, self.start = list(nets), pairs, start
        self.n_examples, self.n_labels = len(nets), len(class_weight)
        self.gold = np.concatenate(golds)
        self.cost = class_weight[self.gold]
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
        self.decoders = [Decoder(net, self.n_labels, branch) for net in nets]
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
            every = np.arange(len(self.gold))
            augmented = unary + self.cost[:, None]
            augmented[every, self.gold] = unary[every, self.gold]
            return self._each(unary, pair, augmented, pair)
        if oracle is worst:
            return self._each(unary, pair, -unary, -pair)
        raise self._unknown(oracle)

    def argmax(self, weights: Floats) -> Answers:
        """Return every net's best labels, without the loss."""
        unary, pair = self._scores(weights)
        return self._each(unary, pair, unary, pair)

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
        for i, decoder in enumerate(self.decoders):
            a, b = int(self.ends[i]), int(self.ends[i + 1])
            c, d = int(self.edge_ends[i]), int(self.edge_ends[i + 1])
            labels, excess[i] = decoder.best(asked[a:b], asked_pair[c:d])
            gold, edges = self.gold[a:b], self.nets[i].edges
            outputs[a:b] = labels
            loss[i] = self.cost[a:b] @ (labels != gold)
            score[i] = kernels.score(unary[a:b], pair[c:d], edges, gold) - kernels.score(
                unary[a:b], pair[c:d], edges, labels
            )
        return Answers(outputs, loss, score, excess=excess)


def _ends(counts: list[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
