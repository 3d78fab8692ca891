"""Compiled search for matchings with limits other than one at the nodes."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def best_matching(scores, left, right, limit_left, limit_right, chosen):
    """Fill ``chosen`` with the heaviest set of edges that keeps the limits.

    Successive longest augmenting paths: the matching with k edges is the heaviest of its size, and
    gains fall with k, so the first path without gain ends it. Edges that score <= 0 are left out.
    """
    n_edges = len(scores)
    free_left, free_right = limit_left.copy(), limit_right.copy()
    chosen[:] = False
    top = 0.0
    for e in range(n_edges):
        top = max(top, scores[e])
    negligible = 1e-13 * top  # a path is better only beyond rounding: no cycles of zero gain
    at_left, at_right = np.empty(len(limit_left)), np.empty(len(limit_right))
    from_left = np.empty(len(limit_left), np.int64)  # the matched edge a left node is reached by
    from_right = np.empty(len(limit_right), np.int64)
    while True:
        for i in range(len(limit_left)):
            at_left[i] = 0.0 if free_left[i] > 0 else -np.inf
            from_left[i] = -1
        at_right[:] = -np.inf
        from_right[:] = -1
        moved = True
        while moved:
            moved = False
            for e in range(n_edges):
                if scores[e] > 0.0 and not chosen[e]:
                    reach = at_left[left[e]] + scores[e]
                    if reach > at_right[right[e]] + negligible:
                        at_right[right[e]] = reach
                        from_right[right[e]] = e
                        moved = True
            for e in range(n_edges):
                if chosen[e]:
                    reach = at_right[right[e]] - scores[e]
                    if reach > at_left[left[e]] + negligible:
                        at_left[left[e]] = reach
                        from_left[left[e]] = e
                        moved = True
        best, end = 0.0, -1
        for j in range(len(limit_right)):
            if free_right[j] > 0 and at_right[j] > best:
                best, end = at_right[j], j
        if end < 0:
            return
        free_right[end] -= 1
        j = end
        while True:
            e = from_right[j]
            chosen[e] = True
            i = left[e]
            e = from_left[i]
            if e < 0:
                free_left[i] -= 1
                break
            chosen[e] = False
            j = right[e]
