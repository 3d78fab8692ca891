r"""A label for every node of a tree, with weights on the pairs of labels along its edges.

    score(y) = sum_v W[y_v] . x_v + sum_{u -> v} E[y_u, y_v] . e_v,
    loss(gold, y) = sum_v class_weight[gold_v] * [y_v != gold_v]                (weighted Hamming),

where e_v are features of the edge from v's parent u; without any, e_v = 1 and E is a table (K, K).
Weights are laid out as W (K, d) label by label, then E (K, K, e) as [parent, child, feature].
Of two equally good answers of `argmax` the one wins that has the smaller label (in the order of
``labels_``) at the first node where they differ, the upper levels of the tree first.

>>> import numpy as np, structopt as so
>>> page = (np.eye(3), [-1, 0, 0])  # three nodes, the first is the parent of the others
>>> structure = so.Hierarchy(labels="ab").fitted([page], ["aab"])
>>> W, E = [1, 0, 0, 0, 0, 2], [0, 0, 0, 3]
>>> weights = np.array([*W, *E], dtype=float)
>>> structure.argmax(page, weights), structure.argmin(page, weights)
(['b', 'b', 'b'], ['b', 'a', 'a'])
>>> structure.k_best(page, weights, 2)
[['b', 'b', 'b'], ['b', 'a', 'b']]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Ints
from structopt.errors import InvalidInputError
from structopt.structures.base.labelled import LabelledStructure
from structopt.structures.base.packed import check_decoder
from structopt.structures.base.sketch import Row, parts_of
from structopt.structures.base.structure import check_lengths
from structopt.structures.hierarchy.inputs import Forest, as_tree, stack_trees
from structopt.structures.hierarchy.shard import HierarchyShard


class Hierarchy(LabelledStructure):
    r"""Labelled trees: X is a list of trees, Y a list of label sequences, one label per node.

    Parameters
    ----------
    labels : sequence, optional
        Every label that can occur, in the order wanted; by default those of the data, sorted.
    loss : Hamming, Confusion, TreeDistance, SpanCosts or your own, optional
        What a wrong label costs (:mod:`structopt.losses`); by default 1.
    allowed : mapping, optional
        Node types to the labels that nodes of the type may have. A type that is not named may have
        every label.
    decoder : {"compiled", "networkx"}
        Who decodes. "networkx" is the slow reference that the compiled kernels must agree with.

    Attributes
    ----------
    labels_ : LabelSet
    n_inputs_, n_edge_inputs_ : int
        Columns d of the nodes and e of the edges (0 where edges have no features).
    n_features_ : int
        K d + K^2 max(e, 1) weights.

    Notes
    -----
    A tree is a tuple (nodes, parents), (nodes, parents, edges) or (nodes, parents, edges, types):
    a matrix (n, d), dense or sparse; the parent of each node, -1 for a root (there may be several);
    a matrix (n, e) that describes the edge to each node's parent, or None; a type of each node. Or
    it is a networkx graph whose nodes have the attribute "features" and may have "type", and whose
    edges may have "features". Edge types are edge features, one column each.
    """

    releases_gil: ClassVar[bool] = True
    offers: ClassVar[frozenset[str]] = frozenset(
        {"argmax", "argmin", "second_best", "second_augmented", "k_best", "marginals"}
    )

    n_inputs_: int
    n_edge_inputs_: int

    def __init__(
        self,
        labels: Sequence[Any] | None = None,
        loss: Any = None,
        allowed: Mapping[Any, Sequence[Any]] | None = None,
        decoder: str = "compiled",
    ) -> None:
        self.labels = labels
        self.cost = loss
        self.allowed = allowed
        self.decoder = decoder

    # ------------------------------------------------------------------ fitting and encoding
    def fitted(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Return a copy that knows the labels, their weights and the dimension."""
        check_decoder(self.decoder)
        check_lengths(X, Y)
        fitted = self._with_labels(Y)
        found = fitted.labels_
        for kind, labels in (self.allowed or {}).items():
            if not len(labels) or not set(labels) <= set(found):
                raise InvalidInputError(
                    f"allowed[{kind!r}] is {list(labels)!r}: give at least one of the labels "
                    f"{list(found)!r}."
                )
        first = stack_trees([X[0]])
        fitted.n_inputs_ = int(first.stacked.matrix.shape[1])
        fitted.n_edge_inputs_ = 0 if as_tree(X[0]).edges is None else int(first.edges.shape[1])
        n_labels = len(found)
        fitted.n_features_ = n_labels * (fitted.n_inputs_ + n_labels * first.edges.shape[1])
        return fitted

    def pack(self, X: Sequence[Any], Y: Sequence[Any] | None, start: int = 0) -> HierarchyShard:
        """Return checked trees as a shard."""
        forest, allowed, gold = self._stack(X, Y, start, partial=True)
        costs = None if Y is None else self._costs(Y, gold, start)
        given = (self.class_weight_, start, self.decoder, costs)
        return self._begun(HierarchyShard(forest, allowed, gold, *given), gold)

    # ------------------------------------------------------------------ what it means
    def joint_features(self, x: Any, y: Any) -> Any:
        """Return the inputs summed by label and by pair of labels: a sparse row."""
        forest, _, labels = self._stack([x], [y])
        n_labels, n_inputs, n_edge = len(self.labels_), self.n_inputs_, forest.edges.shape[1]
        node, column, value = sp.find(sp.csr_array(forest.stacked.matrix))
        child = np.flatnonzero(forest.parent >= 0)
        edge, place, amount = sp.find(sp.csr_array(forest.edges)[forest.kind[child]])
        pairs = labels[forest.parent[child]] * n_labels + labels[child]
        places = np.concatenate(
            [
                labels[node] * n_inputs + column,
                n_labels * n_inputs + pairs[edge] * n_edge + place,
            ]
        )
        places, where = np.unique(places, return_inverse=True)
        summed = np.bincount(where, np.concatenate([value, amount]), len(places))
        return sp.csr_array((summed, places, [0, len(places)]), shape=(1, self.n_features_))

    def feature_names(self, inputs: Sequence[str] | None = None) -> list[tuple[str, str]]:
        """Return ``(feature, label)`` for each weight; inputs are x0, x1, ... unless named.

        The weight of an edge from a to b is ``("below a", "b")``, and ``("e0 below a", "b")`` for
        its feature 0.
        """
        columns = [f"x{j}" for j in range(self.n_inputs_)] if inputs is None else list(inputs)
        labels = [str(label) for label in self.labels_]
        edge = [f"e{j} " for j in range(self.n_edge_inputs_)] or [""]
        rows = [(c, k) for k in labels for c in columns]
        return rows + [(f"{e}below {j}", k) for j in labels for k in labels for e in edge]

    def sketch(self, x: Any, y: Any, shown: Any = None) -> Row:
        """Return labels with how deep in the tree their nodes stand."""
        labels = tuple(self._listed(y))
        depths: list[int] = []
        parents = [int(parent) for parent in as_tree(x).parents]
        for node in range(len(parents)):
            above, depth = parents[node], 0
            while above >= 0:
                above, depth = parents[above], depth + 1
            depths.append(depth)
        return Row(labels, parts_of(shown, len(labels)), tuple(depths))

    # ------------------------------------------------------------------ inside
    def _stack(
        self, X: Any, Y: Sequence[Any] | None, start: int = 0, partial: bool = False
    ) -> tuple[Forest, Any, Ints]:
        """Return checked trees, allowed labels and gold labels (zeros without Y)."""
        forest = stack_trees(X, self.n_inputs_, self.n_edge_inputs_, start=start)
        offsets = forest.stacked.offsets
        allowed = self._allowed(forest, start)
        gold = self._gold(Y, offsets, start, "nodes", partial)
        if allowed is not None and Y is not None:
            fits = (gold < 0) | allowed[np.arange(len(gold)), gold]
            for i, (a, b) in enumerate(pairwise(offsets.tolist())):
                if not fits[a:b].all():
                    v, types = int(np.argmin(fits[a:b])), forest.types[i] or []
                    raise InvalidInputError(
                        f"Node {v} of example {start + i} has the label "
                        f"{self.labels_[int(gold[a + v])]!r}, which is not allowed for its type "
                        f"{types[v]!r}.",
                        example=start + i,
                    )
        return forest, allowed, gold

    def _allowed(self, forest: Forest, start: int) -> Any:
        """Return which labels each node may have; None if all may have all."""
        if not self.allowed:
            return None
        masks = {None: np.ones(len(self.labels_), dtype=bool)}
        for kind, labels in self.allowed.items():
            masks[kind] = np.isin(np.arange(len(self.labels_)), self.labels_.encode(labels))
        rows = []
        for i, types in enumerate(forest.types):
            if types is None:
                raise InvalidInputError(
                    f"Example {start + i} gives no types of its nodes, and allowed labels depend "
                    "on them: give (nodes, parents, edges, types).",
                    example=start + i,
                )
            rows += [masks.get(kind, masks[None]) for kind in types]
        return np.array(rows)
