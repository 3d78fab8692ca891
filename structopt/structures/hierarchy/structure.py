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

import copy
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints
from structopt.errors import InvalidInputError
from structopt.structures.base.example_shard import ExampleShard
from structopt.structures.base.labels import LabelSet
from structopt.structures.base.labels import as_labels as _sequence
from structopt.structures.base.shard import Shard
from structopt.structures.base.structure import Structure, check_lengths
from structopt.structures.hierarchy import kernels as hierarchy_kernels
from structopt.structures.hierarchy.inputs import Forest, stack_trees
from structopt.structures.hierarchy.marginals_kernels import marginals
from structopt.structures.hierarchy.shard import HierarchyShard, TreeScores, k_best_labels

DECODERS = ("compiled", "networkx")


class Hierarchy(Structure):
    r"""Labelled trees: X is a list of trees, Y a list of label sequences, one label per node.

    Parameters
    ----------
    labels : sequence, optional
        Every label that can occur, in the order wanted; by default those of the data, sorted.
    class_weight : mapping, "balanced" or None
        Factor of the loss where a label is gold.
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

    labels_: LabelSet
    n_inputs_: int
    n_edge_inputs_: int
    class_weight_: Floats

    def __init__(
        self,
        labels: Sequence[Any] | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        allowed: Mapping[Any, Sequence[Any]] | None = None,
        decoder: str = "compiled",
    ) -> None:
        self.labels = labels
        self.class_weight = class_weight
        self.allowed = allowed
        self.decoder = decoder

    # ------------------------------------------------------------------ fitting and encoding
    def fitted(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Return a copy that knows the labels, their weights and the dimension."""
        if self.decoder not in DECODERS:
            raise InvalidInputError(f"decoder is {self.decoder!r}; it must be one of {DECODERS}.")
        check_lengths(X, Y)
        sequences = [_sequence(y, i) for i, y in enumerate(Y)]
        found = LabelSet.from_data(sequences) if self.labels is None else LabelSet(self.labels)
        gold = np.concatenate([found.encode(y, example=i) for i, y in enumerate(sequences)])
        fitted = copy.copy(self)
        fitted.labels_ = found
        fitted.class_weight_ = found.weights(self.class_weight, gold)
        for kind, labels in (self.allowed or {}).items():
            if not len(labels) or not set(labels) <= set(found):
                raise InvalidInputError(
                    f"allowed[{kind!r}] is {list(labels)!r}: give at least one of the labels "
                    f"{list(found)!r}."
                )
        first = stack_trees([X[0]])
        fitted.n_inputs_ = int(first.nodes.shape[1])
        fitted.n_edge_inputs_ = 0 if not _has_edges(X[0]) else int(first.edges.shape[1])
        n_labels = len(found)
        fitted.n_features_ = n_labels * (fitted.n_inputs_ + n_labels * first.edges.shape[1])
        return fitted

    def encode(self, X: Sequence[Any], Y: Sequence[Any], *, start: int = 0) -> Shard:
        """Encode trees with their gold labels; ``start`` numbers the first in messages."""
        check_lengths(X, Y)
        forest, allowed, gold = self._stack(X, Y, start)
        if self.decoder == "networkx":
            return ExampleShard(self, X, Y, start)
        return HierarchyShard(forest, allowed, gold, self.class_weight_)

    # ------------------------------------------------------------------ one example
    def joint_features(self, x: Any, y: Any) -> Any:
        """Return the inputs summed by label and by pair of labels: a sparse row."""
        forest, _, labels = self._stack([x], [y])
        n_labels, n_inputs, n_edge = len(self.labels_), self.n_inputs_, forest.edges.shape[1]
        node, column, value = sp.find(sp.csr_array(forest.nodes))
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

    def loss(self, y: Any, other: Any) -> float:
        """Return the summed class weights of the nodes that ``other`` gets wrong."""
        gold, predicted = self._pair(y, other)
        return float(self.class_weight_[gold] @ (gold != predicted))

    def argmax(self, x: Any, weights: Floats, *, gold: Any = None) -> list[Any]:
        """Return the best labels, loss-augmented if gold is given."""
        forest, allowed, labels = self._stack([x], [gold])
        scores = self._scores(forest, weights)
        if gold is not None:
            scores = scores.augmented(labels, self.class_weight_[labels])
        return self.labels_.decode(self._decode(forest, scores.masked(allowed)))

    def argmin(self, x: Any, weights: Floats) -> list[Any]:
        """Return the labels with the lowest score."""
        return self.argmax(x, -np.asarray(weights))

    def second_best(self, x: Any, weights: Floats, gold: Any) -> list[Any] | None:
        """Return the best labels other than gold; None if there are no others."""
        forest, allowed, labels = self._stack([x], [gold])
        scores = self._scores(forest, weights).masked(allowed)
        shape = (forest.kind, forest.parent, forest.order)
        codes, missing = self._decoder().best_other(*scores, *shape, forest.offsets, labels)
        return None if missing[0] else self.labels_.decode(codes)

    def k_best(self, x: Any, weights: Floats, k: int) -> list[list[Any]]:
        """Return the k best labellings, best first (fewer if there are fewer)."""
        if k < 1:
            raise InvalidInputError(f"k is {k}; ask for at least one output.")
        forest, allowed, _ = self._stack([x], [None])
        scores = self._scores(forest, weights).masked(allowed)
        ask = k_best_labels if self.decoder == "compiled" else self._decoder().k_best
        rows = ask(*scores, forest.kind, forest.parent, forest.order, k)
        return [self.labels_.decode(row) for row in rows]

    def part_count(self, y: Any) -> int:
        """Return the number of nodes."""
        return len(y)

    def part_errors(self, y: Any, other: Any) -> int:
        """Return the number of nodes at which ``other`` differs."""
        gold, predicted = self._pair(y, other)
        return int(np.count_nonzero(gold != predicted))

    # ------------------------------------------------------------------ many examples
    def predict(self, X: Sequence[Any], weights: Floats) -> list[list[Any]]:
        """Return the best labels of every tree, in one pass."""
        if len(X) == 0:
            return []
        forest, allowed, _ = self._stack(X, [None] * len(X))
        codes = self._decode(forest, self._scores(forest, weights).masked(allowed))
        labels = self.labels_.decode(codes)
        return [labels[a:b] for a, b in pairwise(forest.offsets.tolist())]

    def marginals(self, X: Sequence[Any], weights: Floats) -> list[Floats]:
        """Return the probability of each label at each node, by sum-product."""
        if len(X) == 0:
            return []
        forest, allowed, _ = self._stack(X, [None] * len(X))
        scores = self._scores(forest, weights).masked(allowed)
        shape = (forest.kind, forest.parent, forest.order)
        found = marginals(*scores, *shape, np.zeros(len(forest.kind)))[0]
        return [found[a:b] for a, b in pairwise(forest.offsets.tolist())]

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

    # ------------------------------------------------------------------ inside
    def _stack(self, X: Any, Y: Sequence[Any], start: int = 0) -> tuple[Forest, Any, Ints]:
        """Return checked trees, allowed labels and gold labels (zeros where y is None)."""
        forest = stack_trees(X, self.n_inputs_, self.n_edge_inputs_, start=start)
        allowed = self._allowed(forest, start)
        gold = np.zeros(forest.offsets[-1], dtype=np.int64)
        for i, y in enumerate(Y):
            if y is None:
                continue
            a, b = int(forest.offsets[i]), int(forest.offsets[i + 1])
            labels = _sequence(y, start + i)
            if len(labels) != b - a:
                raise InvalidInputError(
                    f"Example {start + i} has {b - a} nodes but {len(labels)} labels.",
                    example=start + i,
                )
            gold[a:b] = self.labels_.encode(labels, example=start + i)
            if allowed is not None and not np.all(allowed[np.arange(a, b), gold[a:b]]):
                v = int(np.argmin(allowed[np.arange(a, b), gold[a:b]]))
                types = forest.types[i] or []
                raise InvalidInputError(
                    f"Node {v} of example {start + i} has the label {labels[v]!r}, which is not "
                    f"allowed for its type {types[v]!r}.",
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

    def _pair(self, y: Any, other: Any) -> tuple[Ints, Ints]:
        gold, predicted = (self.labels_.encode(_sequence(labels)) for labels in (y, other))
        if len(gold) != len(predicted):
            raise InvalidInputError(
                f"Outputs of {len(gold)} and {len(predicted)} labels cannot be compared."
            )
        return gold, predicted

    def _scores(self, forest: Forest, weights: Any) -> TreeScores:
        return TreeScores.of(forest.nodes, forest.edges, weights, len(self.labels_))

    def _decode(self, forest: Forest, scores: TreeScores) -> Ints:
        shape = (forest.kind, forest.parent, forest.order)
        return np.asarray(self._decoder().max_product(*scores, *shape))

    def _decoder(self) -> Any:
        if self.decoder == "networkx":
            from structopt.structures.hierarchy import reference as hierarchy_reference

            return hierarchy_reference
        return hierarchy_kernels


def _has_edges(x: Any) -> bool:
    from structopt.structures.hierarchy.inputs import as_tree

    return as_tree(x).edges is not None
