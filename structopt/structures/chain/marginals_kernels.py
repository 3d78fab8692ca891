"""Sum-product on stacked sequences, in logarithms: nothing under- or overflows.

Inputs are those of :mod:`structopt.structures.chain.kernels`.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

from structopt.structures.base.semiring_kernels import log_sum
from structopt.structures.chain.kernels import longest


@njit(cache=True, nogil=True)
def log_product(source, matrix, target):
    # target[k] = log sum_j exp(source[j] + matrix[j, k])
    n = len(target)
    for k in range(n):
        top = -np.inf
        for j in range(len(source)):
            value = source[j] + matrix[j, k]
            top = value if value > top else top
        if top == -np.inf:  # forbidden
            target[k] = top
            continue
        total = 0.0
        for j in range(len(source)):
            total += np.exp(source[j] + matrix[j, k] - top)
        target[k] = top + np.log(total)


@njit(cache=True, nogil=True)
def marginals(unary, transition, start, end, offsets, weight):
    # p(y_t = k) of every position, sum_i weight_i * expected transitions of i, and log Z of every
    # sequence
    n_labels = unary.shape[1]
    size = longest(offsets)
    node = np.empty(unary.shape)
    pairs = np.zeros((n_labels, n_labels))
    log_z = np.empty(len(offsets) - 1)
    back = np.ascontiguousarray(transition.T)
    forward, backward = np.empty((size, n_labels)), np.empty((size, n_labels))
    beyond = np.empty(n_labels)
    for i in range(len(offsets) - 1):
        first = offsets[i]
        length = offsets[i + 1] - first
        for t in range(length):
            if t == 0:
                forward[0] = start + unary[first]
            else:
                log_product(forward[t - 1], transition, forward[t])
                forward[t] += unary[first + t]
        backward[length - 1] = end
        for t in range(length - 1, 0, -1):
            beyond[:] = backward[t] + unary[first + t]
            log_product(beyond, back, backward[t - 1])
        log_z[i] = log_sum(forward[length - 1] + end)
        for t in range(length):
            node[first + t] = np.exp(forward[t] + backward[t] - log_z[i])
            if t > 0:
                for j in range(n_labels):
                    before = forward[t - 1, j] - log_z[i]
                    for k in range(n_labels):
                        inside = before + transition[j, k] + unary[first + t, k] + backward[t, k]
                        pairs[j, k] += weight[i] * np.exp(inside)
    return node, pairs, log_z
