r"""The best labelling of one pairwise Markov net for given scores.

Compiled message passing gives a labelling and a bound. Where they meet, the labelling is exact;
where they do not, a junction tree answers if the net is of bounded tree-width. Of others the
relaxation over the local polytope is solved by HiGHS if the net is small,

    sum_k z[s, k] = 1,   sum_k e[st, j, k] = z[s, j],   sum_j e[st, j, k] = z[t, k].
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints
from structopt.structures.base.integer.rows import Rows
from structopt.structures.base.integer.solver import IntegerProgram
from structopt.structures.markov_net import kernels
from structopt.structures.markov_net.inputs import Net
from structopt.structures.markov_net.junction_tree import JunctionTree

MAX_SWEEPS = 200
SMALL = 5000
"""Edge parts (edges times K^2) up to which HiGHS solves a relaxation that messages leave open: some
tenths of a second at this size."""


class NetSearch:
    """Finds the best labelling of one net for given scores.

    Parameters
    ----------
    net : Net
    n_labels : int
    branch : bool
        Whether to close what relaxations leave open by branch and bound.
    width : int
        Tree-width up to which a junction tree is used.
    example : int
        Its number in messages.
    """

    def __init__(
        self, net: Net, n_labels: int, branch: bool, width: int = 1, example: int = 0
    ) -> None:
        self.net, self.n_labels, self.branch = net, n_labels, branch
        self.width, self.example = width, example
        self._incidence = net.incidence()
        self._program: IntegerProgram | None = None

    @cached_property
    def tree(self) -> JunctionTree | None:
        """The junction tree; None if the net is wider than stated."""
        given = (len(self.net.nodes), self.net.edges, self.n_labels, self.width, self.example)
        return JunctionTree.of(*given)

    def best(self, unary: Floats, pair: Floats) -> tuple[Ints, float]:
        """Return labels and how far the true optimum may lie above their score."""
        net = self.net
        size = float(np.abs(unary).max(axis=1).sum() + np.abs(pair).max(axis=(1, 2)).sum())
        labels, value, bound = kernels.decode(
            unary, pair, net.edges, *self._incidence, net.forest, MAX_SWEEPS, 1e-10 * size
        )
        noise = 1e-9 * size
        if bound - value <= noise:
            return labels, 0.0  # a difference in the last digits of the sums is no better labelling
        if self.tree is not None:
            return self.tree.best(unary, pair), 0.0
        if not (self.branch or len(net.edges) * self.n_labels**2 <= SMALL):
            return labels, bound - value
        scores = np.concatenate([unary.ravel(), pair.ravel()])
        if self._program is None:
            self._program = IntegerProgram(self._local_polytope())
        nodes = unary.size
        if self.branch:
            found = self._program.maximize(scores)
            assert found is not None, "every net has a labelling"
            return np.argmax(found.point[:nodes].reshape(unary.shape), axis=1), found.excess
        relaxed = self._program.relax(scores)
        assert relaxed is not None, "every net has a labelling"
        other = np.argmax(relaxed.values[:nodes].reshape(unary.shape), axis=1)
        other_value = kernels.score(unary, pair, net.edges, other)
        if other_value > value:
            labels, value = other, other_value
        over = min(bound, relaxed.bound) - value
        return labels, 0.0 if over <= noise else over

    def _local_polytope(self) -> Rows:
        n, m, K = len(self.net.nodes), len(self.net.edges), self.n_labels
        one = sp.kron(sp.eye_array(n), np.ones((1, K)))
        blocks: list[list[Any]] = [[one, sp.csr_array((n, m * K * K))]]
        flows = (
            sp.kron(sp.eye_array(m * K), np.ones((1, K))),
            sp.kron(sp.eye_array(m), sp.kron(np.ones((1, K)), sp.eye_array(K))),
        )
        for side, flow in enumerate(flows):
            column = (self.net.edges[:, side, None] * K + np.arange(K)).ravel()
            at = sp.csr_array((np.ones(m * K), (np.arange(m * K), column)), shape=(m * K, n * K))
            blocks.append([-at, flow])
        side_values = np.concatenate([np.ones(n), np.zeros(2 * m * K)])
        columns = n * K + m * K * K
        return Rows(
            sp.csr_array(sp.block_array(blocks)), side_values, side_values, np.zeros(columns),
            np.ones(columns), np.arange(columns) < n * K, columns,
        )  # fmt: skip
