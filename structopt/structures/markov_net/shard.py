r"""Pairwise Markov nets encoded for a pass: the inputs of all nodes and edges in one base.

What a search leaves open is the answer's `excess`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints, base_matrix, check_weights
from structopt.errors import IncompatibleError
from structopt.structures.base.expectations import Expected
from structopt.structures.base.label_costs import augmented, paid, table
from structopt.structures.base.oracles import Oracle, best_other, loss_augmented, worst
from structopt.structures.base.parts import Directions
from structopt.structures.base.shard import Answers, Shard, ranked
from structopt.structures.markov_net import kernels
from structopt.structures.markov_net.inputs import Net
from structopt.structures.markov_net.junction_tree import JunctionTree, width_found
from structopt.structures.markov_net.search import NetSearch

WIDER = "raise width= of MarkovNet, as far as tables of K^(width + 1) numbers are small enough."
"""What to do where a net is too wide."""


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
    width : int
        Tree-width up to which nets are answered by a junction tree.
    """

    along: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "ends": ("gold", "cost", "node_inputs"),
        "edge_ends": ("edges", "edge_inputs"),
    }
    each = ("nets", "searches")

    def __init__(
        self, nets: Sequence[Net], golds: Sequence[Ints], class_weight: Floats, pairs: Ints,
        branch: bool, start: int = 0, costs: Floats | None = None, width: int = 1,
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
        self.searches = [
            NetSearch(net, self.n_labels, branch, width, i) for i, net in enumerate(nets, start)
        ]
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
        if oracle is best_other:
            outputs, none = self.gold.copy(), np.zeros(self.n_examples, dtype=bool)
            for i, tree, own, edges in self._trees("second_best"):
                found = tree.best_other(unary[own], pair[edges], self.gold[own])
                none[i] = found is None
                outputs[own] = outputs[own] if found is None else found
            return self._compared(unary, pair, outputs, none)
        raise self._unknown(oracle)

    def k_best(self, weights: Floats, k: int) -> list[Answers]:
        """Return the k best of every net; ``score`` is infinite where there are fewer."""
        unary, pair = self._scores(weights)
        found = [
            tree.k_best(unary[own], pair[edges], k) for _, tree, own, edges in self._trees("k_best")
        ]
        every = ranked(self.gold, self.ends, found)
        return [self._compared(unary, pair, outputs, none) for outputs, none in every]

    def marginals(self, weights: Floats) -> list[Floats]:
        """Return the probability of each label at each node, in the order of the graph's nodes."""
        unary, pair = self._scores(weights)
        found = []
        for i, tree, own, edges in self._trees("marginals"):
            nodes = np.empty((own.stop - own.start, self.n_labels))
            nodes[self.nets[i].order()] = tree.marginals(unary[own], pair[edges])[0]
            found.append(nodes)
        return found

    def expected(self, weights: Floats, loss_weight: float, cost: Floats) -> Expected:
        """Return expectations over all labellings, by sum-product on junction trees."""
        unary, pair = self._scores(weights)
        raised = augmented(unary, self.gold, loss_weight * self.cost)
        node, both = np.zeros(unary.shape), np.zeros(pair.shape)
        gold, gold_both = np.zeros(unary.shape), np.zeros(pair.shape)
        ends = self.gold[self._ends_of]
        gold[np.arange(len(gold)), self.gold] = 1.0
        gold_both[np.arange(len(ends)), ends[:, 0], ends[:, 1]] = 1.0
        total = 0.0
        for i, tree, own, edges in self._trees("marginals"):
            node[own], both[edges], log_z = tree.marginals(raised[own], pair[edges])
            total += cost[i] * log_z
            for parts in (node, gold):
                parts[own] *= cost[i]
            for parts in (both, gold_both):
                parts[edges] *= cost[i]
        at_gold = self._features(gold, gold_both)
        wrong = float(np.sum(node * table(self.cost, self.gold, self.n_labels)))
        features = self._features(node, both) - at_gold
        return Expected(features, wrong, float(total - weights @ at_gold))

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

    def _features(self, node: Floats, both: Floats) -> Floats:
        """Return what marginals of nodes and of pairs at edges give in feature space, summed."""
        blocks = np.zeros((int(self.pairs.max()) + 1, self.edge_inputs.shape[1]))
        by_pair = np.einsum("ejk,ed->jkd", both, self.edge_inputs)
        np.add.at(blocks, self.pairs, by_pair)
        return np.concatenate([(node.T @ self.node_inputs).ravel(), blocks.ravel()])

    def _own(self, i: int) -> tuple[slice, slice]:
        """Return the nodes and the edges of a net."""
        return (
            slice(int(self.ends[i]), int(self.ends[i + 1])),
            slice(int(self.edge_ends[i]), int(self.edge_ends[i + 1])),
        )

    def _trees(self, ability: str) -> Iterator[tuple[int, JunctionTree, slice, slice]]:
        """Yield every net's number, junction tree, nodes and edges; refuse one that is too wide."""
        for i, search in enumerate(self.searches):
            if search.tree is None:
                found = width_found(len(self.nets[i].nodes), self.nets[i].edges)
                raise IncompatibleError(
                    f"Example {self.start + i} is wider than {search.width} (networkx finds "
                    f"{found}), and {ability!r} is answered by junction trees only: {WIDER}"
                )
            yield i, search.tree, *self._own(i)

    def _each(self, unary: Floats, pair: Floats, asked: Floats, asked_pair: Floats) -> Answers:
        outputs, excess = self.gold.copy(), np.zeros(self.n_examples)
        for i, search in enumerate(self.searches):
            own, edges = self._own(i)
            outputs[own], excess[i] = search.best(asked[own], asked_pair[edges])
        return self._compared(unary, pair, outputs, excess=excess)

    def _compared(
        self, unary: Floats, pair: Floats, outputs: Ints, none: Any = None, excess: Any = None
    ) -> Answers:
        """Return outputs with their loss and ``w . delta``, infinite where there is none."""
        loss, score = np.zeros(self.n_examples), np.zeros(self.n_examples)
        for i in range(self.n_examples):
            own, edges = self._own(i)
            gold, labels = self.gold[own], outputs[own]
            given = (unary[own], pair[edges], self.nets[i].edges)
            loss[i] = paid(self.cost[own], gold, labels).sum()
            score[i] = kernels.score(*given, gold) - kernels.score(*given, labels)
        if none is not None:
            score[none] = np.inf
        return Answers(outputs, loss, score, excess=excess)


def _ends(counts: list[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
