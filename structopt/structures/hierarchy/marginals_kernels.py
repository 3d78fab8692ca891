"""Compiled sum-product on stacked trees, in logarithms: nothing under- or overflows.

Arrays are those of :mod:`structopt.structures.hierarchy.kernels`.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

from structopt.structures.base.semiring_kernels import log_sum


@njit(cache=True, nogil=True)
def marginals(unary, pair, kind, parent, order, rate):
    # p(y_v = k) of every node; the sum of rate[v] p(y_v = j, y_parent = k) for each kind of edge;
    # log Z at roots, 0 elsewhere.
    # below[v, k]: all labellings under v with label k at v; message[v, k]: the same summed over
    # v's labels, for label k at its parent; above[v, k]: everything but v's subtree, label k at v
    n, n_labels = unary.shape
    below = unary.copy()
    message, above = np.zeros((n, n_labels)), np.zeros((n, n_labels))
    node, pairs, log_z = np.empty((n, n_labels)), np.zeros(pair.shape), np.zeros(n)
    terms, rest = np.empty(n_labels), np.empty(n_labels)
    for q in range(len(order) - 1, -1, -1):
        v = order[q]
        u = parent[v]
        if u >= 0:
            for k in range(n_labels):
                for j in range(n_labels):
                    terms[j] = below[v, j] + pair[kind[v], j, k]
                message[v, k] = log_sum(terms)
                below[u, k] += message[v, k]
    for v in order:
        u = parent[v]
        if u >= 0:
            for k in range(n_labels):
                # where the message is -inf nothing below allows k, and the rest does not matter
                known = message[v, k] > -np.inf
                rest[k] = above[u, k] + below[u, k] - message[v, k] if known else -np.inf
            for j in range(n_labels):
                for k in range(n_labels):
                    terms[k] = rest[k] + pair[kind[v], j, k]
                above[v, j] = log_sum(terms)
        total = log_sum(above[v] + below[v])
        for k in range(n_labels):
            node[v, k] = np.exp(above[v, k] + below[v, k] - total)
        if u < 0:
            log_z[v] = total
        else:
            for j in range(n_labels):
                for k in range(n_labels):
                    inside = below[v, j] + pair[kind[v], j, k] + rest[k] - total
                    pairs[kind[v], j, k] += rate[v] * np.exp(inside)
    return node, pairs, log_z
