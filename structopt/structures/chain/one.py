r"""One sequence decoded as it comes: what a tagger asks that gets its sentences one by one.

    unary = X W',    labels = viterbi(unary, T, start, end)

with the kernels and the order of sums of a whole shard, but without its stack, its gold labels and
losses: 30 tokens of 15 features among 9 labels take a ninth of the time.

>>> import numpy as np
>>> decode_one(np.eye(2), np.array([1.0, 0, 0, 1, 0, 0, 0, 0]), 2, False, None)
array([0, 1])
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints
from structopt.structures.base.parts_kernels import sparse_scores
from structopt.structures.chain.kernels import viterbi
from structopt.structures.chain.scores import ChainScores
from structopt.structures.chain.transitions import Bools, steps


def decode_one(
    x: Any, weights: Floats, n_labels: int, boundaries: bool, allowed: Bools | None
) -> Ints | None:
    """Return the best labels of one sequence, or None where only a shard can say what is wrong.

    Parameters
    ----------
    x : matrix of shape (T, d)
        CSR or dense, of float64; anything else is left to a shard.
    weights : array
        All weights of the chain.
    n_labels, boundaries, allowed
        As a :class:`~structopt.structures.chain.shard.ChainShard` takes them.
    """
    pairs = len(weights) - n_labels * (n_labels + 2 * boundaries)
    known = sp.issparse(x) or type(x) is np.ndarray
    if not known or x.ndim != 2 or x.dtype != np.float64 or weights.dtype != np.float64:
        return None
    if not x.shape[0] or x.shape[1] * n_labels != pairs or weights.ndim != 1:
        return None
    unary = _unary(x, weights[:pairs].reshape(n_labels, -1))
    # copies: weights that are read-only would be another type to numba, and compiled anew
    transition, around = np.split(np.array(weights[pairs:]), [n_labels * n_labels])
    ends = around.reshape(2, n_labels) if boundaries else np.zeros((2, n_labels))
    if unary is None or not np.isfinite(unary.sum() + transition.sum() + ends.sum()):
        return None
    scores = ChainScores(unary, transition.reshape(n_labels, n_labels), ends[0], ends[1])
    length = len(unary)
    offsets, none = np.array([0, length]), np.zeros(length, dtype=np.int64)
    labels = viterbi(*scores.masked(allowed), offsets, none, np.zeros(length))
    if allowed is not None and not allowed[steps(offsets, labels, n_labels)].all():
        return None  # there is no output
    return np.asarray(labels)


def _unary(x: Any, table: Floats) -> Floats | None:
    """Return the score of each label at each token; None of a sparse format other than CSR."""
    if not sp.issparse(x):
        return np.ascontiguousarray(x @ table.T)
    if x.format != "csr":
        return None
    columns = np.array(table[:, x.indices].T, order="C")  # only the weights that are read
    place = np.arange(len(columns), dtype=np.int32)
    ends = x.indptr.astype(np.int32, copy=False)
    return np.asarray(sparse_scores(ends, place, x.data, columns))
