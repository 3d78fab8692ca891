"""Compiled block ascent over classes (see :mod:`structopt.methods.block_ascent.classes`).

Weights are feature-major, W[column, class]: the scores of one nonzero are one contiguous read. Row
i keeps the ``count[i]`` classes that begin at ``kept[first[i]]``, their multipliers at
``alpha[first[i]]``; the rest of ``limit[i]`` is gold's. ``cost`` has one column (of every class but
gold), or one for each class.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

from structopt.methods.block_ascent.block_kernels import REST, shuffle
from structopt.methods.labels_kernels import FAST, score_row

NEW = 3
"""Classes that a row takes up at most in one pass. At first all are violated: without a bound, 80
classes of drawn rows take twice the time; 2 to 4 hardly differ."""


@njit(cache=True, nogil=True, fastmath=FAST)
def scored_some(i, indptr, indices, data, W, some, n, out):
    # the scores of n classes only, two at once; out and some have room for one more
    first, stop = indptr[i], indptr[i + 1]
    some[n] = some[n - 1]
    for k in range(0, n, 2):
        a, b, x, y = np.uint32(some[k]), np.uint32(some[k + 1]), 0.0, 0.0
        for q in range(first, stop):
            v, j = data[q], np.uint32(indices[q])  # unsigned: no look at what counts from the end
            x += v * W[j, a]
            y += v * W[j, b]
        out[k], out[k + 1] = x, y


@njit(cache=True, nogil=True, fastmath=FAST)
def settle(
    i, n, indptr, indices, data, gold, W, limit, square, kept, alpha, slope, moved, sorted_, some
):
    # The block over n kept classes, solved: with s the multipliers and gold's share, maximise
    # slope.s' - square/2 |s' - s|^2 over the simplex of size limit, a projection. Everything is
    # taken relative to the steepest slope, so that the size survives however small square is.
    square = max(square, 1e-300)  # that of an empty row
    if n == 1:  # the most frequent case, and without sorting
        now = min(max(alpha[0] + 0.5 * slope[0] / square, 0.0), limit)
        change, m, y = now - alpha[0], np.uint32(kept[0]), np.uint32(gold)
        alpha[0] = now
        for q in range(indptr[i], indptr[i + 1]):
            v, j = change * data[q], np.uint32(indices[q])
            W[j, y] += v
            W[j, m] -= v
        return change * (slope[0] - square * change)
    left, steep = limit, 0.0
    for k in range(n):
        left -= alpha[k]
        steep = max(steep, slope[k])
    slope[n] = 0.0
    for k in range(n + 1):
        s = alpha[k] if k < n else max(left, 0.0)
        moved[k] = s + (slope[k] - steep) / square
        j = k
        while j > 0 and sorted_[j - 1] < moved[k]:  # few: by insertion
            sorted_[j] = sorted_[j - 1]
            j -= 1
        sorted_[j] = moved[k]
    total, theta = -limit, 0.0
    for k in range(n + 1):
        total += sorted_[k]
        theta = total / (k + 1)
        if k == n or theta >= sorted_[k + 1]:
            break
    right, gain, length, those = 0.0, 0.0, 0.0, 0
    for k in range(n):
        now = max(moved[k] - theta, 0.0)
        change = now - alpha[k]
        alpha[k] = now
        right += change
        gain += change * slope[k]
        length += change * change
        if change != 0.0:
            moved[those], some[those] = -change, kept[k]
            those += 1
    if those:
        moved[those], some[those] = right, gold
        for k in range(those + 1):
            m, change = np.uint32(some[k]), moved[k]
            for q in range(indptr[i], indptr[i + 1]):
                W[np.uint32(indices[q]), m] += change * data[q]
    return gain - 0.5 * square * (length + right * right)


@njit(cache=True, nogil=True, fastmath=FAST)
def full_pass(
    order, gaps, indptr, indices, data, gold, cost, own, W, limit, square, first, count, kept,
    alpha, to_first, to_count, to_kept, to_alpha,
):  # fmt: skip
    # visit rows with all classes; leave their gaps as they were met, and what they keep one after
    # the other in new arrays; how much that is, and the gain
    K = W.shape[1]
    z, slope, moved = np.empty(K), np.empty(K + 1), np.empty(K + 1)
    sorted_, some = np.empty(K + 1), np.empty(K + 1, np.int32)
    flat = cost.shape[1] == 1
    at, gained = 0, 0.0
    for i in order:
        score_row(i, indptr, indices, data, W, z)
        y, old, n, mass = gold[i], first[i], count[i], 0.0
        for k in range(old, old + n):
            mass += alpha[k]
        base = z[y] + own[i] * mass
        if flat:
            base -= cost[i, 0]
        else:
            for k in range(K):
                z[k] += cost[i, k]
        stay, used, worst, new = 0, 0.0, 0.0, 0
        for k in range(old, old + n):  # classes at zero and not violated are dropped
            m, a = kept[k], alpha[k]
            s = z[m] - base - own[i] * a
            used += a * s
            if a > 0.0 or s > 0.0:
                to_kept[at + stay], to_alpha[at + stay], slope[stay] = m, a, s
                stay += 1
            z[m] = -np.inf
            worst = max(worst, s)
        z[y] = -np.inf
        while new < NEW:  # violated classes are taken up, the worst first
            top = np.argmax(z)
            s = z[top] - base
            worst = max(worst, s)
            if not s > 0.0 or (stay and s <= worst - limit[i] * square[i]):
                break  # a solve would leave it at 0
            to_kept[at + stay], to_alpha[at + stay], slope[stay] = top, 0.0, s
            z[top] = -np.inf
            stay += 1
            new += 1
        to_first[i], to_count[i] = at, stay
        here = limit[i] * worst - used
        gaps[i] = here
        if stay and here > REST * limit[i]:
            gained += settle(
                i, stay, indptr, indices, data, y, W, limit[i], square[i], to_kept[at:],
                to_alpha[at:], slope, moved, sorted_, some,
            )  # fmt: skip
        at += stay
    return at, gained


@njit(cache=True, nogil=True, fastmath=FAST)
def cheap_epochs(
    epochs, goal, few, fade, active, mean, gaps, seed, indptr, indices, data, gold, cost, own, W,
    limit, square, first, count, kept, alpha,
):  # fmt: skip
    # visit rows over their kept classes until the gap over these is below goal; every second time
    # only rows with more than `few` of the mean gap; rows at rest at a bound are set aside; `mean`
    # follows the multipliers
    np.random.seed(seed)
    most, flat = W.shape[1], cost.shape[1] == 1
    slope, moved, sorted_ = np.empty(most + 2), np.empty(most + 1), np.empty(most + 1)
    some = np.empty(most + 2, np.int32)
    n_active, gap, average, visits, everyone = len(active), 0.0, 0.0, 0, True
    gained, weight = 0.0, 1.0
    for _ in range(epochs):
        if everyone:
            gap = 0.0
            shuffle(active[:n_active])
        o = 0
        while o < n_active:
            i = active[o]
            if not everyone and gaps[i] <= few * average:
                o += 1
                continue
            visits += 1
            at, n, y = first[i], count[i], gold[i]
            for k in range(n):
                some[k] = kept[at + k]
            some[n] = y
            scored_some(i, indptr, indices, data, W, some, n + 1, slope)
            worst, used, mass, most_used = 0.0, 0.0, 0.0, 0.0
            for k in range(n):
                mass += alpha[at + k]
                most_used = max(most_used, alpha[at + k])
            for k in range(n):
                paid = cost[i, 0] if flat else cost[i, kept[at + k]]
                slope[k] += paid - slope[n] - own[i] * (mass + alpha[at + k])
                worst = max(worst, slope[k])
                used += alpha[at + k] * slope[k]
            here = limit[i] * worst - used
            if everyone:
                gap += here
            gaps[i] = here
            if here > REST * limit[i]:
                gained += settle(
                    i, n, indptr, indices, data, y, W, limit[i], square[i], kept[at:], alpha[at:],
                    slope, moved, sorted_, some,
                )  # fmt: skip
            elif everyone and (mass == 0.0 or most_used >= limit[i]):
                n_active -= 1
                active[o], active[n_active] = active[n_active], i
                continue
            o += 1
        weight = 1.0 / (1.0 + fade / weight)
        for i in active:
            for k in range(first[i], first[i] + count[i]):
                mean[k] += weight * (alpha[k] - mean[k])
        if everyone and (gap <= goal or n_active == 0):
            break
        average = gap / max(n_active, 1)
        everyone = not everyone
    return visits, gained


@njit(cache=True, nogil=True, fastmath=FAST)
def gain(cost, first, count, kept, alpha):
    # alpha . cost
    flat, total = cost.shape[1] == 1, 0.0
    for i in range(len(first)):
        for k in range(first[i], first[i] + count[i]):
            total += alpha[k] * cost[i, 0 if flat else kept[k]]
    return total


@njit(cache=True, nogil=True, fastmath=FAST)
def summed(indptr, indices, data, column, width, gold, cost, K, limit, first, count, kept, alpha):
    # the weights of the multipliers over the columns that the given ones became, and their gain;
    # where roundings led over the limit the multipliers of a row are scaled back
    W, flat, total = np.zeros((width, K)), cost.shape[1] == 1, 0.0
    for i in range(len(first)):
        mass, stop = 0.0, first[i] + count[i]
        for k in range(first[i], stop):
            mass += alpha[k]
        if mass > 0.0:
            fits = min(1.0, limit[i] / mass)
            for k in range(first[i], stop):
                total += fits * alpha[k] * cost[i, 0 if flat else kept[k]]
            for q in range(indptr[i], indptr[i + 1]):
                row, value = W[column[indices[q]]], fits * data[q]
                row[gold[i]] += mass * value
                for k in range(first[i], stop):
                    row[kept[k]] -= alpha[k] * value
    return W, total
