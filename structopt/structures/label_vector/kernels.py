"""Compiled loops of :mod:`structopt.structures.label_vector.shard`.

``legal`` holds one vector of label codes a row; none at all means that every vector is legal.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def scores(inputs, weights, n_labels):
    n, c, d = inputs.shape
    out = np.empty((n, c, n_labels))
    for i in range(n):
        for t in range(c):
            for k in range(n_labels):
                first = (t * n_labels + k) * d
                total = 0.0
                for j in range(d):
                    total += weights[first + j] * inputs[i, t, j]
                out[i, t, k] = total
    return out


@njit(cache=True, nogil=True)
def best(part, legal):
    n, c, _ = part.shape
    out = np.empty((n, c), dtype=np.int64)
    for i in range(n):
        if len(legal) == 0:
            for t in range(c):
                out[i, t] = np.argmax(part[i, t])
            continue
        top, where = -np.inf, 0
        for r in range(len(legal)):
            total = 0.0
            for t in range(c):
                total += part[i, t, legal[r, t]]
            if total > top:
                top, where = total, r
        out[i] = legal[where]
    return out


@njit(cache=True, nogil=True)
def compare(part, gold, outputs):
    n, c, _ = part.shape
    score = np.zeros(n)
    for i in range(n):
        for t in range(c):
            if gold[i, t] != outputs[i, t]:
                score[i] += part[i, t, gold[i, t]] - part[i, t, outputs[i, t]]
    return score
