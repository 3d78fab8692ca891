"""Sum-product over pairs of neighbouring labels, in logarithms.

Inputs are those of :mod:`structopt.structures.second_order.kernels`.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

from structopt.structures.base.semiring_kernels import log_sum
from structopt.structures.chain.kernels import longest
from structopt.structures.chain.marginals_kernels import log_product
from structopt.structures.second_order.kernels import by_middle


@njit(cache=True, nogil=True)
def marginals(unary, transition, start, end, triple, offsets, weight):
    # p(y_t = k) of every position, sum_i weight_i * expected pairs and triples of i, and log Z
    n_labels = unary.shape[1]
    size = longest(offsets)
    node = np.empty(unary.shape)
    pairs = np.zeros((n_labels, n_labels))
    triples = np.zeros((n_labels, n_labels, n_labels))
    log_z = np.empty(len(offsets) - 1)
    around = by_middle(triple)
    reach, beyond = np.empty(n_labels), np.empty(n_labels)
    # forward[t, k, j] of prefixes that end in j, k; backward[t, k, j] of what comes after them
    forward = np.empty((size, n_labels, n_labels))
    backward = np.empty((size, n_labels, n_labels))
    for i in range(len(offsets) - 1):
        first = offsets[i]
        length = offsets[i + 1] - first
        forward[0] = -np.inf
        forward[0, :, 0] = start + unary[first]
        for t in range(1, length):
            for j in range(n_labels):
                if t == 1:
                    reach[:] = forward[0, j, 0]
                else:
                    log_product(forward[t - 1, j], around[j], reach)
                for k in range(n_labels):
                    forward[t, k, j] = reach[k] + transition[j, k] + unary[first + t, k]
        for k in range(n_labels):
            backward[length - 1, k, :] = end[k]
        for t in range(length - 2, -1, -1):
            for j in range(n_labels):
                for k in range(n_labels):
                    beyond[k] = transition[j, k] + unary[first + t + 1, k] + backward[t + 1, k, j]
                if t == 0:
                    backward[0, j, :] = log_sum(beyond)
                else:
                    log_product(beyond, np.ascontiguousarray(around[j].T), backward[t, j])
        log_z[i] = log_sum((forward[length - 1] + backward[length - 1]).ravel())
        for t in range(length):
            for k in range(n_labels):
                total = 0.0
                for j in range(n_labels):
                    inside = np.exp(forward[t, k, j] + backward[t, k, j] - log_z[i])
                    total += inside
                    if t > 0:
                        pairs[j, k] += weight[i] * inside
                    if t > 1:
                        rest = backward[t, k, j] + transition[j, k] + unary[first + t, k] - log_z[i]
                        for h in range(n_labels):
                            value = forward[t - 1, j, h] + triple[h, j, k] + rest
                            triples[h, j, k] += weight[i] * np.exp(value)
                node[first + t, k] = total
    return node, pairs, triples, log_z
