"""Sums over all paths of stacked lattices, in the layout of the decoders."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

from structopt.structures.base.semiring_kernels import log_sum


@njit(cache=True, nogil=True)
def marginals(score, node_ptr, in_ptr, tail):
    # the probability of every edge, and log Z of every lattice: forward, then mass goes back
    n_nodes, most = len(in_ptr) - 1, 0
    for v in range(n_nodes):
        most = max(most, in_ptr[v + 1] - in_ptr[v])
    reach, mass = np.full(n_nodes, -np.inf), np.zeros(n_nodes)
    edge, log_z = np.zeros(len(tail)), np.empty(len(node_ptr) - 1)
    values = np.empty(most)
    for i in range(len(node_ptr) - 1):
        first, stop = node_ptr[i], node_ptr[i + 1]
        reach[first] = 0.0
        for v in range(first + 1, stop):
            for e in range(in_ptr[v], in_ptr[v + 1]):
                values[e - in_ptr[v]] = reach[tail[e]] + score[e]
            reach[v] = log_sum(values[: in_ptr[v + 1] - in_ptr[v]])
        log_z[i] = reach[stop - 1]
        mass[stop - 1] = 1.0
        for v in range(stop - 1, first, -1):
            if mass[v] == 0.0:
                continue
            for e in range(in_ptr[v], in_ptr[v + 1]):
                edge[e] = mass[v] * np.exp(reach[tail[e]] + score[e] - reach[v])
                mass[tail[e]] += edge[e]
    return edge, log_z
