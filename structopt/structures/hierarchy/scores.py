"""What the decoders of trees read, and what they know of the trees."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np

from structopt.arrays import Floats, Ints, check_weights
from structopt.structures.base.input_rows import InputRows
from structopt.structures.base.label_costs import augmented


class TreeScores(NamedTuple):
    """Score of each label at each node, and of each pair [child, parent] for each kind of edge."""

    unary: Floats
    pair: Floats

    @classmethod
    def of(cls, nodes: InputRows, edges: Any, weights: Floats, n_labels: int) -> TreeScores:
        """Score stacked nodes and kinds of edges; weights of a few nodes need no check."""
        split = n_labels * nodes.n_inputs
        if not nodes.few:
            weights = check_weights(weights, split + n_labels * n_labels * edges.shape[1])
        table = np.asarray(edges @ weights[split:].reshape(n_labels * n_labels, -1).T)
        shaped = table.reshape(-1, n_labels, n_labels)
        pair = np.ascontiguousarray(shaped.transpose(0, 2, 1))
        return cls(nodes.scores(weights[:split], n_labels), pair)

    def negated(self) -> TreeScores:
        """Return the scores of the opposite question."""
        return TreeScores(-self.unary, -self.pair)

    def masked(self, allowed: Any) -> TreeScores:
        """Return scores under which labels that are not allowed never win."""
        if allowed is None:
            return self
        return TreeScores(np.where(allowed, self.unary, -np.inf), self.pair)

    def augmented(self, gold: Ints, cost: Floats) -> TreeScores:
        """Return scores with what each label costs."""
        return TreeScores(augmented(self.unary, gold, cost), self.pair)


class Trees(Protocol):
    """Stacked trees with gold labels, as a shard holds them."""

    nodes: InputRows
    edges: Any
    offsets: Ints
    parent: Ints
    order: Ints
    kind: Ints
    allowed: Any
    gold: Ints
    cost: Floats

    def part_scores(self, weights: Floats) -> TreeScores:
        """Return the score of each label at each node, and of each pair of labels."""
