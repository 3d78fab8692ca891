r"""The dual variables of a ridge hinge form, block by block, over planes that oracles found.

    D(alpha) = sum_i sum_r alpha_ir m_ir - 1/2 sum_j v_j^2 / p_j,     v = sum_i sum_r alpha_ir d_ir,
    alpha >= 0,   sum_r alpha_ir <= c_i,   and the weights are w_j = v_j / p_j,

where plane r of block i says that example i's hinge is at least m_ir - w . d_ir. A block keeps its
planes as parts (:mod:`structopt.structures.base.parts`), never as vectors in feature space. When it
has as many as it may, a plane that carries nothing makes room, or else the two that carry least are
replaced by their mean: w and D stay what they were.

>>> import numpy as np, scipy.sparse as sp
>>> from structopt.arrays import base_matrix
>>> from structopt.structures.base.parts import Directions
>>> base = base_matrix(sp.csr_array(np.array([[2.0]])))
>>> blocks = Blocks(base, np.ones(1), np.array([2.0]), planes=2)
>>> blocks.absorb(Planes(np.array([0]), np.array([3.0]), Directions.rows(0, 1)))  # 3 - 2 w
>>> blocks.weights, blocks.value()  # max 3 a - 1/2 (2 a)^2 / 2 over 0 <= a <= 1
(array([1.]), 2.0)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.methods.frank_wolfe import kernels
from structopt.methods.frank_wolfe.planes import Planes
from structopt.structures.base.parts import Directions

_PATIENCE = 10
"""Visits after which a plane that carries nothing goes. On OCR letters that halves the planes (9.4
to 4.9 a word) and costs no pass."""


class Blocks:
    """Planes and multipliers of every example.

    Parameters
    ----------
    base : sparse matrix
        What the directions of all planes refer to.
    cost : array
        c_i.
    curvature : array
        p_j > 0.
    planes : int
        Planes that a block may hold; 2 is Frank-Wolfe without a memory.
    steps : int
        Pairwise steps inside one block, in one visit, at most.

    Attributes
    ----------
    weights : array
        w of the current multipliers, moved with every step.
    gaps : array
        Each block's duality gap, over its planes, as it was before the last visit.
    added : int
        Planes that were new.
    """

    def __init__(
        self, base: Any, cost: Floats, curvature: Floats, *, planes: int, steps: int = 10
    ) -> None:
        n, n_features, self._planes, self._steps = len(cost), len(curvature), planes, steps
        self._base = (base.indptr, base.indices, base.data)
        self._cost, self._curvature, self._metric = cost, curvature, 1.0 / curvature
        self._count = np.zeros(n, np.int64)
        self._first, self._size = np.zeros((n, planes), np.int64), np.zeros((n, planes), np.int64)
        self._margin, self._alpha = np.zeros((n, planes)), np.zeros((n, planes))
        self._idle = np.zeros((n, planes), np.int64)
        self._gram = np.zeros((n, planes, planes))
        self._heap, self._used = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)), 0
        self._table, self._now = _hash_table(64), 0
        self._scratch = np.zeros(n_features)
        self.weights: Floats = np.zeros(n_features)
        self.gaps: Floats = np.zeros(n)
        self.added = 0

    def __len__(self) -> int:
        """Return how many planes there are."""
        return int(self._count.sum())

    def absorb(self, planes: Planes) -> None:
        """Give each example's block its plane and visit the block, in the order of the planes."""
        d, done = planes.directions, 0
        parts = (d.source, d.offset, d.coef)
        while done < len(planes):
            done, needed, self._used, self._now, added = kernels.absorb(
                done, planes.examples, d.ptr, parts, planes.margins, self._cost, self._steps,
                _PATIENCE, self._used, *self._block(), self._table, self._now, self.gaps,
                self._scratch,
            )  # fmt: skip
            self.added += added
            if needed:
                self._make_room(needed)

    def sweep(self, order: Ints) -> None:
        """Visit blocks over the planes they have."""
        self._now = kernels.sweep(
            order, self._cost, self._steps, *self._block(), self._table, self._now, self.gaps
        )

    def value(self) -> float:
        """Return D, from weights computed anew: rounding never accumulates."""
        kernels.pull(
            self._count, self._first, self._size, self._heap, self._alpha, self._base,
            self._metric, self.weights,
        )  # fmt: skip
        half_square = 0.5 * float(self._curvature @ (self.weights * self.weights))
        return float(np.vdot(self._alpha, self._margin)) - half_square

    def standing(self) -> Planes:
        """Return all planes, means of several among them."""
        there = np.arange(self._planes) < self._count[:, None]
        first, size = self._first[there], self._size[there]
        ptr = np.concatenate([[0], np.cumsum(size)])
        where = np.repeat(first - ptr[:-1], size) + np.arange(ptr[-1])
        parts = Directions(ptr, *(values[where] for values in self._heap))
        return Planes(np.nonzero(there)[0], self._margin[there], parts)

    def _block(self) -> tuple[Any, ...]:
        return (
            self._count, self._first, self._size, self._heap, self._margin, self._alpha, self._idle,
            self._gram, self._base, self._metric, self.weights,
        )  # fmt: skip

    def _make_room(self, needed: int) -> None:
        """Make the table, and the heap, large enough for a block of so many parts."""
        if len(self._table[0]) < 2 * needed:
            self._table, self._now = _hash_table(2 * needed), 0
        if self._used + needed <= len(self._heap[0]):
            return
        parts = self.standing().directions
        self._used = len(parts.source)
        length = max(len(self._heap[0]), 2 * (self._used + needed))
        source, offset = np.empty(length, np.int64), np.empty(length, np.int64)
        coef = np.empty(length)
        source[: self._used] = parts.source
        offset[: self._used] = parts.offset
        coef[: self._used] = parts.coef
        self._heap = (source, offset, coef)
        self._first[np.arange(self._planes) < self._count[:, None]] = parts.ptr[:-1]


def _hash_table(least: int) -> tuple[Any, ...]:
    """Return an empty table of parts: keys, value, and when each place was last used."""
    size = 1 << max(int(least) - 1, 1).bit_length()
    whole = np.zeros(size, np.int64)
    return whole, whole.copy(), np.zeros(size), whole.copy()
