r"""Label sequences as paths over pairs of labels.

The nodes of a sequence are pairs of neighbouring labels. A part is the first pair, or three labels
in a row, of which the last is new; in a sequence of one position, its label. Parts that no sequence
of labels has are left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.structures.base.flows import FlowRelaxation, useful
from structopt.structures.base.label_costs import table
from structopt.structures.chain.marginals import sum_features
from structopt.structures.second_order.scores import third


class SecondOrderRelaxation(FlowRelaxation):
    """The label sequences of a shard as flows.

    Parameters
    ----------
    shard : SecondOrderShard

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = [np.eye(3)], ["aba"]
    >>> relaxation = so.SecondOrderChain().fitted(X, Y).encode(X, Y).relaxation()
    >>> relaxation.gold  # pairs aa, ab, ba, bb; then triples aaa, aab, aba, ...
    array([0., 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 0.])
    >>> relaxation.project(3.0 * relaxation.gold, error=1e-6).point.round(6)[:7]
    array([0., 1., 0., 0., 0., 0., 1.])
    """

    def __init__(self, shard: Any) -> None:
        self._shard, offsets, n = shard, shard.offsets, shard.n_labels
        lengths = np.diff(offsets)
        node_ptr = np.concatenate([[0], np.cumsum(2 + np.maximum(lengths - 2, 0) * n * n)])
        sequence = np.repeat(np.arange(len(lengths)), lengths)
        place = np.arange(len(sequence)) - offsets[sequence]
        # the position of the last label of each part, and its labels, -1 where there is none
        parts = []
        firsts = offsets[:-1]
        for at, size in (
            (firsts[lengths == 1], 1),
            (firsts[lengths > 1] + 1, 2),
            (third(offsets), 3),
        ):
            which, *labels = np.indices((len(at), *[n] * size)).reshape(size + 1, -1)
            parts.append([at[which], *[np.full(len(which), -1)] * (3 - size), *labels])
        t, i, j, k = (np.concatenate(rows) for rows in zip(*parts, strict=True))
        own = sequence[t]
        before = node_ptr[own] + 1 + (place[t] - 2) * n * n  # the nodes of the pair before
        ends = place[t] == lengths[own] - 1
        tail = np.where(i < 0, node_ptr[own], before + i * n + j)
        head = np.where(ends, node_ptr[own + 1] - 1, before + n * n + j * n + k)
        free = np.ones(len(t), dtype=bool)
        if shard.allowed is not None:
            first = np.where(j < 0, k, j)
            free = (i >= 0) | shard.allowed[-1, first]
            free &= (j < 0) | shard.allowed[j, k]
            free &= ~ends | shard.allowed[k, -1]
        free[free] = useful(tail[free], head[free], node_ptr)
        super().__init__(tail[free], head[free], node_ptr)
        self._at, self._ends = (t[free], i[free], j[free], k[free]), ends[free]
        t, i, j, k = self._at
        gold = shard.gold
        self.gold = 1.0 * (
            (gold[t] == k) & ((j < 0) | (gold[t - 1] == j)) & ((i < 0) | (gold[t - 2] == i))
        )
        self.loss = self._at_labels(table(shard.cost, gold, n))
        self.loss_constant = np.zeros(shard.n_examples)

    def scores(self, weights: Floats) -> Floats:
        """Return the score of every part."""
        given = self._shard.part_scores(weights)
        scores, (_, i, j, k) = given.chain.finite(), self._at
        value = self._at_labels(scores.unary)
        value += np.where(j >= 0, scores.transition[j, k], 0.0)
        value += np.where(i >= 0, given.triple[i, j, k], 0.0)
        value += np.where(i < 0, scores.start[np.where(j < 0, k, j)], 0.0)
        value += np.where(self._ends, scores.end[k], 0.0)
        return np.asarray(value)

    def features(self, z: Floats) -> Floats:
        """Return the features of flows, summed over all sequences."""
        t, i, j, k = self._at
        n, pair, triple = self._shard.n_labels, j >= 0, i >= 0
        node = np.zeros((len(self._shard.gold), n))
        np.add.at(node, (t, k), z)
        early = pair & ~triple
        np.add.at(node, (t[early] - 1, j[early]), z[early])
        pairs, triples = np.zeros((n, n)), np.zeros((n, n, n))
        np.add.at(pairs, (j[pair], k[pair]), z[pair])
        np.add.at(triples, (i[triple], j[triple], k[triple]), z[triple])
        return np.append(sum_features(self._shard, node, pairs), triples)

    def _at_labels(self, values: Floats) -> Floats:
        """Return what a table (position, label) gives the labels that each part adds."""
        t, i, j, k = self._at
        early = (i < 0) & (j >= 0)
        return np.asarray(values[t, k] + np.where(early, values[t - 1, j], 0.0))
