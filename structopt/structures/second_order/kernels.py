"""Compiled decoding of stacked sequences over pairs of neighbouring labels.

Decoders read what those of :mod:`structopt.structures.chain.kernels` read and ``triple[i, j, k]``,
the score of three labels in a row, and obey the same tie rule: of two equally good outputs the one
that has the smaller label at the last position where they differ.

The best prefix that ends in the labels j, k stands at ``best[t, k, j]``, so that the labels before
j, over which the next step maximises, are neighbours in memory. Where a sequence has but one
position there is no j, and 0 stands for it.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

from structopt.structures.base.semiring_kernels import max_plus
from structopt.structures.chain.kernels import longest


@njit(cache=True, nogil=True)
def by_middle(triple):
    # [j, i, k]: what stands before and after a label
    return np.ascontiguousarray(triple.transpose(1, 0, 2))


@njit(cache=True, nogil=True)
def viterbi(unary, transition, start, end, triple, offsets):
    n_labels = unary.shape[1]
    labels = np.zeros(len(unary), np.int64)
    best = np.empty((longest(offsets), n_labels, n_labels))
    around, reach = by_middle(triple), np.empty(n_labels)
    for i in range(len(offsets) - 1):
        first = offsets[i]
        length = offsets[i + 1] - first
        best[0] = -np.inf
        best[0, :, 0] = start + unary[first]
        for t in range(1, length):
            here = unary[first + t]
            for j in range(n_labels):
                step = transition[j]
                if t == 1:
                    reach[:] = best[0, j, 0]
                else:
                    max_plus(best[t - 1, j], around[j], reach)
                for k in range(n_labels):
                    best[t, k, j] = reach[k] + step[k] + here[k]
        value, label, before = -np.inf, 0, 0
        for k in range(n_labels):
            for j in range(n_labels):
                v = best[length - 1, k, j] + end[k]
                if v > value:
                    value, label, before = v, k, j
        for t in range(length - 1, -1, -1):
            labels[first + t] = label
            value, chosen = -np.inf, 0
            if t > 1:
                for j in range(n_labels):
                    v = best[t - 1, before, j] + triple[j, before, label]
                    if v > value:
                        value, chosen = v, j
            label, before = before, chosen
    return labels


@njit(cache=True, nogil=True)
def k_best(unary, transition, start, end, triple, first, length, k):
    # list Viterbi on one sequence: the k best prefixes of every pair of labels, merged by
    # decreasing value and, among equals, by label and then by rank
    n_labels = unary.shape[1]
    value = np.full((length, n_labels, n_labels, k), -np.inf)
    back = np.zeros((length, n_labels, n_labels, k), np.int64)
    rank = np.zeros((length, n_labels, n_labels, k), np.int64)
    count = np.zeros((length, n_labels, n_labels), np.int64)
    head = np.zeros(n_labels, np.int64)
    for a in range(n_labels):
        value[0, a, 0, 0] = start[a] + unary[first, a]
        count[0, a, 0] = 1 if value[0, a, 0, 0] > -np.inf else 0
    for t in range(1, length):
        for a in range(n_labels):
            for j in range(n_labels):
                step = transition[j, a] + unary[first + t, a]
                head[:] = 0
                for r in range(k):
                    best, where = -np.inf, -1
                    for i in range(n_labels if t > 1 else 1):
                        if head[i] < count[t - 1, j, i]:
                            v = value[t - 1, j, i, head[i]]
                            v += triple[i, j, a] if t > 1 else 0.0
                            if v + step > best:
                                best, where = v + step, i
                    if where < 0:
                        break
                    value[t, a, j, r] = best
                    back[t, a, j, r], rank[t, a, j, r] = where, head[where]
                    head[where] += 1
                    count[t, a, j] = r + 1
    outputs = np.empty((k, length), np.int64)
    heads = np.zeros((n_labels, n_labels), np.int64)
    for r in range(k):
        best, label, before = -np.inf, -1, 0
        for a in range(n_labels):
            for j in range(n_labels):
                if heads[a, j] < count[length - 1, a, j]:
                    v = value[length - 1, a, j, heads[a, j]] + end[a]
                    if v > best:
                        best, label, before = v, a, j
        if label < 0:
            return outputs[:r]
        at = heads[label, before]
        heads[label, before] += 1
        for t in range(length - 1, -1, -1):
            outputs[r, t] = label
            i, at = back[t, label, before, at], rank[t, label, before, at]
            label, before = before, i
    return outputs


@njit(cache=True, nogil=True)
def best_other(unary, transition, start, end, triple, offsets, gold):
    # the better one of the two best outputs that is not gold; gold where there is no other
    labels = gold.copy()
    for i in range(len(offsets) - 1):
        a, b = offsets[i], offsets[i + 1]
        found = k_best(unary, transition, start, end, triple, a, b - a, 2)
        for r in range(len(found)):
            if np.any(found[r] != gold[a:b]):
                labels[a:b] = found[r]
                break
    return labels


@njit(cache=True, nogil=True)
def with_triples(ptr, source, offset, coef, offsets, gold, labels, which, n_labels, place, one):
    # the directions of a chain and, behind each, the triples in which gold and the output differ;
    # their weights begin at `place`, and the base row `one` holds a single 1
    room = len(source)
    for r in range(len(which)):
        room += 2 * (offsets[which[r] + 1] - offsets[which[r]])
    out_ptr = np.zeros(len(ptr), np.int64)
    out_source = np.empty(room, np.int64)
    out_offset = np.empty(room, np.int64)
    out_coef = np.empty(room)
    p = 0
    for r in range(len(which)):
        n = ptr[r + 1] - ptr[r]
        out_source[p : p + n] = source[ptr[r] : ptr[r + 1]]
        out_offset[p : p + n] = offset[ptr[r] : ptr[r + 1]]
        out_coef[p : p + n] = coef[ptr[r] : ptr[r + 1]]
        p += n
        for t in range(offsets[which[r]] + 2, offsets[which[r] + 1]):
            g = (gold[t - 2] * n_labels + gold[t - 1]) * n_labels + gold[t]
            y = (labels[t - 2] * n_labels + labels[t - 1]) * n_labels + labels[t]
            if g != y:
                out_source[p : p + 2] = one
                out_offset[p], out_coef[p] = place + g, 1.0
                out_offset[p + 1], out_coef[p + 1] = place + y, -1.0
                p += 2
        out_ptr[r + 1] = p
    return out_ptr, out_source[:p].copy(), out_offset[:p].copy(), out_coef[:p].copy()
