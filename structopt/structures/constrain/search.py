r"""Labellings under constraints, decoded: Viterbi first, then a search, then HiGHS.

    max  sum_t unary[t, y_t] + sum_t transition[y_{t-1}, y_t]    s.t.  y satisfies the constraints.

The unconstrained answer is the answer if it satisfies the constraints; so is, with transitions, the
first of the k best that does. Then comes an exact search over states of the constraints
(:mod:`structopt.structures.constrain.states`). Where there are too many, Viterbi is asked again
with multipliers on the constraints (:mod:`structopt.structures.constrain.multipliers`). Only else
an integer programme over the chain's flow polytope is solved:

    sum_k z[t, k] = 1,   sum_k e[t, j, k] = z[t, j],   sum_j e[t, j, k] = z[t + 1, k].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from structopt.arrays import Floats, Ints
from structopt.structures.base.integer.rows import TOLERANCE, Rows
from structopt.structures.base.integer.solver import IntegerProgram
from structopt.structures.chain import kernels as chain_kernels
from structopt.structures.chain.scores import ChainScores
from structopt.structures.chain.transitions import Bools
from structopt.structures.constrain.multipliers import by_multipliers
from structopt.structures.constrain.states import by_states

LISTED = 16
"""Unconstrained answers looked at before an integer programme: decoding them is compiled, and costs
less than HiGHS takes to be set up."""


Ranked = tuple[Ints, float]
"""A labelling, and how far the best one may be above it."""


class LabellingSet:
    """The labellings of one example that satisfy its constraints.

    Parameters
    ----------
    rows : Rows
        Over z, (length, n_labels) parts, and helpers.
    length, n_labels : int
    chained : bool
        Whether transitions have scores.
    allowed : array of bool, shape (K + 1, K + 1), optional
        Which label may follow which, the start and the end last; what is not allowed has a score
        of minus infinity.
    """

    def __init__(
        self, rows: Rows, length: int, n_labels: int, chained: bool, allowed: Bools | None = None
    ) -> None:
        self.rows, self.length, self.n_labels = rows, length, n_labels
        self.chained, self.allowed = chained and length > 1, allowed
        self._program: IntegerProgram | None = None

    def within(self, held: Bools) -> LabellingSet:
        """Return those labellings that have only labels allowed, [position, label] -> bool.

        Of scores for them the others must be minus infinity.
        """
        rows = self.rows.fixed(np.where(held, -1, 0).ravel().astype(np.int8))
        return LabellingSet(rows, self.length, self.n_labels, self.chained, self.allowed)

    def release(self) -> None:
        """Let go of the live model."""
        self._program = None

    def satisfied(self, labels: Ints) -> NDArray[np.bool_]:
        """Return for each row of ``labels`` (labellings, length) whether it is in the set."""
        points = np.zeros((len(labels), self.length * self.n_labels))
        where = np.arange(self.length) * self.n_labels + labels
        points[np.arange(len(labels))[:, None], where] = 1.0
        if self.rows.alone:
            return self.rows.satisfied(points)
        return np.array([IntegerProgram(self.rows).contains(point) for point in points])

    def best(self, scores: ChainScores, *, k: int = 1, known: Sequence[Ints] = ()) -> list[Ranked]:
        """Return up to k best labellings that are not ``known``, each with its excess."""
        alone = self.rows.alone
        if alone and not self.chained:
            searched = self._searched(scores, k, [], known)
            if searched is not None:
                return searched
        most = min(self.n_labels**self.length, LISTED + 2 * k)
        listed = chain_kernels.k_best(*scores, most)
        barred = {tuple(row.tolist()) for row in known}
        kept = self.satisfied(listed)
        found = [(row, 0.0) for row, ok in zip(listed, kept, strict=True) if ok]
        found = [(row, e) for row, e in found if tuple(row.tolist()) not in barred][:k]
        every = len(listed) < most or most == self.n_labels**self.length
        if every or len(found) == k:
            return found
        if alone and self.chained:
            searched = self._searched(scores, k, found, known)
            if searched is not None:
                return searched
        whole = bool(np.isfinite(scores.unary).all())
        if self.chained and alone and k == 1 and not known and whole:
            priced = by_multipliers(scores, self.rows)
            if priced is not None:
                return [priced]
        while len(found) < k:
            program = self._live()
            forbidden = [self._point(row) for row in [*known, *(row for row, _ in found)]]
            best = program.maximize(self._scores(scores), forbidden=forbidden)
            if best is None:
                break
            z = best.point[: self.length * self.n_labels].reshape(self.length, self.n_labels)
            found.append((np.argmax(z, axis=1), best.excess))
        return found

    def _searched(
        self, scores: ChainScores, k: int, found: list[Ranked], known: Sequence[Ints]
    ) -> list[Ranked] | None:
        """Return what was found and the next best by states, k in all; None if it gave up."""
        every = list(found)
        while len(every) < k:
            labels = by_states(scores, self.rows, [*known, *(row for row, _ in every)])
            if labels is None:
                return None
            if not len(labels):
                break
            every.append((labels, 0.0))
        return every

    def _point(self, labels: Ints) -> Floats:
        z = np.zeros((self.length, self.n_labels))
        z[np.arange(self.length), labels] = 1.0
        return z.ravel()

    def _scores(self, scores: ChainScores) -> Floats:
        scores = scores.finite()  # what is not allowed is bounded by 0
        unary = np.where(scores.unary == -np.inf, 0.0, scores.unary)
        unary[0] += scores.start
        unary[-1] += scores.end
        if not self.chained:
            return unary.ravel()
        return np.concatenate([unary.ravel(), np.tile(scores.transition.ravel(), self.length - 1)])

    def _live(self) -> IntegerProgram:
        if self._program is None:
            self._program = IntegerProgram(self._flow())
        return self._program

    def _flow(self) -> Rows:
        """Return the constraints beside the rows of the chain's flow."""
        T, K, rows = self.length, self.n_labels, self.rows
        nodes, edges = T * K, (T - 1) * K * K if self.chained else 0
        helpers = rows.A.shape[1] - nodes
        ends_of = np.arange(0, nodes + 1, K)
        one = sp.csr_array((np.ones(nodes), np.arange(nodes), ends_of), shape=(T, nodes))
        blocks: list[list[Any]] = [
            [one, sp.csr_array((T, edges)), sp.csr_array((T, helpers))],
            [rows.A[:, :nodes], sp.csr_array((rows.A.shape[0], edges)), rows.A[:, nodes:]],
        ]
        equal = [np.ones(T)]
        if edges:
            ends = (T - 1) * K
            out = sp.kron(sp.eye_array(ends), np.ones((1, K)))
            into = sp.kron(sp.eye_array(T - 1), sp.kron(np.ones((1, K)), sp.eye_array(K)))
            for flow, shift in ((out, 0), (into, K)):
                at = sp.eye_array(ends, nodes, k=shift)
                blocks.append([-at, flow, sp.csr_array((ends, helpers))])
                equal.append(np.zeros(ends))
        side, most = equal[1:], np.ones(edges)
        ub = rows.ub.copy()
        if self.allowed is not None:
            most = np.tile(self.allowed[:-1, :-1].ravel(), T - 1 if edges else 0).astype(float)
            ub[:K] *= self.allowed[-1, :-1]
            ub[nodes - K : nodes] *= self.allowed[:-1, -1]
        return Rows(
            sp.csr_array(sp.block_array(blocks)),
            np.concatenate([equal[0], rows.lower, *side]),
            np.concatenate([equal[0], rows.upper, *side]),
            np.insert(rows.lb, nodes, np.zeros(edges)),
            np.insert(ub, nodes, most),
            np.insert(rows.integer, nodes, np.zeros(edges, dtype=bool)),
            nodes + edges,
        )


