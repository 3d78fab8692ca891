r"""Graphs encoded for a pass: the features of all nodes, and of all edges, in one matrix each.

With node features X, edge features V >= 0 and weights w = (u, v), v >= 0, a pass is ``s = X u``,
``c = V v``, a minimum cut for each graph, and

    loss = sum_j cost[gold_j] [y_j != gold_j],
    w . delta = s . (gold - y) + c . (cut(y) - cut(gold)).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints, base_matrix, check_weights, stack_rows
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.structures.base.label_costs import paid, table
from structopt.structures.base.labelled_shard import LabelledShard
from structopt.structures.base.oracles import Oracle, best_other, loss_augmented, worst
from structopt.structures.base.parts import Directions
from structopt.structures.base.shard import Answers
from structopt.structures.cut.inputs import LabelledGraph
from structopt.structures.cut.reference import ReferenceCut
from structopt.structures.cut.relaxation import CutRelaxation
from structopt.structures.cut.search import CutSearch

HARD = (
    "the labelling with the lowest score is a maximum cut, which is NP-hard unless the graph is "
    "bipartite (a grid with 4 neighbours is, one with diagonals is not)"
)


class CutShard(LabelledShard):
    """Stacked graphs with gold labels; outputs are stacked labels, 0 or 1.

    Parameters
    ----------
    graphs : list of LabelledGraph
    gold : array of int, shape (N,)
        Labels of all nodes.
    class_weight : array of shape (2,)
        Loss of a wrong node where 0 and where 1 is gold.
    start : int
        Number of the first example in messages.
    decoder : {"compiled", "networkx"}
    """

    along: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "offsets": ("node_features", "gold", "cost", "known"),
        "arcs": ("edge_features", "edges"),
    }
    each = ("searches",)

    def __init__(
        self, graphs: Sequence[LabelledGraph], gold: Ints, class_weight: Floats, start: int = 0,
        decoder: str = "compiled", costs: Floats | None = None,
    ) -> None:  # fmt: skip
        self.n_examples, self.start, self.gold = len(graphs), start, gold
        self.n_labels, self.known = 2, None
        sizes = [g.node_features.shape[0] for g in graphs]
        self.offsets: Ints = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        counts = [len(g.edges) for g in graphs]
        self.arcs: Ints = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.node_features = stack_rows([g.node_features for g in graphs])
        self.edge_features = stack_rows([g.edge_features for g in graphs])
        local = np.concatenate([g.edges for g in graphs])
        self.edges: Ints = local + self.offsets[self.edge_owner][:, None]
        weight = np.asarray(class_weight, dtype=np.float64)
        self.cost = weight[gold] if costs is None else costs
        self.base = _base(self.node_features, self.edge_features)
        self._first = (0, len(gold))  # the rows of base that hold the first node and edge
        search = ReferenceCut if decoder == "networkx" else CutSearch
        self.searches = [search(n, g.edges) for n, g in zip(sizes, graphs, strict=True)]

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every graph."""
        scores, costs = self._scores(weights)
        if oracle is loss_augmented:
            either = self._table()  # loss = constant + (cost of 1 - cost of 0) . y
            return self._each(scores, costs, scores + (either[:, 1] - either[:, 0]), "best")
        if oracle is best_other:
            return self._each(scores, costs, scores, "best_other")
        if oracle is worst:
            self._check_bipartite()
            return self._each(scores, costs, scores, "worst")
        raise self._unknown(oracle)

    def argmax(self, weights: Floats) -> Answers:
        """Return every graph's best labels, without the loss."""
        scores, costs = self._scores(weights)
        return self._each(scores, costs, scores, "best")

    def part(self, a: int, b: int) -> Self:
        """Return graphs a to b - 1 as a shard over the same base."""
        part = super().part(a, b)
        first, arc = int(self.offsets[a]), int(self.arcs[a])
        part.edges = part.edges - first  # nodes are numbered from the part's first
        part._first = (self._first[0] + first, self._first[1] + arc)
        return part

    def relaxation(self) -> CutRelaxation:
        """Return all labellings as one polytope."""
        owners = np.concatenate([self.node_owner, self.edge_owner])
        gold = np.concatenate([self.gold, self.cut(self.gold)]).astype(np.float64)
        features, ends = (self.node_features, self.edge_features), (self.offsets, self.arcs)
        return CutRelaxation(features, self.edges, ends, owners, gold, self._table())

    @cached_property
    def node_owner(self) -> Ints:
        """The graph each node belongs to."""
        return np.repeat(np.arange(self.n_examples), np.diff(self.offsets))

    @cached_property
    def edge_owner(self) -> Ints:
        """The graph each edge belongs to."""
        return np.repeat(np.arange(self.n_examples), np.diff(self.arcs))

    def cut(self, labels: Any) -> Any:
        """Return 1 for each edge whose ends differ."""
        return np.abs(labels[self.edges[:, 0]] - labels[self.edges[:, 1]])

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the graphs ``which``: nodes and edges in which they differ from gold."""
        node, arc = self.gold - outputs, self.cut(outputs) - self.cut(self.gold)
        nodes, arcs = np.flatnonzero(node), np.flatnonzero(arc)
        owner = np.concatenate([self.node_owner[nodes], self.edge_owner[arcs]])
        order = np.argsort(owner, kind="stable")
        counts = np.bincount(owner, minlength=self.n_examples)
        offset = np.repeat([0, self.node_features.shape[1]], [len(nodes), len(arcs)])
        source = np.concatenate([self._first[0] + nodes, self._first[1] + arcs])
        return Directions(
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            source[order].astype(np.int64),
            offset[order].astype(np.int64),
            np.concatenate([node[nodes], arc[arcs]])[order].astype(np.float64),
        ).take(which)

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        yield from (self.offsets, self.arcs, self.edges, self.cost)

    def _scores(self, weights: Floats) -> tuple[Floats, Floats]:
        n_node, n_edge = self.node_features.shape[1], self.edge_features.shape[1]
        vector = check_weights(weights, n_node + n_edge)
        if np.any(vector[n_node:] < 0):
            raise InvalidInputError(
                f"An edge weight is {vector[n_node:].min()}: they must be >= 0, or else decoding "
                "is a maximum cut."
            )
        scores = np.asarray(self.node_features @ vector[:n_node])
        return scores, np.asarray(self.edge_features @ vector[n_node:])

    def _within(self, weights: Floats, allowed: Any) -> Ints:
        scores, costs = self._scores(weights)
        # more than all that a node could gain by the other label
        most = self._summed(self.node_owner, np.abs(scores)) + 1.0
        most += self._summed(self.edge_owner, costs)
        forced = allowed[:, 1].astype(np.float64) - allowed[:, 0]
        held = scores + forced * most[self.node_owner]
        labels = np.asarray(self._each(scores, costs, held, "best").outputs)
        return np.where(forced == 0, labels, allowed[:, 1]).astype(np.int64)

    def _table(self) -> Floats:
        return table(self.cost, self.gold, 2)

    def _check_bipartite(self) -> None:
        for i, search in enumerate(self.searches):
            if search.sides is None:
                raise IncompatibleError(
                    f"Example {self.start + i} has a cycle of odd length: {HARD}."
                )

    def _each(self, scores: Floats, costs: Floats, augmented: Floats, question: str) -> Answers:
        """Ask a question graph by graph."""
        labels, excess = self.gold.copy(), np.zeros(self.n_examples)
        ends = zip(pairwise(self.offsets.tolist()), pairwise(self.arcs.tolist()), strict=True)
        for i, ((a, b), (c, d)) in enumerate(ends):
            given = (augmented[a:b], costs[c:d])
            if question == "best_other":
                given = (*given, self.gold[a:b])  # type: ignore[assignment]
            labels[a:b], excess[i] = getattr(self.searches[i], question)(*given)
        loss = self._summed(self.node_owner, paid(self.cost, self.gold, labels))
        score = self._summed(self.node_owner, scores * (self.gold - labels))
        score += self._summed(self.edge_owner, costs * (self.cut(labels) - self.cut(self.gold)))
        return Answers(labels, loss, score, excess=excess)

    def _summed(self, owner: Ints, values: Floats) -> Floats:
        return np.bincount(owner, values, minlength=self.n_examples).astype(np.float64)


def _base(nodes: Any, edges: Any) -> Any:
    """Return the rows of both over the same number of columns."""
    width = max(nodes.shape[1], edges.shape[1])
    rows = []
    for block in (nodes, edges):
        csr = sp.csr_array(block)
        rows.append(sp.csr_array((csr.data, csr.indices, csr.indptr), (csr.shape[0], width)))
    return base_matrix(sp.vstack(rows, format="csr"))
