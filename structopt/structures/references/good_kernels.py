"""Compiled passes over the references of stacked lattices.

Lattice i has the references ``references[i] .. references[i + 1] - 1``; reference g takes the edges
``edges[ptr[g] : ptr[g + 1]]``, which increase.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

from structopt.structures.lattice.kernels import distances


@njit(cache=True, nogil=True)
def lowest(score, references, ptr, edges):
    # the score of every reference, summed edge by edge as the decoders do, and the first with the
    # lowest of each lattice
    values = np.zeros(len(ptr) - 1)
    for g in range(len(ptr) - 1):
        for e in edges[ptr[g] : ptr[g + 1]]:
            values[g] += score[e]
    chosen = np.empty(len(references) - 1, np.int64)
    for i in range(len(chosen)):
        chosen[i] = references[i] + values[references[i] : references[i + 1]].argmin()
    return values, chosen


@njit(cache=True, nogil=True)
def taken(ptr, edges, which):
    # some of the paths
    ends = np.zeros(len(which) + 1, np.int64)
    for k in range(len(which)):
        ends[k + 1] = ends[k] + ptr[which[k] + 1] - ptr[which[k]]
    out = np.empty(ends[-1], np.int64)
    for k in range(len(which)):
        out[ends[k] : ends[k + 1]] = edges[ptr[which[k]] : ptr[which[k] + 1]]
    return ends, out


@njit(cache=True, nogil=True)
def nearest(references, ptr, edges, bad_ptr, bad, extra, missed):
    # structural distance of every path from the reference nearest to it; 0 where there is no path
    out = np.zeros(len(references) - 1)
    for i in range(len(out)):
        if bad_ptr[i + 1] > bad_ptr[i]:
            own = ptr[references[i] : references[i + 1] + 1]
            path = bad[bad_ptr[i] : bad_ptr[i + 1]]
            out[i] = distances(own, edges, path, extra, missed).min()
    return out
