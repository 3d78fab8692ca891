r"""Constrained decoding by a search over what the constraints remember: A*, exact.

A labelling of the first t positions matters to the others only through its last label and the
activity ``A z`` of the rows that are still open. Prefixes that agree in these are one state, and

    score of the prefix + best score of the rest without constraints (backward Viterbi)

bounds what a state can lead to from above: states are taken in the order of this bound, a state
from which no row can be satisfied any more is dropped, and the first whole labelling is the best.

>>> import scipy.sparse as sp
>>> scores = ChainScores(np.array([[0.0, 2.0], [0.0, 1.0]]), np.zeros((2, 2)), *np.zeros((2, 2)))
>>> once = sp.csr_array(np.array([[0.0, 1.0, 0.0, 1.0]]))          # label 1 at most once
>>> rows = Rows(once, np.array([-np.inf]), np.array([1.0]), np.zeros(4), np.ones(4),
...             np.ones(4, dtype=bool), 4)
>>> by_states(scores, rows)
array([1, 0])
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from structopt.arrays import Ints
from structopt.structures.base.integer.rows import TOLERANCE, Rows
from structopt.structures.chain.scores import ChainScores
from structopt.structures.constrain import states_kernels

MOST = 3000
"""States that are taken before others have their turn. One costs 1 to 10 microseconds."""


def by_states(scores: ChainScores, rows: Rows, known: Sequence[Ints] = ()) -> Ints | None:
    """Return the best labels that are not ``known``, an empty array if there are none.

    None says that there are too many states. ``rows`` are over labels alone.
    """
    length, n_labels = scores.unary.shape
    columns = rows.columns
    unary = np.where(rows.ub.reshape(length, n_labels) < 0.5, -np.inf, scores.unary)
    must = rows.lb.reshape(length, n_labels) > 0.5
    unary = np.where(must.any(axis=1, keepdims=True) & ~must, -np.inf, unary)
    barred = np.array(known, dtype=np.int64).reshape(len(known), length)
    labels, taken = states_kernels.best(
        unary, *scores[1:], columns.indptr, columns.indices, columns.data, rows.lower, rows.upper,
        barred, TOLERANCE, MOST,
    )  # fmt: skip
    return labels if taken <= MOST else None
