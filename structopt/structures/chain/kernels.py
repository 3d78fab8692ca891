"""Compiled decoding of stacked sequences.

Every decoder reads ``unary[t, k]``, ``transition[previous, next]``, ``start[k]``, ``end[k]`` and
the ``offsets`` of the sequences in the stack, and obeys one tie rule: of two equally good outputs
the one that has the smaller label at the last position where they differ.

Forward passes keep only the best values; backward passes look the predecessor up again. That is
K steps a position against K * K forward, and leaves the forward loop pure max-plus, which LLVM
turns into vector instructions.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

from structopt.structures.base.semiring_kernels import max_plus


@njit(cache=True, nogil=True)
def first_argmax(left, right):
    # smallest j that maximises left[j] + right[j]
    best, where = -np.inf, 0
    for j in range(len(left)):
        value = left[j] + right[j]
        if value > best:
            best, where = value, j
    return where


@njit(cache=True, nogil=True)
def longest(offsets):
    length = 0
    for i in range(len(offsets) - 1):
        length = max(length, offsets[i + 1] - offsets[i])
    return length


@njit(cache=True, nogil=True)
def viterbi(unary, transition, start, end, offsets, gold, cost):
    # best output with cost[t] added wherever its label is not gold[t]
    n_labels = unary.shape[1]
    labels = np.empty(len(unary), np.int64)
    best = np.empty((longest(offsets), n_labels))
    into = np.ascontiguousarray(transition.T)
    reach = np.empty(n_labels)
    for i in range(len(offsets) - 1):
        first = offsets[i]
        length = offsets[i + 1] - first
        for k in range(n_labels):
            reach[k] = start[k]
        for t in range(length):
            if t > 0:
                max_plus(best[t - 1], transition, reach)
            now, here, extra, g = best[t], unary[first + t], cost[first + t], gold[first + t]
            for k in range(n_labels):
                now[k] = reach[k] + (here[k] + extra)
            now[g] = reach[g] + here[g]
        label = first_argmax(best[length - 1], end)
        labels[first + length - 1] = label
        for t in range(length - 1, 0, -1):
            label = first_argmax(best[t - 1], into[label])
            labels[first + t - 1] = label
    return labels


@njit(cache=True, nogil=True)
def best_other(unary, transition, start, end, offsets, gold):
    # best output that is not gold. best[t, k] is the best prefix ending in k that has left gold;
    # the one prefix that has not is gold's, and `kept[t]` is all there is to know about it.
    # Without any other output (one label, or transitions that leave no choice) the answer is gold.
    n_labels = unary.shape[1]
    labels = gold.copy()
    if n_labels == 1:
        return labels
    best = np.empty((longest(offsets), n_labels))
    kept = np.empty(len(best))
    into = np.ascontiguousarray(transition.T)
    reach = np.empty(n_labels)
    for i in range(len(offsets) - 1):
        first = offsets[i]
        length = offsets[i + 1] - first
        for t in range(length):
            now, here, g = best[t], unary[first + t], gold[first + t]
            if t == 0:
                reach[:] = start
                reach[g] = -np.inf
                kept[0] = start[g] + here[g]
            else:
                before = gold[first + t - 1]
                max_plus(best[t - 1], transition, reach)
                left, leave, still = kept[t - 1], transition[before], reach[g]
                for k in range(n_labels):
                    a = left + leave[k]
                    reach[k] = a if a > reach[k] else reach[k]
                reach[g] = still
                kept[t] = kept[t - 1] + leave[g] + here[g]
            for k in range(n_labels):
                now[k] = reach[k] + here[k]
        label = first_argmax(best[length - 1], end)
        if best[length - 1, label] + end[label] == -np.inf:
            continue
        labels[first + length - 1] = label
        # Backwards: the rest of the prefix has left gold, or equals gold, or (a tie) may do either;
        # only then has the tie rule to choose, by the smallest label that one of them allows.
        may_leave, may_keep = True, False
        for t in range(length - 1, 0, -1):
            g, before = gold[first + t], gold[first + t - 1]
            may_keep = may_keep or label != g
            if not may_leave:
                break
            j = first_argmax(best[t - 1], into[label])
            leaving = best[t - 1, j] + into[label, j]
            keeping = kept[t - 1] + into[label, before] if may_keep else -np.inf
            if label == g and may_keep:  # tied with gold's own prefix already
                keeping = leaving
            if keeping > leaving or (keeping == leaving and before < j):
                j, may_leave = before, False
            else:
                may_leave = True
                may_keep = keeping == leaving and before == j
            label = j
            labels[first + t - 1] = label
    return labels


@njit(cache=True, nogil=True)
def k_best(unary, transition, start, end, k):
    # list Viterbi on one sequence: the k best prefixes of every label, merged by decreasing value
    # and, among equals, by label and then by rank, which is the tie rule
    length, n_labels = unary.shape
    value = np.full((length, n_labels, k), -np.inf)
    back_label = np.zeros((length, n_labels, k), np.int64)
    back_rank = np.zeros((length, n_labels, k), np.int64)
    count = np.zeros((length, n_labels), np.int64)
    for t in range(length):
        for label in range(n_labels):
            if t == 0:
                value[0, label, 0] = start[label] + unary[0, label]
                count[0, label] = 1
                continue
            head = np.zeros(n_labels, np.int64)
            for r in range(k):
                best, where = -np.inf, -1
                for j in range(n_labels):
                    if head[j] < count[t - 1, j]:
                        v = value[t - 1, j, head[j]] + transition[j, label]
                        if v > best:
                            best, where = v, j
                if where < 0:
                    break
                value[t, label, r] = best + unary[t, label]
                back_label[t, label, r] = where
                back_rank[t, label, r] = head[where]
                head[where] += 1
                count[t, label] = r + 1
    outputs = np.empty((k, length), np.int64)
    head = np.zeros(n_labels, np.int64)
    for r in range(k):
        best, label = -np.inf, -1
        for j in range(n_labels):
            if head[j] < count[length - 1, j] and value[length - 1, j, head[j]] + end[j] > best:
                best, label = value[length - 1, j, head[j]] + end[j], j
        if label < 0:
            return outputs[:r]
        rank = head[label]
        head[label] += 1
        for t in range(length - 1, -1, -1):
            outputs[r, t] = label
            label, rank = back_label[t, label, rank], back_rank[t, label, rank]
    return outputs


@njit(cache=True, nogil=True)
def compare(unary, transition, start, end, offsets, gold, cost, labels):
    # loss and score of gold minus score of labels, summed over what differs
    n_examples = len(offsets) - 1
    loss = np.zeros(n_examples)
    score = np.zeros(n_examples)
    for i in range(n_examples):
        first, last = offsets[i], offsets[i + 1] - 1
        s = start[gold[first]] - start[labels[first]] + end[gold[last]] - end[labels[last]]
        for t in range(first, last + 1):
            if labels[t] != gold[t]:
                loss[i] += cost[t]
                s += unary[t, gold[t]] - unary[t, labels[t]]
            if t > first:
                s += transition[gold[t - 1], gold[t]] - transition[labels[t - 1], labels[t]]
        score[i] = s
    return loss, score


@njit(cache=True, nogil=True)
def differing_parts(offsets, gold, labels, which, n_labels, n_inputs, boundaries, row, one):
    # directions of the examples `which`: plus gold's part, minus the output's, where they differ;
    # position 0 is the base row `row`, and the base row `one` holds a single 1
    most = 0
    for r in range(len(which)):
        most += 4 * (offsets[which[r] + 1] - offsets[which[r]]) + 2
    ptr = np.zeros(len(which) + 1, np.int64)
    source = np.empty(most, np.int64)
    offset = np.empty(most, np.int64)
    pairs = n_labels * n_inputs
    ends = pairs + n_labels * n_labels
    p = 0
    for r in range(len(which)):
        first, last = offsets[which[r]], offsets[which[r] + 1] - 1
        for t in range(first, last + 1):
            g, y = gold[t], labels[t]
            if g != y:
                source[p], offset[p] = row + t, g * n_inputs
                source[p + 1], offset[p + 1] = row + t, y * n_inputs
                p += 2
                if boundaries and t == first:
                    source[p], offset[p] = one, ends + g
                    source[p + 1], offset[p + 1] = one, ends + y
                    p += 2
                if boundaries and t == last:
                    source[p], offset[p] = one, ends + n_labels + g
                    source[p + 1], offset[p + 1] = one, ends + n_labels + y
                    p += 2
            if t > first and (g != y or gold[t - 1] != labels[t - 1]):
                source[p], offset[p] = one, pairs + gold[t - 1] * n_labels + g
                source[p + 1], offset[p + 1] = one, pairs + labels[t - 1] * n_labels + y
                p += 2
        ptr[r + 1] = p
    coef = np.ones(p)
    coef[1::2] = -1.0
    return ptr, source[:p].copy(), offset[:p].copy(), coef
