"""Compiled steps of block-coordinate Frank-Wolfe (see :mod:`structopt.methods.frank_wolfe.blocks`).

Block i holds up to S planes. Plane k of block i has its parts at ``first[i, k] .. + size[i, k]`` of
the heap (source, offset, coef), a margin, a multiplier alpha, and its products with the block's
other planes in ``gram[i]``. The metric is the inverse curvature: w = metric * sum alpha plane.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def slot_of(source, offset, key_source, key_offset, stamp, now):
    # the place of a part in an open hash table that is emptied by raising `now`
    mask = len(stamp) - 1
    h = (source * 1000003 + offset * 7919) & mask
    while stamp[h] == now and (key_source[h] != source or key_offset[h] != offset):
        h = (h + 1) & mask
    return h


@njit(cache=True, nogil=True)
def dot_part(source, offset, indptr, indices, data, dense):
    s = 0.0
    for q in range(indptr[source], indptr[source + 1]):
        s += data[q] * dense[offset + indices[q]]
    return s


@njit(cache=True, nogil=True)
def add_part(step, source, offset, indptr, indices, data, metric, dense):
    for q in range(indptr[source], indptr[source + 1]):
        j = offset + indices[q]
        dense[j] += step * data[q] * metric[j]


@njit(cache=True, nogil=True)
def block_products(i, count, first, size, heap, base, table, now, dense, out):
    # out[k] = plane k . dense, one product per distinct part; leaves the parts in `table`
    source, offset, coef = heap
    indptr, indices, data = base
    key_source, key_offset, value, stamp = table
    for k in range(count[i]):
        total = 0.0
        for p in range(first[i, k], first[i, k] + size[i, k]):
            h = slot_of(source[p], offset[p], key_source, key_offset, stamp, now)
            if stamp[h] != now:
                stamp[h], key_source[h], key_offset[h] = now, source[p], offset[p]
                value[h] = dot_part(source[p], offset[p], indptr, indices, data, dense)
            total += coef[p] * value[h]
        out[k] = total


@njit(cache=True, nogil=True)
def holds_last(i, used, length, bound, count, first, size, heap, margin):
    # whether block i has the plane already whose parts were just written at `used`
    source, offset, coef = heap
    for k in range(count[i]):
        if size[i, k] != length or margin[i, k] != bound:
            continue
        same = True
        for p in range(length):
            q = first[i, k] + p
            if (source[q] != source[used + p] or offset[q] != offset[used + p]
                    or coef[q] != coef[used + p]):  # fmt: skip
                same = False
                break
        if same:
            return True
    return False


@njit(cache=True, nogil=True)
def drop(i, k, count, first, size, margin, alpha, idle, gram):
    # forget plane k of block i; the last one takes its place
    last = count[i] - 1
    if k != last:
        first[i, k], size[i, k] = first[i, last], size[i, last]
        margin[i, k], alpha[i, k], idle[i, k] = margin[i, last], alpha[i, last], idle[i, last]
        gram[i, k, :] = gram[i, last, :]
        gram[i, :, k] = gram[i, :, last]
        gram[i, k, k] = gram[i, last, last]
    alpha[i, last] = 0.0
    count[i] = last


@njit(cache=True, nogil=True)
def merge(i, used, count, first, size, heap, margin, alpha, idle, gram, table, now):
    # replace the two planes with the smallest multipliers by their mean; w does not change
    a, b = 0, 1
    if alpha[i, b] < alpha[i, a]:
        a, b = b, a
    for k in range(2, count[i]):
        if alpha[i, k] < alpha[i, a]:
            a, b = k, a
        elif alpha[i, k] < alpha[i, b]:
            b = k
    total = alpha[i, a] + alpha[i, b]
    share_a = alpha[i, a] / total if total > 0.0 else 0.0
    share_b = 1.0 - share_a
    source, offset, coef = heap
    key_source, key_offset, value, stamp = table
    begin = used
    for k, share in ((a, share_a), (b, share_b)):
        if share == 0.0:
            continue
        for p in range(first[i, k], first[i, k] + size[i, k]):
            h = slot_of(source[p], offset[p], key_source, key_offset, stamp, now)
            if stamp[h] != now:
                stamp[h], key_source[h], key_offset[h] = now, source[p], offset[p]
                value[h] = used
                source[used], offset[used], coef[used] = source[p], offset[p], 0.0
                used += 1
            coef[int(value[h])] += share * coef[p]
    # parts that cancel need no place
    kept = begin
    for p in range(begin, used):
        if coef[p] != 0.0:
            source[kept], offset[kept], coef[kept] = source[p], offset[p], coef[p]
            kept += 1
    square = (share_a * share_a * gram[i, a, a] + share_b * share_b * gram[i, b, b]
              + 2.0 * share_a * share_b * gram[i, a, b])  # fmt: skip
    for k in range(count[i]):
        gram[i, a, k] = share_a * gram[i, a, k] + share_b * gram[i, b, k]
        gram[i, k, a] = gram[i, a, k]
    gram[i, a, a] = square
    margin[i, a] = share_a * margin[i, a] + share_b * margin[i, b]
    first[i, a], size[i, a], alpha[i, a], idle[i, a] = begin, kept - begin, total, 0
    drop(i, b, count, first, size, margin, alpha, idle, gram)
    return kept


@njit(cache=True, nogil=True)
def pairwise(slope, square, mass, steps):
    # maximise slope.d - 1/2 d'Gd over mass + d on its simplex: from the flattest plane that has
    # mass to the steepest, with exact line search
    c = len(mass)
    for _ in range(steps):
        up, down = 0, -1
        for k in range(c):
            if slope[k] > slope[up]:
                up = k
            if mass[k] > 0.0 and (down < 0 or slope[k] < slope[down]):
                down = k
        rise = slope[up] - slope[down]
        if rise <= 0.0:
            break
        width = square[up, up] + square[down, down] - 2.0 * square[up, down]
        step = mass[down]
        if width * step > rise:
            step = rise / width
            mass[down] -= step
        else:
            mass[down] = 0.0
        mass[up] += step
        for k in range(c):
            slope[k] -= step * (square[up, k] - square[down, k])


@njit(cache=True, nogil=True)
def move(i, mass, count, first, size, heap, alpha, base, metric, w, table, now):
    # take over the multipliers of block i, whose parts are in `table`, and move w once per part
    source, offset, coef = heap
    key_source, key_offset, value, stamp = table
    for k in range(count[i]):
        for p in range(first[i, k], first[i, k] + size[i, k]):
            value[slot_of(source[p], offset[p], key_source, key_offset, stamp, now)] = 0.0
    for k in range(count[i]):
        change = mass[k] - alpha[i, k]
        if change != 0.0:
            for p in range(first[i, k], first[i, k] + size[i, k]):
                h = slot_of(source[p], offset[p], key_source, key_offset, stamp, now)
                value[h] += change * coef[p]
    for k in range(count[i]):
        for p in range(first[i, k], first[i, k] + size[i, k]):
            h = slot_of(source[p], offset[p], key_source, key_offset, stamp, now)
            if value[h] != 0.0:
                add_part(value[h], source[p], offset[p], base[0], base[1], base[2], metric, w)
                value[h] = 0.0
        alpha[i, k] = mass[k]


@njit(cache=True, nogil=True)
def visit(i, cap, steps, count, first, size, heap, margin, alpha, idle, gram, base, metric, w,
          table, now, slope, mass, square):  # fmt: skip
    # maximise the dual over block i's planes; return the block's gap as it was before
    c = count[i]
    if c == 0:
        return 0.0
    block_products(i, count, first, size, heap, base, table, now, w, slope)
    rest, used, worst = cap, 0.0, 0.0
    for k in range(c):
        slope[k] = margin[i, k] - slope[k]
        mass[k] = alpha[i, k]
        rest -= alpha[i, k]
        used += alpha[i, k] * slope[k]
        worst = max(worst, slope[k])
        square[k, :c] = gram[i, k, :c]
        square[k, c] = 0.0
    # the plane of gold itself, which is 0 everywhere; what rounding leaves it is no mass to move
    slope[c], mass[c] = 0.0, (rest if rest > 1e-14 * cap else 0.0)
    square[c, : c + 1] = 0.0
    pairwise(slope[: c + 1], square, mass[: c + 1], steps)
    if np.any(mass[:c] != alpha[i, :c]):
        move(i, mass, count, first, size, heap, alpha, base, metric, w, table, now)
    for k in range(c):
        idle[i, k] = 0 if alpha[i, k] > 0.0 else idle[i, k] + 1
    return cap * worst - used


@njit(cache=True, nogil=True)
def forget(i, patience, count, first, size, margin, alpha, idle, gram):
    # drop idle planes of block i: all beyond patience, and the one idle longest if it is full
    for k in range(count[i] - 1, -1, -1):
        if alpha[i, k] == 0.0 and idle[i, k] > patience:
            drop(i, k, count, first, size, margin, alpha, idle, gram)
    if count[i] < first.shape[1]:
        return
    oldest = -1
    for k in range(count[i]):
        if alpha[i, k] == 0.0 and (oldest < 0 or idle[i, k] > idle[i, oldest]):
            oldest = k
    if oldest >= 0:
        drop(i, oldest, count, first, size, margin, alpha, idle, gram)


@njit(cache=True, nogil=True)
def absorb(begin, examples, ptr, parts, margins, cap, steps, patience, used, count, first, size,
           heap, margin, alpha, idle, gram, base, metric, w, table, now, gaps,
           dense):  # fmt: skip
    # from `begin` on, give each block its new plane and visit it; stop where heap or table might
    # not do. `dense` is a vector of zeros in feature space, and is again when this returns.
    slots = first.shape[1]
    slope, mass = np.empty(slots + 1), np.empty(slots + 1)
    square = np.empty((slots + 1, slots + 1))
    source, offset, coef = heap
    indptr, indices, data = base
    added = 0
    for e in range(begin, len(examples)):
        i = examples[e]
        length, held = ptr[e + 1] - ptr[e], 0
        for k in range(count[i]):
            held += size[i, k]
        if used + length + held > len(source) or 2 * (length + held) > len(table[0]):
            return e, held + length, used, now, added
        forget(i, patience, count, first, size, margin, alpha, idle, gram)
        if count[i] == slots:
            now += 1
            used = merge(i, used, count, first, size, heap, margin, alpha, idle, gram, table, now)
        for p in range(length):
            source[used + p] = parts[0][ptr[e] + p]
            offset[used + p] = parts[1][ptr[e] + p]
            coef[used + p] = parts[2][ptr[e] + p]
        if not holds_last(i, used, length, margins[e], count, first, size, heap, margin):
            last = count[i]
            first[i, last], size[i, last] = used, length
            margin[i, last], alpha[i, last], idle[i, last] = margins[e], 0.0, 0
            count[i], used, added = last + 1, used + length, added + 1
            begin_parts = first[i, last]
            for p in range(begin_parts, used):
                add_part(coef[p], source[p], offset[p], indptr, indices, data, metric, dense)
            now += 1
            block_products(i, count, first, size, heap, base, table, now, dense, slope)
            for k in range(count[i]):
                gram[i, last, k] = slope[k]
                gram[i, k, last] = slope[k]
            for p in range(begin_parts, used):
                for q in range(indptr[source[p]], indptr[source[p] + 1]):
                    dense[offset[p] + indices[q]] = 0.0
        now += 1
        gaps[i] = visit(i, cap[i], steps, count, first, size, heap, margin, alpha, idle, gram,
                        base, metric, w, table, now, slope, mass, square)  # fmt: skip
    return len(examples), 0, used, now, added


@njit(cache=True, nogil=True)
def sweep(order, cap, steps, count, first, size, heap, margin, alpha, idle, gram, base, metric, w,
          table, now, gaps):  # fmt: skip
    slots = first.shape[1]
    slope, mass = np.empty(slots + 1), np.empty(slots + 1)
    square = np.empty((slots + 1, slots + 1))
    for o in range(len(order)):
        i = order[o]
        now += 1
        gaps[i] = visit(i, cap[i], steps, count, first, size, heap, margin, alpha, idle, gram,
                        base, metric, w, table, now, slope, mass, square)  # fmt: skip
    return now


@njit(cache=True, nogil=True)
def pull(count, first, size, heap, alpha, base, metric, w):
    # w = metric * sum alpha plane, from nothing
    source, offset, coef = heap
    w[:] = 0.0
    for i in range(len(count)):
        for k in range(count[i]):
            if alpha[i, k] == 0.0:
                continue
            for p in range(first[i, k], first[i, k] + size[i, k]):
                add_part(alpha[i, k] * coef[p], source[p], offset[p], base[0], base[1], base[2],
                         metric, w)  # fmt: skip
