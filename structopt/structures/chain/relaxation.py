r"""Label sequences as their marginal polytope.

    Z = {(n, e) >= 0 : sum_k n_1(k) = 1,  sum_k e_t(j, k) = n_t(j),  sum_j e_t(j, k) = n_{t+1}(k)}

Its corners are the label sequences: a chain has no cycle that local consistency could miss. Parts
are all node marginals, position by position, and then all edge marginals.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints
from structopt.structures.base.label_costs import table
from structopt.structures.base.relaxation import Polytope, Projected, Relaxation
from structopt.structures.chain import projection_kernels as kernels
from structopt.structures.chain.marginals import inner, sum_features
from structopt.structures.chain.scores import Sequences
from structopt.structures.chain.transitions import ways_ahead

MAX_SWEEPS = 20_000
"""Dual steps of one sequence; a projection that needs more says how far off it may be."""


class ChainRelaxation(Relaxation):
    """The marginal polytopes of stacked sequences.

    Parameters
    ----------
    shard : Sequences

    Examples
    --------
    >>> import numpy as np
    >>> import structopt as so
    >>> shard = so.Chain().fitted([np.eye(2)], ["ab"]).encode([np.eye(2)], ["ab"])
    >>> relaxation = ChainRelaxation(shard)
    >>> relaxation.gold  # a at the first position, b at the second, then the transition a-b
    array([1., 0., 0., 1., 0., 1., 0., 0.])
    >>> relaxation.project(3.0 * relaxation.gold, error=1e-6).point.round(6)
    array([1., 0., 0., 1., 0., 1., 0., 0.])
    """

    def __init__(self, shard: Sequences) -> None:
        self._shard, k = shard, shard.n_labels
        count, self._inner = len(shard.gold), inner(shard.offsets)
        self._nodes = count * k
        example = np.repeat(np.arange(shard.n_examples), np.diff(shard.offsets))
        self.owner = np.concatenate([np.repeat(example, k), np.repeat(example[self._inner], k * k)])
        node, edge = np.zeros((count, k)), np.zeros((len(self._inner), k, k))
        node[np.arange(count), shard.gold] = 1.0
        edge[np.arange(len(edge)), shard.gold[self._inner], shard.gold[self._inner + 1]] = 1.0
        self.gold = np.concatenate([node.ravel(), edge.ravel()])
        wrong = table(shard.cost, shard.gold, k)
        self.loss = np.concatenate([wrong.ravel(), np.zeros(edge.size)])
        self.loss_constant = np.zeros(shard.n_examples)
        self._ahead = None
        if shard.allowed is not None:
            self._ahead = ways_ahead(shard.allowed, int(np.diff(shard.offsets).max()))

    def scores(self, weights: Floats) -> Floats:
        """Return the score of every label at every position, and of every transition."""
        shard = self._shard
        scores = shard.part_scores(weights).finite()  # what is forbidden is 0 in the polytope
        node = scores.unary.copy()
        node[shard.offsets[:-1]] += scores.start
        node[shard.offsets[1:] - 1] += scores.end
        edge = np.broadcast_to(scores.transition, (len(self._inner), *scores.transition.shape))
        return np.concatenate([node.ravel(), edge.ravel()])

    def features(self, z: Floats) -> Floats:
        """Return the features of marginals, summed over all sequences."""
        node, edge = self._split(z)
        return sum_features(self._shard, node, edge.sum(axis=0))

    def project(self, z: Floats, *, error: float, state: Any = None) -> Projected:
        """Project by accelerated dual ascent on every sequence; the state is its multipliers."""
        node, edge = self._split(z)
        if state is None:
            state = (np.zeros((len(edge), self._shard.n_labels)),) * 2
        left, right = state[0].copy(), state[1].copy()
        wanted = 0.5 * error * error / self._shard.n_examples
        node, edge, gap = kernels.project(
            node, edge, self._shard.offsets, left, right, wanted, MAX_SWEEPS,
            self._shard.allowed, self._ahead,
        )  # fmt: skip
        point = np.concatenate([node.ravel(), edge.ravel()])
        return Projected(point, float(np.sqrt(2.0 * gap)), (left, right))

    def polytope(self) -> Polytope:
        """Return local consistency, and a sum of 1 at every first position."""
        shard, k = self._shard, self._shard.n_labels
        count, edges, n = len(shard.gold), len(self._inner), shard.n_examples
        first = sp.csr_array((np.ones(n), (np.arange(n), shard.offsets[:-1])), shape=(n, count))
        total = sp.kron(first, np.ones((1, k)))
        here = sp.csr_array((np.ones(edges), (np.arange(edges), self._inner)), (edges, count))
        then = sp.csr_array((np.ones(edges), (np.arange(edges), self._inner + 1)), (edges, count))
        one, eye = np.ones((1, k)), sp.eye_array(k)
        each = sp.eye_array(edges)
        A = (
            sp.block_array(
                [
                    [total, None],
                    [-sp.kron(here, eye), sp.kron(each, sp.kron(eye, one))],
                    [-sp.kron(then, eye), sp.kron(each, sp.kron(one, eye))],
                ],
                format="csr",
            )
            if edges
            else sp.csr_array(total)
        )
        b = np.concatenate([np.ones(n), np.zeros(2 * edges * k)])
        forbidden = self._forbidden()
        if len(forbidden):
            rows = np.arange(len(forbidden))
            zero = sp.csr_array((np.ones(len(rows)), (rows, forbidden)), (len(rows), A.shape[1]))
            A, b = sp.vstack([A, zero], format="csr"), np.concatenate([b, np.zeros(len(rows))])
        return Polytope(A, b, np.ones(len(b), dtype=bool))

    def _forbidden(self) -> Ints:
        """Return the parts that must be 0."""
        shard, k = self._shard, self._shard.n_labels
        if shard.allowed is None:
            return np.zeros(0, dtype=np.int64)
        node = np.zeros((len(shard.gold), k), dtype=bool)
        node[shard.offsets[:-1]] |= ~shard.allowed[-1, :-1]
        node[shard.offsets[1:] - 1] |= ~shard.allowed[:-1, -1]
        edge = np.broadcast_to(~shard.allowed[:-1, :-1], (len(self._inner), k, k))
        return np.flatnonzero(np.concatenate([node.ravel(), edge.ravel()]))

    def _split(self, z: Floats) -> tuple[Floats, Floats]:
        k = self._shard.n_labels
        return z[: self._nodes].reshape(-1, k), z[self._nodes :].reshape(-1, k, k)
