"""Compiled alignments of two sequences: the k best by dynamic programming, O(k n m).

Between two matches the symbols of the first sequence that are left out come before those of the
second, so that an alignment is the set of its matches and has one derivation. A cell (i, j) says
that i and j symbols are used up; in it a match, a deletion or an insertion was last (Gotoh 1982).
A match of symbols i and j is the number ``i * m + j``; alignments are increasing numbers.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

from structopt.structures.base.k_best_kernels import count_finite, extend
from structopt.structures.lattice.kernels import common

MATCH, DELETE, INSERT, START = 0, 1, 2, 3


@njit(cache=True, nogil=True)
def fill(value, back, n, m, pair, deleted, inserted, opens, local):
    # the k best ways into every cell; the last two rows are the start and the goal
    size = (n + 1) * (m + 1)
    start, goal = 3 * size, 3 * size + 1
    value[start, 0] = 0.0
    if not local:
        value[0, 0] = 0.0
    for i in range(n + 1):
        for j in range(m + 1):
            at = i * (m + 1) + j
            if i > 0 and j > 0:
                score, before = pair[(i - 1) * m + j - 1], at - m - 2
                for state in range(3):
                    extend(value, back, at, state * size + before, score, state, 0)
                if local:
                    extend(value, back, at, start, score, START, 0)
                    extend(value, back, goal, at, 0.0, MATCH, at)
            if i > 0:
                row, before, score = size + at, at - m - 1, deleted[i - 1]
                extend(value, back, row, before, score + opens[0], MATCH, 0)
                extend(value, back, row, size + before, score, DELETE, 0)
            if j > 0:
                row, before, score = 2 * size + at, at - 1, inserted[j - 1]
                extend(value, back, row, before, score + opens[1], MATCH, 0)
                extend(value, back, row, size + before, score + opens[1], DELETE, 0)
                extend(value, back, row, 2 * size + before, score, INSERT, 0)
    if local:
        extend(value, back, goal, start, 0.0, START, 0)
    else:
        for state in range(3):
            extend(value, back, goal, state * size + size - 1, 0.0, state, size - 1)


@njit(cache=True, nogil=True)
def fill_one(value, back, n, m, pair, deleted, inserted, opens, local):
    # the same for k = 1, which is what training asks: three running maxima instead of lists
    size = (n + 1) * (m + 1)
    goal, best, how, where = 3 * size + 1, -np.inf, START, 0
    if local:
        best = 0.0
    for at in range(size):
        i, j = at // (m + 1), at % (m + 1)
        match, delete, insert = -np.inf, -np.inf, -np.inf
        first, second, third = START, MATCH, MATCH
        if at == 0 and not local:
            match = 0.0
        if i > 0 and j > 0:
            a = at - m - 2
            match = 0.0 if local else -np.inf
            for state in range(3):
                if value[state * size + a, 0] > match:
                    match, first = value[state * size + a, 0], state
            match += pair[(i - 1) * m + j - 1]
            if local and match > best:
                best, how, where = match, MATCH, at
        if i > 0:
            a = at - m - 1
            delete = value[a, 0] + opens[0]
            if value[size + a, 0] > delete:
                delete, second = value[size + a, 0], DELETE
            delete += deleted[i - 1]
        if j > 0:
            a = at - 1
            insert = value[a, 0] + opens[1]
            if value[size + a, 0] + opens[1] > insert:
                insert, third = value[size + a, 0] + opens[1], DELETE
            if value[2 * size + a, 0] > insert:
                insert, third = value[2 * size + a, 0], INSERT
            insert += inserted[j - 1]
        value[at, 0], back[at, 0, 0] = match, first
        value[size + at, 0], back[size + at, 0, 0] = delete, second
        value[2 * size + at, 0], back[2 * size + at, 0, 0] = insert, third
    if not local:
        for state in range(3):
            if value[state * size + size - 1, 0] > best:
                best, how, where = value[state * size + size - 1, 0], state, size - 1
    value[goal, 0] = best
    back[goal, 0, 0], back[goal, 0, 1] = how, where


@njit(cache=True, nogil=True)
def read_off(back, n, m, rank, out):
    # write the matches of one way to the goal, the last first; returns how many
    size, count = (n + 1) * (m + 1), 0
    goal = 3 * size + 1
    state, at, rank = back[goal, rank, 0], back[goal, rank, 1], back[goal, rank, 2]
    while state != START and at > 0:
        row = state * size + at
        i, j = at // (m + 1), at % (m + 1)
        if state == MATCH:
            out[count] = (i - 1) * m + j - 1
            count += 1
            at -= m + 2
        elif state == DELETE:
            at -= m + 1
        else:
            at -= 1
        state, rank = back[row, rank, 0], back[row, rank, 2]
    return count


@njit(cache=True, nogil=True)
def k_best(
    k, a_ends, b_ends, pair_ends, pair, deleted, inserted, opens, local, gold_ptr, gold, extra,
    missed,
):  # fmt: skip
    # The k best alignments of every pair: number r of example e is matches[ptr[e * k + r] ..], for
    # r below found[e]. A match that gold lacks scores extra more, one that it has missed less: the
    # loss, up to a constant.
    examples = len(a_ends) - 1
    ptr = np.zeros(examples * k + 1, np.int64)
    found = np.zeros(examples, np.int64)
    room = 0
    for e in range(examples):
        room += k * min(a_ends[e + 1] - a_ends[e], b_ends[e + 1] - b_ends[e])
    matches = np.empty(room, np.int64)
    for e in range(examples):
        n, m = a_ends[e + 1] - a_ends[e], b_ends[e + 1] - b_ends[e]
        own = pair[pair_ends[e] : pair_ends[e + 1]] + extra
        for g in range(gold_ptr[e], gold_ptr[e + 1]):
            own[gold[g]] -= extra + missed
        rows = 3 * (n + 1) * (m + 1) + 2
        value = np.full((rows, k), -np.inf)
        back = np.zeros((rows, k, 4), np.int32)
        gap_a, gap_b = deleted[a_ends[e] : a_ends[e + 1]], inserted[b_ends[e] : b_ends[e + 1]]
        if k == 1:
            fill_one(value, back, n, m, own, gap_a, gap_b, opens, local)
        else:
            fill(value, back, n, m, own, gap_a, gap_b, opens, local)
        found[e] = count_finite(value[rows - 1])
        one = np.empty(min(n, m), np.int64)
        for r in range(k):
            count = read_off(back, n, m, r, one) if r < found[e] else 0
            end = ptr[e * k + r] + count
            ptr[e * k + r + 1] = end
            for c in range(count):
                matches[end - 1 - c] = one[c]
    return ptr, matches[: ptr[-1]].copy(), found


@njit(cache=True, nogil=True)
def gaps(matches, n, m, local, left_a, left_b, sign, opened):
    # add sign to what is left out of either sequence, and to how often such a run begins
    i, j = 0, 0
    for c in range(len(matches) + 1):
        inside = True
        if c < len(matches):
            to_i, to_j = matches[c] // m, matches[c] % m
            inside = not local or c > 0
        else:
            to_i, to_j = n, m
            inside = not local
        if inside:
            opened[0] += sign * (to_i > i)
            opened[1] += sign * (to_j > j)
            for s in range(i, to_i):
                left_a[s] += sign
            for s in range(j, to_j):
                left_b[s] += sign
        i, j = to_i + 1, to_j + 1


@njit(cache=True, nogil=True)
def differences(
    which, a_ends, b_ends, pair_ends, pair_offset, by_row, pairs_at, deleted_at, inserted_at,
    opens_at, unit, local, good_ptr, good, ptr, matches,
):  # fmt: skip
    # directions of the examples `which`: operations of the good alignment alone, less those of
    # the other alone. Matches are rows of their own (by_row) or columns, all else is columns.
    most = 0
    for e in which:
        most += a_ends[e + 1] - a_ends[e] + b_ends[e + 1] - b_ends[e] + 2
        most += good_ptr[e + 1] - good_ptr[e] + ptr[e + 1] - ptr[e]
    out_ptr = np.zeros(len(which) + 1, np.int64)
    source, offset = np.full(most, unit), np.zeros(most, np.int64)
    coef = np.empty(most)
    c = 0
    for r in range(len(which)):
        e = which[r]
        n, m = a_ends[e + 1] - a_ends[e], b_ends[e + 1] - b_ends[e]
        first, second = good[good_ptr[e] : good_ptr[e + 1]], matches[ptr[e] : ptr[e + 1]]
        p, q = 0, 0
        while p < len(first) or q < len(second):
            if q == len(second) or (p < len(first) and first[p] < second[q]):
                at, sign = pair_ends[e] + first[p], 1.0
                p += 1
            elif p == len(first) or second[q] < first[p]:
                at, sign = pair_ends[e] + second[q], -1.0
                q += 1
            else:
                p += 1
                q += 1
                continue
            if by_row:
                source[c] = pairs_at + at
            else:
                offset[c] = pair_offset[at]
            coef[c] = sign
            c += 1
        left_a, left_b, opened = np.zeros(n), np.zeros(m), np.zeros(2)
        gaps(first, n, m, local, left_a, left_b, 1.0, opened)
        gaps(second, n, m, local, left_a, left_b, -1.0, opened)
        for i in range(n):
            if left_a[i] != 0.0:
                offset[c], coef[c] = deleted_at[a_ends[e] + i], left_a[i]
                c += 1
        for j in range(m):
            if left_b[j] != 0.0:
                offset[c], coef[c] = inserted_at[b_ends[e] + j], left_b[j]
                c += 1
        for o in range(2):
            if opened[o] != 0.0:
                offset[c], coef[c] = opens_at + o, opened[o]
                c += 1
        out_ptr[r + 1] = c
    return out_ptr, source[:c].copy(), offset[:c].copy(), coef[:c].copy()


@njit(cache=True, nogil=True)
def losses(good_ptr, good, ptr, matches, extra, missed):
    # what matches beside gold, and those of gold that are missing, cost
    loss = np.zeros(len(ptr) - 1)
    for e in range(len(loss)):
        first, second = good[good_ptr[e] : good_ptr[e + 1]], matches[ptr[e] : ptr[e + 1]]
        shared = common(first, second)
        loss[e] = extra * (len(second) - shared) + missed * (len(first) - shared)
    return loss


@njit(cache=True, nogil=True)
def total(a_ends, b_ends, pair_ends, pair, deleted, inserted, opens, local, ptr, matches):
    # the score of an alignment of every pair
    out = np.zeros(len(ptr) - 1)
    for e in range(len(out)):
        n, m = a_ends[e + 1] - a_ends[e], b_ends[e + 1] - b_ends[e]
        own = matches[ptr[e] : ptr[e + 1]]
        left_a, left_b, opened = np.zeros(n), np.zeros(m), np.zeros(2)
        gaps(own, n, m, local, left_a, left_b, 1.0, opened)
        for c in own:
            out[e] += pair[pair_ends[e] + c]
        for i in range(n):
            out[e] += left_a[i] * deleted[a_ends[e] + i]
        for j in range(m):
            out[e] += left_b[j] * inserted[b_ends[e] + j]
        out[e] += opened[0] * opens[0] + opened[1] * opens[1]
    return out
