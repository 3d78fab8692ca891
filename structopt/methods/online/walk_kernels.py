"""One epoch of a perceptron over labels of rows, compiled whole.

Weights W[column, label] and their late sums U are feature-major; steps S[before, after] have the
start (row) and the end (column) last, minus infinity where a step is forbidden. Ties are broken as
the structures' own decoders do it: the smaller label at the last position where outputs differ.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

from structopt.methods.labels_kernels import score_row
from structopt.methods.sequences_kernels import add_steps, decode, longest


@njit(cache=True, nogil=True)
def epoch(
    order, rate, visits, average, offsets, gold, cost, bounded, indptr, indices, data, W, U, S, SU
):
    # visit the examples; W and S move by rate[i] delta, U and SU by visits so far times as much
    K, long = W.shape[1], longest(offsets)
    unary, best = np.empty((long, K)), np.empty((long, K))
    labels = np.empty(long, np.int64)
    mistakes, by_label = 0, cost.shape[1] > 1
    for i in order:
        first, n = offsets[i], offsets[i + 1] - offsets[i]
        right = gold[first : first + n]
        for t in range(n):
            score_row(first + t, indptr, indices, data, W, unary[t])
        decode(n, unary, S, best, labels)
        paid = 0.0
        for t in range(n):
            if labels[t] != right[t]:
                paid += cost[first + t, labels[t] if by_label else 0]
        if paid > 0.0:
            mistakes += 1
            a, late = rate[i], visits * rate[i]
            for t in range(n):
                p, g = labels[t], right[t]
                if p != g:
                    for q in range(indptr[first + t], indptr[first + t + 1]):
                        v, w = data[q], W[indices[q]]
                        w[g] += a * v
                        w[p] -= a * v
                        if average:
                            u = U[indices[q]]
                            u[g] += late * v
                            u[p] -= late * v
            add_steps(0, n, right, labels, a, bounded, S)
            if average:
                add_steps(0, n, right, labels, late, bounded, SU)
        visits += 1
    return mistakes
