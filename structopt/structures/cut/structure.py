r"""A label 0 or 1 for every node of a graph whose edges reward agreement.

    score(y) = sum_j y_j (u . x_j) - sum over edges e = (i, j) of [y_i != y_j] (v . x_e),   v >= 0,
    loss(gold, y) = sum_j class_weight[gold_j] [y_j != gold_j]                (weighted Hamming).

This is the binary associative Markov network: with edge features and edge weights >= 0 the best
labelling is a minimum cut. Weights are u (one a node feature), then v (one an edge feature).

>>> import numpy as np, structopt as so
>>> x = ([(0, 1), (1, 2)], np.array([[2.0], [-0.5], [1.0]]))  # a path; every edge alike
>>> structure = so.GraphCut().fitted([x], [[1, 1, 1]])
>>> structure.argmax(x, np.array([1.0, 0.0])), structure.argmax(x, np.array([1.0, 1.0]))
([1, 0, 1], [1, 1, 1])
>>> structure.joint_features(x, [1, 0, 1]).toarray()
array([[ 3., -2.]])
>>> structure.nonnegative_weights()
array([1])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Ints
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.structures.base.costed import in_order, plain
from structopt.structures.base.labelled import LabelledStructure
from structopt.structures.base.packed import check_decoder
from structopt.structures.base.sketch import Sketch, graph_sketch
from structopt.structures.base.structure import check_lengths
from structopt.structures.cut.inputs import LabelledGraph, labels_of, read_graph
from structopt.structures.cut.search import two_sides
from structopt.structures.cut.shard import HARD, CutShard


class GraphCut(LabelledStructure):
    r"""Binary associative Markov networks; the output of an example is a list of labels.

    An input x is ``(edges, node_features)`` or ``(edges, node_features, edge_features)``, where
    edges is an array (E, 2) of node numbers or a networkx graph (whose nodes, in its order, have
    the rows of node_features), or a networkx graph alone with the attribute ``features`` at its
    nodes and perhaps its edges. Without edge features every edge has the single feature 1. An
    output y is a sequence (or an array of any shape) with a label for each node, or a mapping.

    Parameters
    ----------
    labels : sequence of two
        What label 0 and label 1 are called.
    loss : Hamming, Confusion, TreeDistance, SpanCosts or your own, optional
        What a wrong label costs (:mod:`structopt.losses`); by default 1.
    decoder : {"compiled", "networkx"}
        Who finds minimum cuts. "networkx" is the slow reference.

    Attributes
    ----------
    labels_ : LabelSet
    n_node_features_, n_edge_features_, n_features_ : int
        Weights of nodes, of edges, and all.
    bipartite_ : bool
        Whether every training graph is bipartite. If so there is `argmin` (which StructRMM needs);
        otherwise the worst labelling is a maximum cut, and is refused.

    Notes
    -----
    Taskar, Lacoste-Julien and Jordan (2006), section 2.1; Taskar, Chatalbashev and Koller (2004).
    """

    offers: ClassVar[frozenset[str]] = frozenset({"argmax", "argmin", "second_best"})

    n_node_features_: int
    n_edge_features_: int
    bipartite_: bool

    def __init__(
        self,
        labels: Sequence[Any] = (0, 1),
        loss: Any = None,
        decoder: str = "compiled",
    ) -> None:
        self.labels = labels
        self.cost = loss
        self.decoder = decoder

    # ------------------------------------------------------------------ fitting and encoding
    def fitted(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Return a copy that knows the dimensions, and whether all graphs are bipartite."""
        check_lengths(X, Y)
        check_decoder(self.decoder)
        graphs = [read_graph(x, None, None, i) for i, x in enumerate(X)]
        given = enumerate(zip(graphs, Y, strict=True))
        fitted = self._with_labels([labels_of(g, plain(y), i) for i, (g, y) in given])
        if len(fitted.labels_) != 2:
            raise InvalidInputError(f"labels is {self.labels!r}: GraphCut needs exactly two.")
        fitted.n_node_features_ = int(graphs[0].node_features.shape[1])
        with_edges = next((g for g in graphs if len(g.edges)), graphs[0])
        fitted.n_edge_features_ = int(with_edges.edge_features.shape[1])
        fitted.n_features_ = fitted.n_node_features_ + fitted.n_edge_features_
        fitted.bipartite_ = all(
            two_sides(g.node_features.shape[0], g.edges) is not None for g in graphs
        )
        return fitted

    def pack(self, X: Sequence[Any], Y: Sequence[Any] | None, start: int = 0) -> CutShard:
        """Return checked graphs as a shard."""
        graphs = [self._graph(x, i) for i, x in enumerate(X, start)]
        if Y is None:
            none = np.zeros(sum(g.node_features.shape[0] for g in graphs), dtype=np.int64)
            return CutShard(graphs, none, self.class_weight_, start, self.decoder)
        pairs = enumerate(zip(graphs, Y, strict=True), start)
        given = [in_order(y, labels_of(g, plain(y), i)) for i, (g, y) in pairs]
        gold = np.concatenate([self._codes(y, i, partial=True) for i, y in enumerate(given, start)])
        costs = self._costs(given, gold, start)
        shard = CutShard(graphs, gold, self.class_weight_, start, self.decoder, costs)
        return self._begun(shard, gold)

    def abilities(self) -> frozenset[str]:
        """Return the questions it can answer: `argmin` only where all graphs are bipartite."""
        mine = super().abilities()
        return mine if getattr(self, "bipartite_", False) else mine - {"argmin"}

    def why_not(self, ability: str) -> str:
        """Return why an ability is missing."""
        return f"With these graphs {HARD}." if ability == "argmin" else super().why_not(ability)

    def nonnegative_weights(self) -> Ints:
        """Return the edge weights: with one below 0 decoding would be a maximum cut."""
        return np.arange(self.n_node_features_, self.n_features_)

    # ------------------------------------------------------------------ what it means
    def joint_features(self, x: Any, y: Any) -> Any:
        """Return the features of nodes with label 1, minus those of cut edges: a sparse row."""
        graph = self._graph(x)
        labels = self.labels_.encode(labels_of(graph, plain(y)))
        cut = labels[graph.edges[:, 0]] != labels[graph.edges[:, 1]]
        nodes = np.asarray(graph.node_features[labels == 1].sum(axis=0)).ravel()
        edges = np.asarray(graph.edge_features[cut].sum(axis=0)).ravel()
        return sp.csr_array(np.concatenate([nodes, -edges]).reshape(1, -1))

    def feature_names(self) -> list[tuple[str, str]]:
        """Return ``("x0", label 1), ...`` for node weights, ``("e0", "agree"), ...`` for edges."""
        one = str(self.labels_[1])
        rows = [(f"x{j}", one) for j in range(self.n_node_features_)]
        return rows + [(f"e{j}", "agree") for j in range(self.n_edge_features_)]

    def sketch(self, x: Any, y: Any, shown: Any = None) -> Sketch:
        """Return a picture of cells where nodes stand on a grid, else a label for each node."""
        graph = self._graph(x)
        given = plain(y)
        labels = labels_of(graph, given)
        grid = given if isinstance(given, np.ndarray) and given.ndim == 2 else shown
        return graph_sketch(labels, graph.names, np.shape(grid)[:2], shown)

    # ------------------------------------------------------------------ inside
    def _part_names(self, x: Any, n: int) -> Sequence[Any]:
        return self._graph(x).names or range(n)

    def _listed(self, y: Any, example: int | None = None) -> list[Any]:
        y = plain(y)
        if isinstance(y, Mapping):
            raise IncompatibleError("Outputs given as mappings are compared only with their graph.")
        return super()._listed(np.ravel(y) if isinstance(y, np.ndarray) else y, example)

    def _graph(self, x: Any, example: int | None = None) -> LabelledGraph:
        return read_graph(x, self.n_node_features_, self.n_edge_features_, example)
