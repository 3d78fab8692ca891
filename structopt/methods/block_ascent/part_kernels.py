"""Compiled block ascent over parts (see :mod:`structopt.methods.block_ascent.part_blocks`).

Block i has the distinct parts ``first[i] .. first[i] + size[i]`` of the heap, each a row ``source``
of the base at an ``offset`` of the weights, and ``coef[h, m]`` says how often plane m has part h.
The products of the block's planes with each other are ``gram[i]``.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

from structopt.methods.block_ascent.block_kernels import REST, follow, gap_of, settle, shuffle
from structopt.methods.frank_wolfe.kernels import slot_of
from structopt.methods.labels_kernels import FAST

SAME = 1e-11
"""Share of what was summed up to which two values of planes with one margin are of one plane."""


# ------------------------------------------------------------------ one part, one plane
@njit(cache=True, nogil=True, fastmath=FAST)
def dot_row(source, offset, indptr, indices, data, weights):
    total = 0.0
    for q in range(indptr[source], indptr[source + 1]):
        total += data[q] * weights[offset + indices[q]]
    return total


@njit(cache=True, nogil=True, fastmath=FAST)
def add_row(step, source, offset, indptr, indices, data, weights):
    for q in range(indptr[source], indptr[source + 1]):
        weights[offset + indices[q]] += step * data[q]


@njit(cache=True, nogil=True, fastmath=FAST)
def drop(i, m, last, first, size, coef, alpha, loss, age, gram, slope):
    # forget plane m of block i; the last one takes its place
    for h in range(first[i], first[i] + size[i]):
        coef[h, m], coef[h, last] = coef[h, last], 0.0
    if m != last:
        for b in range(last):
            gram[i, m, b] = gram[i, last, b]
            gram[i, b, m] = gram[i, b, last]
        gram[i, m, m] = gram[i, last, last]
        alpha[i, m], loss[i, m], age[i, m] = alpha[i, last], loss[i, last], age[i, last]
        slope[m] = slope[last]
    alpha[i, last] = 0.0


@njit(cache=True, nogil=True, fastmath=FAST)
def merge(i, count, first, size, coef, alpha, loss, age, gram, slope):
    # replace the two planes with the smallest multipliers by their mean: the weights stay
    a, b = 0, 1
    if alpha[i, b] < alpha[i, a]:
        a, b = b, a
    for m in range(2, count):
        if alpha[i, m] < alpha[i, a]:
            a, b = m, a
        elif alpha[i, m] < alpha[i, b]:
            b = m
    total = alpha[i, a] + alpha[i, b]
    share_a = alpha[i, a] / total
    share_b = 1.0 - share_a
    for h in range(first[i], first[i] + size[i]):
        coef[h, a] = share_a * coef[h, a] + share_b * coef[h, b]
    square = (share_a * share_a * gram[i, a, a] + share_b * share_b * gram[i, b, b]
              + 2.0 * share_a * share_b * gram[i, a, b])  # fmt: skip
    for m in range(count):
        gram[i, a, m] = share_a * gram[i, a, m] + share_b * gram[i, b, m]
        gram[i, m, a] = gram[i, a, m]
    gram[i, a, a] = square
    loss[i, a] = share_a * loss[i, a] + share_b * loss[i, b]
    slope[a] = share_a * slope[a] + share_b * slope[b]
    alpha[i, a], age[i, a] = total, 0
    drop(i, b, count - 1, first, size, coef, alpha, loss, age, gram, slope)


@njit(cache=True, nogil=True)
def tidy(i, count, first, size, source, offset, coef):
    # parts that no plane has any more go
    h, end = first[i], first[i] + size[i]
    while h < end:
        used = False
        for m in range(count):
            used |= coef[h, m] != 0.0
        if used:
            h += 1
            continue
        end -= 1
        source[h], offset[h] = source[end], offset[end]
        for m in range(coef.shape[1]):
            coef[h, m] = coef[end, m]
    size[i] = end - first[i]


@njit(cache=True, nogil=True)
def room_for(i, length, used, first, size, space, source, offset, coef):
    # see that block i has room for so many more parts, at the end of the heap if need be
    if size[i] + length <= space[i]:
        return used
    for h in range(size[i]):
        old, new = first[i] + h, used + h
        source[new], offset[new] = source[old], offset[old]
        for m in range(coef.shape[1]):
            coef[new, m] = coef[old, m]
    first[i], space[i] = used, 2 * (size[i] + length)
    return used + space[i]


@njit(cache=True, nogil=True)
def written(
    i, m, begin, end, new_source, new_offset, new_coef, first, size, source, offset, coef, table,
    now,
):  # fmt: skip
    # write parts begin .. end of what was found as plane m of block i, which has none so far
    key_source, key_offset, place, stamp = table
    stop = first[i] + size[i]
    for h in range(first[i], stop):
        s = slot_of(source[h], offset[h], key_source, key_offset, stamp, now)
        stamp[s], key_source[s], key_offset[s], place[s] = now, source[h], offset[h], h
    for p in range(begin, end):
        s = slot_of(new_source[p], new_offset[p], key_source, key_offset, stamp, now)
        if stamp[s] != now:
            stamp[s], key_source[s], key_offset[s] = now, new_source[p], new_offset[p]
            place[s] = stop
            source[stop], offset[stop] = new_source[p], new_offset[p]
            for b in range(coef.shape[1]):
                coef[stop, b] = 0.0
            stop += 1
        coef[place[s], m] += new_coef[p]
    size[i] = stop - first[i]


@njit(cache=True, nogil=True, fastmath=FAST)
def products(i, m, first, size, source, offset, coef, indptr, indices, data, work, gram):
    # fill row and column m, the last, of block i's products; `work` is 0 before and after
    begin, end = first[i], first[i] + size[i]
    for h in range(begin, end):
        if coef[h, m] != 0.0:
            add_row(coef[h, m], source[h], offset[h], indptr, indices, data, work)
    for b in range(m + 1):
        gram[i, m, b] = 0.0
    for h in range(begin, end):
        value = dot_row(source[h], offset[h], indptr, indices, data, work)
        for b in range(m + 1):
            gram[i, m, b] += coef[h, b] * value
    for b in range(m):
        gram[i, b, m] = gram[i, m, b]
    for h in range(begin, end):
        if coef[h, m] != 0.0:
            for q in range(indptr[source[h]], indptr[source[h] + 1]):
                work[offset[h] + indices[q]] = 0.0


# ------------------------------------------------------------------ one block
@njit(cache=True, nogil=True, fastmath=FAST)
def slopes_of(
    i, count, first, size, source, offset, coef, loss, indptr, indices, data, weights, out
):
    for m in range(count):
        out[m] = loss[i, m]
    for h in range(first[i], first[i] + size[i]):
        value = dot_row(source[h], offset[h], indptr, indices, data, weights)
        for m in range(count):
            out[m] -= coef[h, m] * value


@njit(cache=True, nogil=True, fastmath=FAST)
def settled(
    i, count, first, size, source, offset, coef, alpha, gram, limit, steps, indptr, indices, data,
    weights, slope, change,
):  # fmt: skip
    # settle a block and move the weights with it; what was gained
    gained = settle(count, slope, gram[i], alpha[i], limit[i], steps, change)
    for h in range(first[i], first[i] + size[i]):
        step = 0.0
        for m in range(count):
            step += coef[h, m] * change[m]
        if step != 0.0:
            add_row(step, source[h], offset[h], indptr, indices, data, weights)
    return gained


# ------------------------------------------------------------------ passes
@njit(cache=True, nogil=True, fastmath=FAST)
def absorb(
    order, which, ptr, new_source, new_offset, new_coef, margin, oldest, steps, used, first, size,
    space, source, offset, coef, count, alpha, loss, age, gram, limit, gaps, table, now, work,
    indptr, indices, data, weights,
):  # fmt: skip
    # visit blocks, each with the plane which[o] that was found for it, -1 for none; leave the gaps
    # as they were met. Return the end of the heap, the last stamp, and what was gained.
    room = coef.shape[1]
    slope, change = np.empty(room), np.empty(room)
    gained = 0.0
    for o in range(len(order)):
        i, e = order[o], which[o]
        c = np.int64(count[i])
        slopes_of(
            i, c, first, size, source, offset, coef, loss, indptr, indices, data, weights, slope
        )
        before = c
        for m in range(c - 1, -1, -1):
            age[i, m] = 0 if alpha[i, m] > 0.0 else age[i, m] + 1
            if age[i, m] > oldest and slope[m] <= 0.0:
                c -= 1
                drop(i, m, c, first, size, coef, alpha, loss, age, gram, slope)
        spent, top = 0.0, 0.0
        for m in range(c):
            spent += alpha[i, m] * slope[m]
            top = max(top, slope[m])
        value = 0.0
        if e >= 0:  # the weights may have moved since it was found
            value = margin[e]
            for p in range(ptr[e], ptr[e + 1]):
                value -= new_coef[p] * dot_row(
                    new_source[p], new_offset[p], indptr, indices, data, weights
                )
            for m in range(c):
                near = abs(value - slope[m]) <= SAME * (abs(value) + margin[e])
                if near and abs(margin[e] - loss[i, m]) <= SAME * margin[e]:
                    value = 0.0  # it is there
        here = limit[i] * max(top, value) - spent
        gaps[i] = here
        if value > 0.0 and c == room:  # an unused one makes room, or the two that are used least
            least = -1
            for m in range(c):
                if alpha[i, m] == 0.0 and (least < 0 or slope[m] < slope[least]):
                    least = m
            c -= 1
            if least < 0:
                merge(i, c + 1, first, size, coef, alpha, loss, age, gram, slope)
            else:
                drop(i, least, c, first, size, coef, alpha, loss, age, gram, slope)
        if c < before:
            tidy(i, c, first, size, source, offset, coef)
        if value > 0.0:
            used = room_for(i, ptr[e + 1] - ptr[e], used, first, size, space, source, offset, coef)
            now += 1
            written(
                i, c, ptr[e], ptr[e + 1], new_source, new_offset, new_coef, first, size, source,
                offset, coef, table, now,
            )  # fmt: skip
            products(i, c, first, size, source, offset, coef, indptr, indices, data, work, gram)
            alpha[i, c], loss[i, c], slope[c], age[i, c] = 0.0, margin[e], value, 0
            c += 1
        count[i] = c
        if here > REST * limit[i] and c:
            gained += settled(
                i, c, first, size, source, offset, coef, alpha, gram, limit, steps, indptr,
                indices, data, weights, slope, change,
            )  # fmt: skip
    return used, now, gained


@njit(cache=True, nogil=True, fastmath=FAST)
def cheap_epochs(
    epochs, goal, few, fade, active, mean, seed, steps, first, size, source, offset, coef, count,
    alpha, loss, gram, limit, gaps, indptr, indices, data, weights,
):  # fmt: skip
    # visit blocks over their planes until the gap over these is below goal, every second time only
    # those with more than `few` of the mean gap; `mean` follows the multipliers
    np.random.seed(seed)
    slope, change = np.empty(coef.shape[1]), np.empty(coef.shape[1])
    gap, average, everyone, visits, gained, weight = 0.0, 0.0, True, 0, 0.0, 1.0
    for _ in range(epochs):
        shuffle(active)
        if everyone:
            gap = 0.0
        for i in active:
            if not everyone and gaps[i] <= few * average:
                continue
            visits += 1
            c = np.int64(count[i])
            slopes_of(
                i, c, first, size, source, offset, coef, loss, indptr, indices, data, weights,
                slope,
            )  # fmt: skip
            here = gap_of(c, slope, alpha[i], limit[i])
            gaps[i] = here
            if everyone:
                gap += here
            if here > REST * limit[i]:
                gained += settled(
                    i, c, first, size, source, offset, coef, alpha, gram, limit, steps, indptr,
                    indices, data, weights, slope, change,
                )  # fmt: skip
        weight = 1.0 / (1.0 + fade / weight)
        follow(weight, active, count, alpha, mean)
        if everyone and gap <= goal:
            break
        average = gap / max(len(active), 1)
        everyone = not everyone
    return visits, gained


@njit(cache=True, nogil=True, fastmath=FAST)
def summed(first, size, source, offset, coef, count, alpha, indptr, indices, data, n_features):
    # the weights of multipliers, from nothing
    weights = np.zeros(n_features)
    for i in range(len(count)):
        for h in range(first[i], first[i] + size[i]):
            step = 0.0
            for m in range(count[i]):
                step += coef[h, m] * alpha[i, m]
            if step != 0.0:
                add_row(step, source[h], offset[h], indptr, indices, data, weights)
    return weights


@njit(cache=True, nogil=True)
def squares(scratch, ptr, source, offset, coef, indptr, indices, data):
    # |delta_r|^2 of directions; scratch is a vector of zeros, and is again when this returns
    out = np.zeros(len(ptr) - 1)
    for r in range(len(out)):
        for p in range(ptr[r], ptr[r + 1]):
            add_row(coef[p], source[p], offset[p], indptr, indices, data, scratch)
        for p in range(ptr[r], ptr[r + 1]):
            out[r] += coef[p] * dot_row(source[p], offset[p], indptr, indices, data, scratch)
        for p in range(ptr[r], ptr[r + 1]):
            for q in range(indptr[source[p]], indptr[source[p] + 1]):
                scratch[offset[p] + indices[q]] = 0.0
    return out