class Checker:
    """Tells which examples of a shard break their constraints, by one product for most."""

    def __init__(self, sets: Sequence[LabellingSet], offsets: Ints) -> None:
        self.sets, self.offsets = sets, offsets
        plain = [i for i, s in enumerate(sets) if s.rows.alone]
        self.slow = [i for i, s in enumerate(sets) if not s.rows.alone]
        blocks = [sets[i].rows for i in plain]
        self.A = sp.block_diag([b.A for b in blocks], format="csr") if blocks[1:] else None
        if len(blocks) == 1:
            self.A = blocks[0].A
        self.lower = np.concatenate([np.zeros(0), *(b.lower for b in blocks)])
        self.upper = np.concatenate([np.zeros(0), *(b.upper for b in blocks)])
        self.owner = np.repeat(plain, [len(b.lower) for b in blocks]).astype(np.int64)
        lengths = [np.arange(offsets[i], offsets[i + 1]) for i in plain]
        self.tokens = np.concatenate([np.zeros(0, np.int64), *lengths])

    def broken(self, labels: Ints) -> Ints:
        """Return the examples whose labels are not in their sets."""
        bad = np.zeros(len(self.sets), dtype=bool)
        if self.A is not None and self.A.shape[0]:
            n_labels = self.sets[0].n_labels
            z = np.zeros(self.A.shape[1])
            z[np.arange(len(self.tokens)) * n_labels + labels[self.tokens]] = 1.0
            value = self.A @ z
            outside = (value < self.lower - TOLERANCE) | (value > self.upper + TOLERANCE)
            bad[self.owner[outside]] = True
        for i in self.slow:
            own = labels[self.offsets[i] : self.offsets[i + 1]]
            bad[i] = not self.sets[i].satisfied(own[None, :])[0]
        return np.flatnonzero(bad)
