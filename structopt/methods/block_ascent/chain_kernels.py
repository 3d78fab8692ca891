"""Compiled block ascent over label sequences (see :mod:`structopt.methods.block_ascent.chains`).

Weights are feature-major, W[column, label]; steps S[before, after] have the start (row) and the end
(column) last, minus infinity where a step is forbidden. Plane m of example i is its labels,
``planes[m, offsets[i] : offsets[i + 1]]``; its products with the example's other planes are
``gram[i]``. ``cost`` has one column (of every label but gold), or one for each label. Counts are
made 64 bits wide where they are read: with two widths half of these loops are compiled twice.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

from structopt.methods.block_ascent.block_kernels import REST, follow, gap_of, settle, shuffle
from structopt.methods.labels_kernels import FAST, score_row
from structopt.methods.sequences_kernels import add_steps, decode, dot_steps, longest, score_of


# ------------------------------------------------------------------ one block
@njit(cache=True, nogil=True, fastmath=FAST)
def shares(first, n, count, gold, planes, alpha, out):
    # out[t, k]: what multipliers put on label k of row t
    for t in range(n):
        for k in range(out.shape[1]):
            out[t, k] = 0.0
    for m in range(count):
        a = alpha[m]
        if a != 0.0:
            for t in range(n):
                p = planes[m, first + t]
                if p != gold[t]:
                    out[t, gold[t]] += a
                    out[t, p] -= a


@njit(cache=True, nogil=True, fastmath=FAST)
def slopes_of(first, n, count, gold, planes, unary, S, bounded, loss, out):
    for m in range(count):
        s = loss[m]
        for t in range(n):
            p = planes[m, first + t]
            if p != gold[t]:
                s += unary[t, p] - unary[t, gold[t]]
        out[m] = s - dot_steps(first, n, gold, planes[m], bounded, S)


@njit(cache=True, nogil=True, fastmath=FAST)
def move(first, n, count, gold, planes, change, bounded, indptr, indices, data, place, share, W, S):
    # W, S += sum_m change[m] (phi(gold) - phi(plane m)); `place` renumbers columns, if it is given
    shares(first, n, count, gold, planes, change, share)
    for m in range(count):
        if change[m] != 0.0:
            add_steps(first, n, gold, planes[m], change[m], bounded, S)
    for t in range(n):
        any_ = False
        for k in range(W.shape[1]):
            any_ |= share[t, k] != 0.0
        if any_:
            for q in range(indptr[first + t], indptr[first + t + 1]):
                j = indices[q]
                v, w = data[q], W[place[j] if len(place) else j]
                for k in range(W.shape[1]):
                    w[k] += v * share[t, k]


@njit(cache=True, nogil=True, fastmath=FAST)
def scatter(sign, first, n, gold, labels, indptr, indices, data, work):
    for t in range(n):
        p, g = labels[first + t], gold[t]
        if p != g:
            for q in range(indptr[first + t], indptr[first + t + 1]):
                w = work[indices[q]]
                if sign == 0.0:
                    w[g], w[p] = 0.0, 0.0
                else:
                    w[g] += sign * data[q]
                    w[p] -= sign * data[q]


@njit(cache=True, nogil=True, fastmath=FAST)
def products(
    new, first, n, count, gold, planes, bounded, indptr, indices, data, own, work, work_steps, gram
):
    # fill row and column `new` of the example's products; `work` is 0 before and after
    scatter(1.0, first, n, gold, planes[new], indptr, indices, data, work)
    for j in range(len(work_steps)):
        for k in range(len(work_steps)):
            work_steps[j, k] = 0.0
    add_steps(first, n, gold, planes[new], 1.0, bounded, work_steps)
    for b in range(count):
        s = dot_steps(first, n, gold, planes[b], bounded, work_steps)
        for t in range(n):
            p, g = planes[b, first + t], gold[t]
            if p != g:
                for q in range(indptr[first + t], indptr[first + t + 1]):
                    w = work[indices[q]]
                    s += data[q] * (w[g] - w[p])
                e = planes[new, first + t]
                if e != g:
                    s += own[first + t] * (2.0 if e == p else 1.0)
        gram[new, b] = s
        gram[b, new] = s
    scatter(0.0, first, n, gold, planes[new], indptr, indices, data, work)


@njit(cache=True, nogil=True, fastmath=FAST)
def settled(
    i, first, n, count, gold, planes, slope, change, gram, alpha, limit, steps, bounded, indptr,
    indices, data, share, W, S,
):  # fmt: skip
    # settle a block and move the weights with it; what was gained
    gained = settle(count, slope, gram, alpha, limit, steps, change)
    none = indices[:0]
    move(
        first, n, count, gold, planes, change, bounded, indptr, indices, data, none, share, W, S
    )  # fmt: skip
    return gained


# ------------------------------------------------------------------ passes
@njit(cache=True, nogil=True, fastmath=FAST)
def full_pass(
    order, oldest, steps, offsets, gold, cost, bounded, indptr, indices, data, own, W, S, limit,
    planes, count, alpha, loss, age, gram, gaps, work, work_steps,
):  # fmt: skip
    # decode every example, take up its labels, settle; leave the gaps as they were met; return how
    # many examples lacked room, and what was gained
    K, most, long = W.shape[1], planes.shape[0], longest(offsets)
    unary, share, best = np.empty((long, K)), np.empty((long, K)), np.empty((long, K))
    labels = np.empty(long, planes.dtype)
    slope, change = np.empty(most), np.empty(most)
    crowded, gained, flat = 0, 0.0, cost.shape[1] == 1
    for i in order:
        first, n, c = offsets[i], offsets[i + 1] - offsets[i], np.int64(count[i])
        right = gold[first : first + n]
        shares(first, n, c, right, planes, alpha[i], share)
        for t in range(n):
            score_row(first + t, indptr, indices, data, W, unary[t])
            for k in range(K):
                unary[t, k] += own[first + t] * share[t, k]
        slopes_of(first, n, c, right, planes, unary, S, bounded, loss[i], slope)
        now = score_of(n, right, unary, S)
        for t in range(n):
            if flat:
                for k in range(K):
                    unary[t, k] += cost[first + t, 0]
                unary[t, right[t]] -= cost[first + t, 0]
            else:
                for k in range(K):
                    unary[t, k] += cost[first + t, k]
        value = decode(n, unary, S, best, labels)
        hinge = value - now
        used, top = 0.0, 0.0
        for m in range(c - 1, -1, -1):
            used += alpha[i, m] * slope[m]
            top = max(top, slope[m])
            age[i, m] = 0 if alpha[i, m] > 0.0 else age[i, m] + 1
            if age[i, m] > oldest and slope[m] <= 0.0:  # the last plane takes its place
                c -= 1
                for t in range(n):
                    planes[m, first + t] = planes[c, first + t]
                for b in range(c + 1):
                    gram[i, m, b] = gram[i, c, b]
                for b in range(c + 1):
                    gram[i, b, m] = gram[i, b, c]
                alpha[i, m], loss[i, m], slope[m] = alpha[i, c], loss[i, c], slope[c]
                age[i, m] = age[i, c]
                alpha[i, c] = 0.0
        count[i] = c
        here = limit[i] * max(hinge, top) - used
        gaps[i] = here
        if hinge - top > 1e-12 * (abs(value) + abs(now)):
            place = c
            if c == most:  # an unused one makes room
                place = -1
                for m in range(c):
                    if alpha[i, m] == 0.0 and (place < 0 or slope[m] < slope[place]):
                        place = m
            if place < 0:
                crowded += 1
            else:
                paid = 0.0
                for t in range(n):
                    planes[place, first + t] = labels[t]
                    if not flat:
                        paid += cost[first + t, labels[t]]
                    elif labels[t] != right[t]:
                        paid += cost[first + t, 0]
                if place == c:
                    c += 1
                    count[i] = c
                alpha[i, place], loss[i, place], slope[place] = 0.0, paid, hinge
                age[i, place] = 0
                products(
                    place, first, n, c, right, planes, bounded, indptr, indices, data, own, work,
                    work_steps, gram[i],
                )  # fmt: skip
        if here > REST * limit[i] and c:
            gained += settled(
                i, first, n, c, right, planes, slope, change, gram[i], alpha[i], limit[i], steps,
                bounded, indptr, indices, data, share, W, S,
            )  # fmt: skip
    return crowded, gained


@njit(cache=True, nogil=True, fastmath=FAST)
def cheap_epochs(
    epochs, goal, few, fade, active, mean, seed, steps, offsets, gold, bounded, indptr, indices,
    data, own, W, S, limit, planes, count, alpha, loss, gram, gaps,
):  # fmt: skip
    # visit examples over their planes until the gap over these is below goal, every second time
    # only those with more than `few` of the mean gap; `mean` follows the multipliers
    np.random.seed(seed)
    K, most, long = W.shape[1], planes.shape[0], longest(offsets)
    unary, share = np.zeros((long, K)), np.empty((long, K))
    slope, change = np.empty(most), np.empty(most)
    leaves = np.empty(long, np.bool_)
    gap, average, everyone, visits, gained, weight = 0.0, 0.0, True, 0, 0.0, 1.0
    for _ in range(epochs):
        shuffle(active)
        if everyone:
            gap = 0.0
        for i in active:
            if not everyone and gaps[i] <= few * average:
                continue
            visits += 1
            first, n, c = offsets[i], offsets[i + 1] - offsets[i], np.int64(count[i])
            right = gold[first : first + n]
            shares(first, n, c, right, planes, alpha[i], share)
            for t in range(n):
                leaves[t] = False
            for m in range(c):
                for t in range(n):
                    leaves[t] |= planes[m, first + t] != right[t]
            for t in range(n):
                if leaves[t]:
                    score_row(first + t, indptr, indices, data, W, unary[t])
                    for k in range(K):
                        unary[t, k] += own[first + t] * share[t, k]
            slopes_of(first, n, c, right, planes, unary, S, bounded, loss[i], slope)
            here = gap_of(c, slope, alpha[i], limit[i])
            gaps[i] = here
            if everyone:
                gap += here
            if here > REST * limit[i]:
                gained += settled(
                    i, first, n, c, right, planes, slope, change, gram[i], alpha[i], limit[i],
                    steps, bounded, indptr, indices, data, share, W, S,
                )  # fmt: skip
        weight = 1.0 / (1.0 + fade / weight)
        follow(weight, active, count, alpha, mean)
        if everyone and gap <= goal:
            break
        average = gap / max(len(active), 1)
        everyone = not everyone
    return visits, gained


@njit(cache=True, nogil=True, fastmath=FAST)
def summed(
    offsets, gold, bounded, indptr, indices, data, place, width, n_labels, planes, count, alpha
):
    # the weights of multipliers over the columns that the given ones became, and those of steps
    W, S = np.zeros((width, n_labels)), np.zeros((n_labels + 1, n_labels + 1))
    share = np.empty((longest(offsets), n_labels))
    for i in range(len(count)):
        first, n, c = offsets[i], offsets[i + 1] - offsets[i], np.int64(count[i])
        if c:
            move(
                first, n, c, gold[first : first + n], planes, alpha[i], bounded, indptr,
                indices, data, place, share, W, S,
            )  # fmt: skip
    return W, S
