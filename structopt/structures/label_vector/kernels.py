"""Compiled loops of :mod:`structopt.structures.label_vector.structure`.

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
    loss, score = np.zeros(n), np.zeros(n)
    for i in range(n):
        for t in range(c):
            if gold[i, t] != outputs[i, t]:
                loss[i] += 1.0
                score[i] += part[i, t, gold[i, t]] - part[i, t, outputs[i, t]]
    return loss, score


@njit(cache=True, nogil=True)
def differing_parts(gold, outputs, which, n_labels, n_inputs, first):
    c = gold.shape[1]
    ptr = np.zeros(len(which) + 1, dtype=np.int64)
    for r in range(len(which)):
        ptr[r + 1] = ptr[r]
        for t in range(c):
            if gold[which[r], t] != outputs[which[r], t]:
                ptr[r + 1] += 2
    source, offset = np.empty(ptr[-1], dtype=np.int64), np.empty(ptr[-1], dtype=np.int64)
    coef = np.empty(ptr[-1])
    p = 0
    for i in which:
        for t in range(c):
            if gold[i, t] != outputs[i, t]:
                for label, sign in ((gold[i, t], 1.0), (outputs[i, t], -1.0)):
                    source[p] = (first + i) * c + t
                    offset[p] = (t * n_labels + label) * n_inputs
                    coef[p] = sign
                    p += 1
    return ptr, source, offset, coef
