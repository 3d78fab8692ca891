r"""A label for every node of a graph, with weights on pairs of neighbouring labels.

    score(y) = sum_s W[y_s] . x_s + sum_{st} T[y_s, y_t] . x_st,
    loss(gold, y) = sum_s class_weight[gold_s] * [y_s != gold_s].

x is a networkx graph of any shape. On graphs whose tree-width is at most `width` (by default 1:
forests) every answer is exact, by a junction tree. On others decoding is NP-hard; the relaxation
over the local polytope gives a labelling and a bound, which certificates count in full: they stay
valid, and their gap says what the relaxation left open.

>>> import networkx as nx, numpy as np, structopt as so
>>> x = nx.cycle_graph(4)
>>> nx.set_node_attributes(x, {0: [1.0], 1: [0.2], 2: [-0.1], 3: [0.1]}, "x")
>>> structure = so.MarkovNet().fitted([x], [{0: "sky", 1: "sky", 2: "sea", 3: "sea"}])
>>> structure.feature_names()
[('x0', 'sea'), ('x0', 'sky'), ('sea', 'sea'), ('sea', 'sky'), ('sky', 'sky')]
>>> structure.argmax(x, np.array([0.0, 1.0, 0.5, 0.0, 0.5]))        # neighbours like to agree
{0: 'sky', 1: 'sky', 2: 'sky', 3: 'sky'}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Ints
from structopt.errors import InvalidInputError
from structopt.parameters import Count
from structopt.structures.base.costed import in_order, plain
from structopt.structures.base.labelled import LabelledStructure
from structopt.structures.base.sketch import Sketch, graph_sketch
from structopt.structures.base.structure import check_lengths
from structopt.structures.markov_net.inputs import (
    Net,
    check_graph,
    edge_inputs,
    is_forest,
    labels_of,
    node_inputs,
    read_net,
)
from structopt.structures.markov_net.junction_tree import JunctionTree
from structopt.structures.markov_net.shard import WIDER, MarkovNetShard


class MarkovNet(LabelledStructure):
    r"""Labelled graphs: X is a list of networkx graphs, Y a list of mappings from node to label.

    Parameters
    ----------
    labels : sequence, optional
        Every label that can occur, in the order wanted; by default those of the data, sorted.
    loss : Hamming, Confusion, TreeDistance, SpanCosts or your own, optional
        What a wrong label costs (:mod:`structopt.losses`); by default 1.
    node, edge : str
        The attributes that hold the inputs of nodes and edges: vectors. Edges of a graph without
        the attribute have the input [1.0].
    branch : bool
        Whether to answer exactly where the relaxation is fractional, by branch and bound (HiGHS).
        Its time can grow without limit on large graphs.
    width : int
        The tree-width, as found by networkx' heuristics, up to which graphs are answered by
        junction trees: exactly, and in every question but slack rescaling. Their tables have
        K^(width + 1) entries.

    Attributes
    ----------
    labels_ : LabelSet
    wide_ : bool
        Whether a training graph is wider, so that there are `argmax` and `argmin` only.
    n_features_ : int
        K weights for each input of a node; for each input of an edge K (K + 1) / 2 in undirected
        graphs (a pair of labels has no order), K^2 in directed ones.

    Notes
    -----
    Outputs may also be given as sequences, in the order of ``x.nodes``.
    """

    offers: ClassVar[frozenset[str]] = frozenset(
        {"argmax", "argmin", "second_best", "k_best", "marginals"}
    )

    n_inputs_: int
    n_edge_inputs_: int
    directed_: bool
    wide_: bool = True

    def __init__(
        self,
        labels: Sequence[Any] | None = None,
        loss: Any = None,
        *,
        node: str = "x",
        edge: str = "x",
        branch: bool = False,
        width: Count = 1,
    ) -> None:
        self.labels = labels
        self.cost = loss
        self.node = node
        self.edge = edge
        self.branch = branch
        self.width = width

    # ------------------------------------------------------------------ fitting and encoding
    def fitted(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Return a copy that knows the labels, their weights and the dimensions."""
        check_lengths(X, Y)
        pairs = enumerate(zip(X, Y, strict=True))
        fitted = self._with_labels([labels_of(x, plain(y), i) for i, (x, y) in pairs])
        fitted.directed_ = bool(X[0].is_directed())
        first = next((x for x in X if x.number_of_edges()), X[0])
        fitted.n_inputs_ = node_inputs(X[0], X[0].nodes, self.node, 0).shape[1]
        fitted.n_edge_inputs_ = edge_inputs(first, self.edge, 1, 0).shape[1]
        n_pairs = int(fitted._pairs().max()) + 1
        fitted.n_features_ = (
            len(fitted.labels_) * fitted.n_inputs_ + n_pairs * fitted.n_edge_inputs_
        )
        fitted.wide_ = not all(is_forest(x) or fitted._within(x, i) for i, x in enumerate(X))
        return fitted

    def pack(self, X: Sequence[Any], Y: Sequence[Any] | None, start: int = 0) -> MarkovNetShard:
        """Return checked graphs as a shard."""
        nets = [self._net(x, i) for i, x in enumerate(X, start)]
        if Y is None:
            golds, costs = [np.zeros(len(net.nodes), dtype=np.int64) for net in nets], None
        else:
            pairs = enumerate(zip(X, Y, strict=True), start)
            given = [in_order(y, labels_of(x, plain(y), i)) for i, (x, y) in pairs]
            codes = [self._codes(y, i) for i, y in enumerate(given, start)]
            sizes = [len(c) for c in codes]
            order = [net.order() + first for net, first in zip(nets, _starts(sizes), strict=True)]
            stacked = np.concatenate(codes)
            golds = [stacked[own] for own in order]
            costs = self._costs(given, stacked, start)[np.concatenate(order)]
        options = (self.class_weight_, self._pairs(), bool(self.branch), start, costs, self.width)
        return MarkovNetShard(nets, golds, *options)

    def abilities(self) -> frozenset[str]:
        """Return the questions it can answer: all offered where no training graph is too wide."""
        mine = super().abilities()
        return mine & {"argmax", "argmin"} if self.wide_ else mine

    def why_not(self, ability: str) -> str:
        """Return why an ability is missing."""
        if self.wide_ and ability in self.offers - {"argmax", "argmin"}:
            return f"Some training graph is wider than {self.width}: {WIDER}"
        return super().why_not(ability)

    def held(self, X: Any, given: Any, shard: Any) -> Any:
        """Return which label each node may have, in the order of the nets."""
        table = super().held(X, given, shard)
        order = [net.order() + a for net, a in zip(shard.nets, shard.offsets, strict=False)]
        return table[np.concatenate(order)]

    def unpack(self, shard: MarkovNetShard, outputs: Any) -> list[Any]:
        """Return mappings from node to label, in the order of the graphs' nodes."""
        labels, found = self.labels_.decode(outputs), []
        for net, a, b in zip(shard.nets, shard.ends[:-1], shard.ends[1:], strict=True):
            named = dict(zip(net.nodes, labels[a:b], strict=True))
            found.append({node: named[node] for node in net.given})
        return found

    # ------------------------------------------------------------------ what it means
    def joint_features(self, x: Any, y: Any) -> Any:
        """Return inputs summed by label, and by pair of labels: a sparse row."""
        net, pairs = self._net(x), self._pairs()
        labels = self._ordered(x, y, net)
        nodes = np.zeros((len(self.labels_), self.n_inputs_))
        edges = np.zeros((int(pairs.max()) + 1, self.n_edge_inputs_))
        np.add.at(nodes, labels, net.node_inputs)
        ends = labels[net.edges]
        np.add.at(edges, pairs[ends[:, 0], ends[:, 1]], net.edge_inputs)
        return sp.csr_array(np.concatenate([nodes.ravel(), edges.ravel()])[None, :])

    def note(self) -> str:
        """Return that graphs are relaxed, if they are."""
        if self.branch or not self.wide_:
            return ""
        graphs = "graphs with cycles" if self.width == 1 else f"graphs wider than {self.width}"
        return f"{graphs} are relaxed; the primal value counts what that leaves open"

    def feature_names(self) -> list[tuple[str, str]]:
        """Return ``(input, label)`` for nodes, then ``(label, label)`` for edges.

        Where edges have several inputs, the first entry is ``"e1: label"`` and so on.
        """
        names = [(f"x{j}", str(k)) for k in self.labels_ for j in range(self.n_inputs_)]
        pairs, prefix = self._pairs(), self.n_edge_inputs_ > 1
        for code in range(int(pairs.max()) + 1):
            a, b = (str(self.labels_[int(k)]) for k in np.argwhere(pairs == code)[0])
            names += [(f"e{j}: {a}" if prefix else a, b) for j in range(self.n_edge_inputs_)]
        return names

    def sketch(self, x: Any, y: Any, shown: Any = None) -> Sketch:
        """Return a picture of cells where nodes stand on a grid, else a label for each node."""
        names = list(x.nodes)
        return graph_sketch(labels_of(x, plain(y), 0), names, np.shape(shown)[:2], shown)

    # ------------------------------------------------------------------ inside
    def _part_names(self, x: Any, n: int) -> Sequence[Any]:
        return list(x.nodes)

    def _pairs(self) -> Ints:
        """Return which block of weights each pair of labels has."""
        n_labels = len(self.labels_)
        if self.directed_:
            return np.arange(n_labels**2).reshape(n_labels, n_labels)
        table = np.zeros((n_labels, n_labels), dtype=np.int64)
        upper = np.triu_indices(n_labels)
        table[upper] = np.arange(len(upper[0]))
        return np.maximum(table, table.T)

    def _net(self, x: Any, example: int = 0) -> Net:
        """Return a checked graph as arrays."""
        if check_graph(x, example).is_directed() != self.directed_:
            first = "directed" if self.directed_ else "undirected"
            raise InvalidInputError(
                f"The first graph is {first}, that of example {example} is not.", example=example
            )
        given = (self.node, self.edge, self.n_inputs_, self.n_edge_inputs_)
        return read_net(x, *given, example)

    def _within(self, x: Any, example: int) -> bool:
        """Return whether bags of a graph are found that are small enough."""
        net = self._net(x, example)  # in its order of nodes, on which heuristics depend
        given = (len(net.nodes), net.edges, len(self.labels_), self.width, example)
        return JunctionTree.of(*given) is not None

    def _ordered(self, x: Any, y: Any, net: Net, example: int = 0) -> Ints:
        """Return the integers of y's labels in the net's order of nodes."""
        named = dict(zip(x.nodes, labels_of(x, plain(y), example), strict=True))
        return self.labels_.encode([named[node] for node in net.nodes], example=example)

    def _aligned(self, y: Any, other: Any) -> tuple[list[Any], list[Any]]:
        gold = plain(y)
        if isinstance(gold, Mapping) and isinstance(other, Mapping) and len(gold) == len(other):
            other = [other[node] for node in gold]
        return super()._aligned(gold, other)

    def _listed(self, y: Any, example: int | None = None) -> list[Any]:
        labels = plain(y)
        return super()._listed(labels.values() if isinstance(labels, Mapping) else labels, example)


def _starts(sizes: list[int]) -> Any:
    return np.cumsum([0, *sizes[:-1]])
