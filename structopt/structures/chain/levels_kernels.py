"""Compiled slack-rescaled decoding: dynamic programming over (label, accumulated loss).

loss * (1 - w . delta) is no sum over positions, but at a fixed loss it grows with the score. So the
best output of every attainable loss is found, and the best of those returned; ties go to the
smaller loss, then to the rule of :mod:`structopt.structures.chain.kernels`.

The losses of a sequence are the subset sums of its positions' costs. A *level* numbers them: with
costs that are multiples of a unit it is the multiple, otherwise it counts in mixed radix how many
positions of each cost are wrong. Either way one wrong position adds a fixed ``step``.
"""

# mypy: ignore-errors
from __future__ import annotations

from math import gcd

import numpy as np
from numba import njit

# numba keys its cache by this file alone: touch it when one of these two functions changes
from structopt.structures.base.semiring_kernels import max_plus
from structopt.structures.chain.kernels import first_argmax


@njit(cache=True, nogil=True)
def loss_levels(offsets, multiple, kind, n_kinds, limit):
    # per position its step, per sequence the number of its levels (limit + 1 when beyond limit);
    # multiple is 0 where the costs have no common unit, kind tells different costs apart
    step = np.ones(offsets[-1], np.int64)
    n_levels = np.empty(len(offsets) - 1, np.int64)
    for i in range(len(offsets) - 1):
        first, stop = offsets[i], offsets[i + 1]
        unit, total = 0, 0
        for t in range(first, stop):
            unit = gcd(unit, multiple[t])
            total += multiple[t]
        if unit > 0 and total // unit < limit:
            n_levels[i] = total // unit + 1
            for t in range(first, stop):
                step[t] = multiple[t] // unit
            continue
        count = np.zeros(n_kinds, np.int64)
        for t in range(first, stop):
            count[kind[t]] += 1
        stride = np.ones(n_kinds, np.int64)
        levels = 1
        for q in range(n_kinds):
            stride[q] = levels
            levels = min(levels * (count[q] + 1), limit + 1)
        n_levels[i] = levels
        for t in range(first, stop):
            step[t] = stride[kind[t]]
    return step, n_levels


@njit(cache=True, nogil=True)
def slack_rescaled(unary, transition, start, end, offsets, gold, cost, step, n_levels):
    n_labels = unary.shape[1]
    labels = np.empty(len(unary), np.int64)
    into = np.ascontiguousarray(transition.T)
    reach = np.empty(n_labels)
    room = 0
    for i in range(len(offsets) - 1):
        room = max(room, (offsets[i + 1] - offsets[i]) * n_levels[i])
    memory = np.empty(room * n_labels)
    for i in range(len(offsets) - 1):
        first = offsets[i]
        length, levels = offsets[i + 1] - first, n_levels[i]
        best = memory[: length * levels * n_labels].reshape((length, levels, n_labels))
        best[:] = -np.inf
        loss = np.full(levels, -1.0)  # of each level; -1 while no prefix attains it
        loss[0] = 0.0
        for t in range(length):
            g, here = gold[first + t], unary[first + t]
            for level in range(levels - 1, -1, -1):  # downwards: each position counts once
                if loss[level] < 0.0:
                    continue
                if t == 0:
                    reach[:] = start
                else:
                    max_plus(best[t - 1, level], transition, reach)
                best[t, level, g] = reach[g] + here[g]
                if n_labels == 1:
                    continue
                wrong = level + step[first + t]
                now = best[t, wrong]
                for k in range(n_labels):
                    if k != g:
                        now[k] = reach[k] + here[k]
                if loss[wrong] < 0.0:
                    loss[wrong] = loss[level] + cost[first + t]
        gold_score = best[length - 1, 0, gold[first + length - 1]] + end[gold[first + length - 1]]
        top, at_loss, at, label = 0.0, 0.0, 0, gold[first + length - 1]
        for level in range(levels):
            if loss[level] <= 0.0:
                continue
            k = first_argmax(best[length - 1, level], end)
            value = loss[level] * (1.0 - (gold_score - (best[length - 1, level, k] + end[k])))
            if value > top or (value == top and loss[level] < at_loss):
                top, at_loss, at, label = value, loss[level], level, k
        labels[first + length - 1] = label
        for t in range(length - 1, 0, -1):
            if label != gold[first + t]:
                at -= step[first + t]
            label = first_argmax(best[t - 1, at], into[label])
            labels[first + t - 1] = label
    return labels
