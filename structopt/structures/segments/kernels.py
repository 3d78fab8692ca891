"""Compiled decoding of stacked sequences into segments.

Every decoder reads what :class:`~structopt.structures.segments.scores.SegmentScores` holds and the
``offsets`` of the sequences in the stack, and obeys one tie rule: seen from the end of the
sequence, the first segment in which two equally good outputs differ has the smaller label or, with
the same label, is shorter. Outputs are the label of every position and whether a segment begins.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

from structopt.structures.base.semiring_kernels import max_plus
from structopt.structures.chain.kernels import first_argmax, longest


@njit(cache=True, nogil=True)
def segment_scores(begin, inside, lengths, spans, first, e, out):
    # out[k - 1, y]: the segment of label y over the k positions before e, without its end;
    # returns how many lengths there are
    most, n_labels = lengths.shape
    count = min(most, e)
    run = np.zeros(n_labels)
    for k in range(1, count + 1):
        s = first + e - k
        row, here, size = out[k - 1], begin[s], lengths[k - 1]
        if k > 1:
            after = inside[s + 1]
            for y in range(n_labels):
                run[y] += after[y]
        for y in range(n_labels):
            row[y] = (here[y] + run[y]) + size[y]
        if len(spans):
            more = spans[s, k - 1]
            for y in range(n_labels):
                row[y] += more[y]
    return count


@njit(cache=True, nogil=True)
def viterbi(
    begin, inside, end, lengths, spans, transition, start, stop, offsets, right, right_length, bonus
):
    # The best output, with ``bonus`` added for each segment of ``right``, whose length stands at
    # its last position in right_length (0 elsewhere). Also says whether there is an output.
    n_labels = begin.shape[1]
    most = len(lengths)
    labels = np.zeros(len(begin), np.int64)
    begins = np.ones(len(begin), np.bool_)
    possible = np.ones(len(offsets) - 1, np.bool_)
    size = longest(offsets)
    best = np.empty((size + 1, n_labels))
    reach = np.empty((size, n_labels))
    back = np.empty((size + 1, n_labels), np.int64)
    into = np.ascontiguousarray(transition.T)
    value = np.empty((most, n_labels))
    for i in range(len(offsets) - 1):
        first = offsets[i]
        length = offsets[i + 1] - first
        reach[0] = start
        for e in range(1, length + 1):
            count = segment_scores(begin, inside, lengths, spans, first, e, value)
            own = right_length[first + e - 1]
            if 0 < own <= count:
                value[own - 1, right[first + e - 1]] += bonus
            now, where, last = best[e], back[e], end[first + e - 1]
            now[:] = -np.inf
            where[:] = 1
            for k in range(1, count + 1):
                row, before = value[k - 1], reach[e - k]
                for y in range(n_labels):
                    v = before[y] + row[y]
                    if v > now[y]:
                        now[y] = v
                        where[y] = k
            for y in range(n_labels):
                now[y] += last[y]
            if e < length:
                max_plus(now, transition, reach[e])
        label = first_argmax(best[length], stop)
        possible[i] = best[length, label] + stop[label] > -np.inf
        if not possible[i]:
            continue
        e = length
        while e > 0:
            k = back[e, label]
            for t in range(e - k, e):
                labels[first + t] = label
                begins[first + t] = t == e - k
            e -= k
            if e > 0:
                label = first_argmax(best[e], into[label])
    return labels, begins, possible


@njit(cache=True, nogil=True)
def k_best(begin, inside, end, lengths, spans, transition, start, stop, first, length, k):
    # The k best outputs of one sequence, best first (fewer if there are fewer). Every position and
    # label keeps the k best ways to end a segment there, merged over lengths, and to begin one,
    # merged over the labels before it; among equals by label or length, and then by rank.
    n_labels, most = begin.shape[1], len(lengths)
    ways = np.empty((length + 1, n_labels, k))
    size = np.zeros((length + 1, n_labels, k), np.int64)
    rank = np.zeros((length + 1, n_labels, k), np.int64)
    count = np.zeros((length + 1, n_labels), np.int64)
    entry = np.empty((length, n_labels, k))
    before = np.zeros((length, n_labels, k), np.int64)
    below = np.zeros((length, n_labels, k), np.int64)
    enters = np.zeros((length, n_labels), np.int64)
    value = np.empty((most, n_labels))
    head = np.empty(max(most, n_labels), np.int64)
    for y in range(n_labels):
        entry[0, y, 0] = start[y]
        enters[0, y] = 1 if start[y] > -np.inf else 0
    for e in range(1, length + 1):
        lengths_here = segment_scores(begin, inside, lengths, spans, first, e, value)
        for y in range(n_labels):
            head[:] = 0
            for r in range(k):
                best, where = -np.inf, 0
                for q in range(1, lengths_here + 1):
                    if head[q - 1] < enters[e - q, y]:
                        v = entry[e - q, y, head[q - 1]] + value[q - 1, y]
                        if v > best:
                            best, where = v, q
                if where == 0:
                    break
                ways[e, y, r] = best + end[first + e - 1, y]
                size[e, y, r], rank[e, y, r] = where, head[where - 1]
                head[where - 1] += 1
                count[e, y] = r + 1
        if e == length:
            break
        for y in range(n_labels):
            head[:] = 0
            for r in range(k):
                best, where = -np.inf, -1
                for j in range(n_labels):
                    if head[j] < count[e, j]:
                        v = ways[e, j, head[j]] + transition[j, y]
                        if v > best:
                            best, where = v, j
                if where < 0:
                    break
                entry[e, y, r] = best
                before[e, y, r], below[e, y, r] = where, head[where]
                head[where] += 1
                enters[e, y] = r + 1
    labels = np.empty((k, length), np.int64)
    begins = np.zeros((k, length), np.bool_)
    head[:] = 0
    for r in range(k):
        best, y = -np.inf, -1
        for j in range(n_labels):
            if head[j] < count[length, j] and ways[length, j, head[j]] + stop[j] > best:
                best, y = ways[length, j, head[j]] + stop[j], j
        if y < 0:
            return labels[:r], begins[:r]
        at, e = head[y], length
        head[y] += 1
        while e > 0:
            q, at = size[e, y, at], rank[e, y, at]
            e -= q
            labels[r, e : e + q] = y
            begins[r, e] = True
            y, at = before[e, y, at], below[e, y, at]
    return labels, begins


@njit(cache=True, nogil=True)
def best_other(begin, inside, end, lengths, spans, transition, start, stop, offsets, label, begins):
    # the better one of the two best outputs that is not gold; gold where there is no other
    labels, cuts = label.copy(), begins.copy()
    possible = np.zeros(len(offsets) - 1, np.bool_)
    for i in range(len(offsets) - 1):
        a, b = offsets[i], offsets[i + 1]
        found, marks = k_best(
            begin, inside, end, lengths, spans, transition, start, stop, a, b - a, 2
        )
        for r in range(len(found)):
            same = True
            for t in range(b - a):
                if found[r, t] != label[a + t] or marks[r, t] != begins[a + t]:
                    same = False
                    break
            if not same:
                labels[a:b] = found[r]
                cuts[a:b] = marks[r]
                possible[i] = True
                break
    return labels, cuts, possible


@njit(cache=True, nogil=True)
def totals(begin, inside, end, lengths, spans, transition, start, stop, offsets, labels, begins):
    # the score of every output; segments that are too long count as the longest
    most = len(lengths)
    out = np.zeros(len(offsets) - 1)
    for i in range(len(offsets) - 1):
        total, a = 0.0, offsets[i]
        for t in range(offsets[i], offsets[i + 1]):
            y = labels[t]
            if begins[t]:
                a = t
                total += begin[t, y]
                total += start[y] if t == offsets[i] else transition[labels[t - 1], y]
            else:
                total += inside[t, y]
            if t + 1 == offsets[i + 1] or begins[t + 1]:
                q = min(t - a, most - 1)
                total += end[t, y] + lengths[q, y]
                if len(spans):
                    total += spans[a, q, y]
        out[i] = total + stop[labels[offsets[i + 1] - 1]]
    return out


@njit(cache=True, nogil=True)
def parts_of(first, last, labels, begins, sign, skip_label, skip_begin, places, sizes,
             length_places, rows, p, source, offset, coef):  # fmt: skip
    # The parts of one output that another one (`skip`) lacks, times sign. `rows` holds the base
    # row of position 0, of its first span, and of a single 1; sizes: labels, types, inputs, spans,
    # longest. Tokens are compared by label, all else by segment.
    n_labels, n_types, n_inputs, n_spans, most = sizes
    token, span, one = rows
    a, shared = first, False
    for t in range(first, last + 1):
        y = labels[t]
        if y != skip_label[t]:
            source[p], offset[p], coef[p] = token + t, y * n_inputs, sign
            p += 1
        if begins[t]:
            a = t
            shared = skip_begin[t] and skip_label[t] == y
            if y < n_types and places[2] > places[1] and not shared:
                source[p], offset[p], coef[p] = token + t, places[1] + y * n_inputs, sign
                p += 1
            if t > first:
                j = labels[t - 1]
                if not (skip_begin[t] and skip_label[t] == y and skip_label[t - 1] == j):
                    source[p], offset[p], coef[p] = one, places[5] + j * n_labels + y, sign
                    p += 1
        ends = t == last or begins[t + 1]
        other_ends = t == last or skip_begin[t + 1]
        if skip_label[t] != y or (skip_begin[t] and a < t):
            shared = False
        if ends and y < n_types:
            if places[3] > places[2] and not (other_ends and skip_label[t] == y):
                source[p], offset[p], coef[p] = token + t, places[2] + y * n_inputs, sign
                p += 1
            if not (shared and other_ends):
                if places[4] > places[3]:
                    source[p], offset[p], coef[p] = one, length_places[y] + t - a, sign
                    p += 1
                if n_spans > 0:
                    source[p], offset[p] = span + a * most + t - a, places[4] + y * n_spans
                    coef[p] = sign
                    p += 1
    if places[7] > places[6]:
        y = labels[first]
        if y != skip_label[first]:
            source[p], offset[p], coef[p] = one, places[6] + y, sign
            p += 1
        y = labels[last]
        if y != skip_label[last]:
            source[p], offset[p], coef[p] = one, places[6] + n_labels + y, sign
            p += 1
    return p


@njit(cache=True, nogil=True)
def differing_parts(offsets, label, begin, labels, begins, which, places, sizes, length_places,
                    rows):  # fmt: skip
    # directions of the examples `which`: plus what gold alone has, minus what the output alone has
    room = 0
    for r in range(len(which)):
        room += 12 * (offsets[which[r] + 1] - offsets[which[r]]) + 4
    ptr = np.zeros(len(which) + 1, np.int64)
    source = np.empty(room, np.int64)
    offset = np.empty(room, np.int64)
    coef = np.empty(room)
    p = 0
    for r in range(len(which)):
        first, last = offsets[which[r]], offsets[which[r] + 1] - 1
        p = parts_of(first, last, label, begin, 1.0, labels, begins, places, sizes, length_places,
                     rows, p, source, offset, coef)  # fmt: skip
        p = parts_of(first, last, labels, begins, -1.0, label, begin, places, sizes, length_places,
                     rows, p, source, offset, coef)  # fmt: skip
        ptr[r + 1] = p
    return ptr, source[:p].copy(), offset[:p].copy(), coef[:p].copy()
