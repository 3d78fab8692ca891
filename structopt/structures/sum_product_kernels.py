"""Compiled sum-product on stacked trees, in logarithms.

Arrays are as in :mod:`structopt.structures.hierarchy_kernels`: ``order`` holds parents before
children, ``unary[v, k]`` is -inf where a label is not allowed, ``pair[kind[v], child, parent]``.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def log_sum(values):
    top = values[0]
    for j in range(1, len(values)):
        top = max(top, values[j])
    if top == -np.inf:
        return top
    total = 0.0
    for j in range(len(values)):
        total += np.exp(values[j] - top)
    return top + np.log(total)


@njit(cache=True, nogil=True)
def node_marginals(unary, pair, kind, parent, order):
    # below[v, k]: all labellings under v with label k at v; message[v, k]: the same summed over
    # v's labels, for label k at its parent; above[v, k]: everything but v's subtree, label k at v
    n, n_labels = unary.shape
    below = unary.copy()
    message = np.zeros((n, n_labels))
    above = np.zeros((n, n_labels))
    terms = np.empty(n_labels)
    for q in range(len(order) - 1, -1, -1):
        v = order[q]
        u = parent[v]
        if u >= 0:
            for k in range(n_labels):
                for j in range(n_labels):
                    terms[j] = below[v, j] + pair[kind[v], j, k]
                message[v, k] = log_sum(terms)
                below[u, k] += message[v, k]
    out = np.empty((n, n_labels))
    rest = np.empty(n_labels)
    for v in order:
        u = parent[v]
        if u >= 0:
            for k in range(n_labels):
                # where the message is -inf nothing below allows k, and above does not matter
                known = message[v, k] > -np.inf
                rest[k] = above[u, k] + below[u, k] - message[v, k] if known else -np.inf
            for j in range(n_labels):
                for k in range(n_labels):
                    terms[k] = rest[k] + pair[kind[v], j, k]
                above[v, j] = log_sum(terms)
        for k in range(n_labels):
            terms[k] = above[v, k] + below[v, k]
        total = log_sum(terms)
        for k in range(n_labels):
            out[v, k] = np.exp(terms[k] - total)
    return out
