r"""Graphs encoded for a pass: the features of all nodes, and of all edges, in one matrix each.

With node features X, edge features V >= 0 and weights w = (u, v), v >= 0, a pass is ``s = X u``,
``c = V v``, a minimum cut for each graph, and

    loss = sum_j cost[gold_j] [y_j != gold_j],
    w . delta = s . (gold - y) + c . (cut(y) - cut(gold)).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints, base_matrix, check_weights
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.structures.base.oracles import Oracle, best_other, loss_augmented, worst
from structopt.structures.base.parts import Directions
from structopt.structures.base.shard import Answers, Shard
from structopt.structures.cut.inputs import LabelledGraph
from structopt.structures.cut.relaxation import CutRelaxation
from structopt.structures.cut.search import CutSearch

HARD = (
    "the labelling with the lowest score is a maximum cut, which is NP-hard unless the graph is "
    "bipartite (a grid with 4 neighbours is, one with diagonals is not)"
)


class CutShard(Shard):
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
    searches : list, optional
        Who finds labellings of each graph; by default :class:`CutSearch`.
    """

    def __init__(
        self, graphs: Sequence[LabelledGraph], gold: Ints, class_weight: Floats, start: int = 0,
        searches: Sequence[Any] | None = None,
    ) -> None:  # fmt: skip
        self.n_examples, self.start, self.gold = len(graphs), start, gold
        sizes = np.array([g.node_features.shape[0] for g in graphs])
        counts = np.array([len(g.edges) for g in graphs])
        self.nodes: Ints = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.arcs: Ints = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.node_features = _stacked([g.node_features for g in graphs])
        self.edge_features = _stacked([g.edge_features for g in graphs])
        self.node_owner = np.repeat(np.arange(self.n_examples), sizes)
        self.edge_owner = np.repeat(np.arange(self.n_examples), counts)
        local = np.concatenate([g.edges for g in graphs])
        self.edges: Ints = local + self.nodes[self.edge_owner][:, None]
        self.cost = np.asarray(class_weight, dtype=np.float64)[gold]
        self.base = _base(self.node_features, self.edge_features)
        self.searches = (
            [CutSearch(g.node_features.shape[0], g.edges) for g in graphs]
            if searches is None
            else list(searches)
        )

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every graph."""
        scores, costs = self._scores(weights)
        if oracle is loss_augmented:
            # loss = constant + (1 - 2 gold) cost . y
            return self._each(scores, costs, scores + (1 - 2 * self.gold) * self.cost, "best")
        if oracle is best_other:
            return self._each(scores, costs, scores, "best_other")
        if oracle is worst:
            self._check_bipartite()
            return self._each(scores, costs, scores, "worst")
        raise IncompatibleError(f"Cut does not know the oracle {oracle.name!r}.")

    def argmax(self, weights: Floats) -> Answers:
        """Return every graph's best labels, without the loss."""
        scores, costs = self._scores(weights)
        return self._each(scores, costs, scores, "best")

    def single(self, i: int) -> SingleGraph:
        """Return graph i as a shard of its own, over the same base."""
        return SingleGraph(self, i)

    def relaxation(self) -> CutRelaxation:
        """Return all labellings as one polytope."""
        return CutRelaxation(self)

    def cut(self, labels: Any) -> Any:
        """Return 1 for each edge whose ends differ."""
        return np.abs(labels[self.edges[:, 0]] - labels[self.edges[:, 1]])

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the graphs ``which``: nodes and edges in which they differ from gold."""
        wanted = np.zeros(self.n_examples, dtype=bool)
        wanted[which] = True
        node = self.gold - outputs
        arc = self.cut(outputs) - self.cut(self.gold)
        nodes = np.flatnonzero((node != 0) & wanted[self.node_owner])
        arcs = np.flatnonzero((arc != 0) & wanted[self.edge_owner])
        owner = np.concatenate([self.node_owner[nodes], self.edge_owner[arcs]])
        order = np.argsort(owner, kind="stable")
        counts = np.bincount(owner, minlength=self.n_examples)[which]
        offset = np.repeat([0, self.node_features.shape[1]], [len(nodes), len(arcs)])
        source = np.concatenate([nodes, len(self.gold) + arcs])
        return Directions(
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            source[order].astype(np.int64),
            offset[order].astype(np.int64),
            np.concatenate([node[nodes], arc[arcs]])[order].astype(np.float64),
        )

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        yield from (self.nodes, self.arcs, self.edges, self.cost)

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

    def _check_bipartite(self) -> None:
        for i, search in enumerate(self.searches):
            if search.sides is None:
                raise IncompatibleError(
                    f"Example {self.start + i} has a cycle of odd length: {HARD}."
                )

    def _each(self, scores: Floats, costs: Floats, augmented: Floats, question: str) -> Answers:
        """Ask a question graph by graph."""
        labels, excess = self.gold.copy(), np.zeros(self.n_examples)
        ends = zip(pairwise(self.nodes.tolist()), pairwise(self.arcs.tolist()), strict=True)
        for i, ((a, b), (c, d)) in enumerate(ends):
            given = (augmented[a:b], costs[c:d])
            if question == "best_other":
                given = (*given, self.gold[a:b])  # type: ignore[assignment]
            labels[a:b], excess[i] = getattr(self.searches[i], question)(*given)
        wrong = np.where(labels != self.gold, self.cost, 0.0)
        loss = self._summed(self.node_owner, wrong)
        score = self._summed(self.node_owner, scores * (self.gold - labels))
        score += self._summed(self.edge_owner, costs * (self.cut(labels) - self.cut(self.gold)))
        return Answers(labels, loss, score, excess=excess)

    def _summed(self, owner: Ints, values: Floats) -> Floats:
        return np.bincount(owner, values, minlength=self.n_examples).astype(np.float64)


class SingleGraph(CutShard):
    """One graph of a shard, over the same base and without copies."""

    def __init__(self, whole: CutShard, i: int) -> None:
        a, b = int(whole.nodes[i]), int(whole.nodes[i + 1])
        c, d = int(whole.arcs[i]), int(whole.arcs[i + 1])
        self.n_examples, self.start, self.gold = 1, whole.start + i, whole.gold[a:b]
        self.nodes, self.arcs = np.array([0, b - a]), np.array([0, d - c])
        self.node_features = whole.node_features[a:b]
        self.edge_features = whole.edge_features[c:d]
        self.node_owner, self.edge_owner = np.zeros(b - a, np.int64), np.zeros(d - c, np.int64)
        self.edges, self.cost = whole.edges[c:d] - a, whole.cost[a:b]
        self.base, self.searches = whole.base, [whole.searches[i]]
        self._first, self._arc = a, len(whole.gold) + c

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the graph (``which`` is [0]) over the base of the whole shard."""
        own, n = super().directions(outputs, which), len(self.gold)
        source = np.where(own.source < n, own.source + self._first, own.source - n + self._arc)
        return Directions(own.ptr, source, own.offset, own.coef)

    def single(self, i: int) -> SingleGraph:
        """Return itself."""
        return self


def _stacked(blocks: Sequence[Any]) -> Any:
    if any(sp.issparse(block) for block in blocks):
        return sp.vstack([sp.csr_array(block) for block in blocks], format="csr")
    return np.concatenate(blocks)


def _base(nodes: Any, edges: Any) -> Any:
    """Return the rows of both over the same number of columns."""
    width = max(nodes.shape[1], edges.shape[1])
    rows = []
    for block in (nodes, edges):
        csr = sp.csr_array(block)
        rows.append(sp.csr_array((csr.data, csr.indices, csr.indptr), (csr.shape[0], width)))
    return base_matrix(sp.vstack(rows, format="csr"))
