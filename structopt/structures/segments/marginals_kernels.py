"""Sum-product over segmentations, in logarithms.

Inputs are those of :mod:`structopt.structures.segments.kernels`.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

from structopt.structures.base.semiring_kernels import log_add, log_sum
from structopt.structures.chain.kernels import longest
from structopt.structures.chain.marginals_kernels import log_product
from structopt.structures.segments.kernels import segment_scores


@njit(cache=True, nogil=True)
def marginals(begin, inside, end, lengths, spans, transition, start, stop, offsets, right,
              right_length, bonus, weight):  # fmt: skip
    # p(a segment of label y and length k begins at s), sum_i weight_i * expected transitions of i,
    # and log Z; as in viterbi ``bonus`` is added for each segment of ``right``
    n_labels, most = begin.shape[1], len(lengths)
    size = longest(offsets)
    segment = np.zeros((len(begin), most, n_labels))
    pairs = np.zeros((n_labels, n_labels))
    log_z = np.empty(len(offsets) - 1)
    back = np.ascontiguousarray(transition.T)
    value = np.empty((size + 1, most, n_labels))
    done = np.empty((size + 1, n_labels))  # segmentations of the positions before e
    reach = np.empty((size, n_labels))
    rest = np.empty((size + 1, n_labels))  # of those from e on, after a segment of label y
    ahead = np.empty((size, n_labels))  # of those from s on, beginning with a segment of label y
    for i in range(len(offsets) - 1):
        first = offsets[i]
        length = offsets[i + 1] - first
        reach[0] = start
        for e in range(1, length + 1):
            count = segment_scores(begin, inside, lengths, spans, first, e, value[e])
            own = right_length[first + e - 1]
            if 0 < own <= count:
                value[e, own - 1, right[first + e - 1]] += bonus
            for y in range(n_labels):
                total = -np.inf
                for k in range(1, count + 1):
                    value[e, k - 1, y] += end[first + e - 1, y]
                    total = log_add(total, reach[e - k, y] + value[e, k - 1, y])
                done[e, y] = total
            if e < length:
                log_product(done[e], transition, reach[e])
        log_z[i] = log_sum(done[length] + stop)
        rest[length] = stop
        for s in range(length - 1, -1, -1):
            for y in range(n_labels):
                total = -np.inf
                for k in range(1, min(most, length - s) + 1):
                    total = log_add(total, value[s + k, k - 1, y] + rest[s + k, y])
                ahead[s, y] = total
            if s > 0:
                log_product(ahead[s], back, rest[s])
        if log_z[i] == -np.inf:
            continue
        for s in range(length):
            for k in range(1, min(most, length - s) + 1):
                for y in range(n_labels):
                    inner = reach[s, y] + value[s + k, k - 1, y] + rest[s + k, y]
                    segment[first + s, k - 1, y] = np.exp(inner - log_z[i])
            if s > 0:
                for j in range(n_labels):
                    before = done[s, j] - log_z[i]
                    for y in range(n_labels):
                        pairs[j, y] += weight[i] * np.exp(before + transition[j, y] + ahead[s, y])
    return segment, pairs, log_z
