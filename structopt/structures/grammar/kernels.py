"""Compiled decoding by a grammar: the k best trees of every sentence by CKY, O(k T^3 rules).

A sentence of T tokens has the spans (i, j), 0 <= i < j <= T, numbered in that order by
:func:`span_number`. Each span and symbol keeps its k best derivations, best first, as rows of
``value``; ``back`` says how each came about: production, split, ranks of the children's.

A tree is the increasing sequence of its nodes ``(i * (T + 1) + j) * n_productions + production``.
Trees have one derivation each, so k best derivations are k best trees. Unary rules come with
children first, which is why they must not go in circles.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

from structopt.structures.base.k_best_kernels import extend, insert, join
from structopt.structures.lattice.kernels import common


@njit(cache=True, nogil=True)
def span_number(i, j, length):
    return i * (2 * length - i + 1) // 2 + j - i - 1


@njit(cache=True, nogil=True)
def bonus_of(i, j, symbol, tokens, first, last, span, spans, ends, has_spans):
    # what a label's span scores, beside its rule
    total = 0.0
    if ends:
        total += first[tokens + i, symbol] + last[tokens + j - 1, symbol]
    if has_spans:
        total += span[spans, symbol]
    return total


@njit(cache=True, nogil=True)
def fill(
    value, back, tokens, spans, length, tag_score, first, last, span, rule_score,
    lhs, tag, left_ptr, binary, unary, cost,
):  # fmt: skip
    # the k best derivations of every span and symbol of one sentence
    n_symbols, k = len(tag), value.shape[1]
    ends, has_spans = len(first) > 0, len(span) > 0
    for width in range(1, length + 1):
        for i in range(length - width + 1):
            j = i + width
            s = span_number(i, j, length)
            at = s * n_symbols
            if width == 1:
                for symbol in range(n_symbols):
                    if tag[symbol] >= 0:
                        found = tag_score[tokens + i, symbol] + cost[at + symbol]
                        if found > -np.inf:
                            insert(value, back, at + symbol, found, tag[symbol], -1, 0, 0)
            for m in range(i + 1, j):
                a = span_number(i, m, length) * n_symbols
                b = span_number(m, j, length) * n_symbols
                for left in range(n_symbols):
                    top = value[a + left, 0]
                    if top == -np.inf:
                        continue
                    for r in range(left_ptr[left], left_ptr[left + 1]):
                        row, right = at + binary[r, 1], b + binary[r, 2]
                        score = rule_score[binary[r, 0]]
                        if top + score + value[right, 0] > value[row, k - 1]:
                            join(value, back, row, a + left, right, score, binary[r, 0], m)
            if width > 1:
                for symbol in range(n_symbols):
                    if value[at + symbol, 0] > -np.inf:
                        own = (i, j, symbol, tokens, first, last, span, spans + s, ends, has_spans)
                        value[at + symbol] += cost[at + symbol] + bonus_of(*own)
            for r in range(len(unary)):
                row, child = at + unary[r, 1], at + unary[r, 2]
                if value[child, 0] == -np.inf:
                    continue
                own = (i, j, unary[r, 1], tokens, first, last, span, spans + s, ends, has_spans)
                score = rule_score[unary[r, 0]] + cost[row] + bonus_of(*own)
                extend(value, back, row, child, score, unary[r, 0], -1)


@njit(cache=True, nogil=True)
def collect(back, below, symbol, rank, length, n_symbols, out):
    # write the nodes of a derivation of the whole sentence; returns how many
    stack = np.empty((length + 2, 4), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, length, symbol, rank
    top, count = 1, 0
    while top > 0:
        top -= 1
        i, j, symbol, rank = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        row = span_number(i, j, length) * n_symbols + symbol
        production, m = back[row, rank, 0], back[row, rank, 1]
        out[count] = (i * (length + 1) + j) * len(below) + production
        count += 1
        if below[production, 0] < 0:
            continue
        stack[top, 0], stack[top, 1] = i, j if below[production, 1] < 0 else m
        stack[top, 2], stack[top, 3] = below[production, 0], back[row, rank, 2]
        top += 1
        if below[production, 1] >= 0:
            stack[top, 0], stack[top, 1] = m, j
            stack[top, 2], stack[top, 3] = below[production, 1], back[row, rank, 3]
            top += 1
    return count


@njit(cache=True, nogil=True)
def k_best(
    k, offsets, tag_score, first, last, span, rule_score, lhs, below, tag, left_ptr, binary,
    unary, start, gold_ptr, gold, extra, missed,
):  # fmt: skip
    # The k best trees of every sentence: tree r of sentence i is nodes[ptr[i * k + r] ..], empty
    # where there are fewer. With extra or missed above 0 a bracket that gold lacks scores extra
    # more, one that it has scores missed less: the loss, up to a constant.
    n, n_symbols = len(offsets) - 1, len(tag)
    longest = 0
    for i in range(n):
        longest = max(longest, offsets[i + 1] - offsets[i])
    rows = longest * (longest + 1) // 2 * n_symbols
    every_value = np.empty((rows, k))
    every_back = np.empty((rows, k, 4), np.int32)
    every_cost = np.zeros(rows)
    one = np.empty(2 * longest * n_symbols, np.int64)
    ptr = np.zeros(n * k + 1, np.int64)
    nodes = np.empty(0, np.int64)
    spans = 0
    for i in range(n):
        length = offsets[i + 1] - offsets[i]
        n_spans = length * (length + 1) // 2
        value, back = every_value[: n_spans * n_symbols], every_back[: n_spans * n_symbols]
        cost = every_cost[: n_spans * n_symbols]
        value[:] = -np.inf
        if extra != 0.0 or missed != 0.0:
            cost[:] = extra
            for g in range(gold_ptr[i], gold_ptr[i + 1]):
                cell, production = gold[g] // len(below), gold[g] % len(below)
                s = span_number(cell // (length + 1), cell % (length + 1), length)
                cost[s * n_symbols + lhs[production]] = -missed
        fill(
            value, back, offsets[i], spans, length, tag_score, first, last, span, rule_score,
            lhs, tag, left_ptr, binary, unary, cost,
        )  # fmt: skip
        goal = span_number(0, length, length) * n_symbols + start
        for r in range(k):
            count = 0
            if value[goal, r] > -np.inf:
                count = collect(back, below, start, r, length, n_symbols, one)
            end = ptr[i * k + r] + count
            ptr[i * k + r + 1] = end
            if end > len(nodes):
                more = np.empty(max(2 * len(nodes), end), np.int64)
                more[: len(nodes)] = nodes
                nodes = more
            nodes[end - count : end] = np.sort(one[:count])
        spans += n_spans
    return ptr, nodes[: ptr[-1]].copy()


@njit(cache=True, nogil=True)
def node_score(
    node, tokens, spans, length, tag_score, first, last, span, rule_score, lhs, below
):  # fmt: skip
    cell, production = node // len(lhs), node % len(lhs)
    i, j, symbol = cell // (length + 1), cell % (length + 1), lhs[production]
    if below[production, 0] < 0:
        return tag_score[tokens + i, symbol]
    s = spans + span_number(i, j, length)
    own = (i, j, symbol, tokens, first, last, span, s, len(first) > 0, len(span) > 0)
    return rule_score[production] + bonus_of(*own)


@njit(cache=True, nogil=True)
def compare(
    offsets, tag_score, first, last, span, rule_score, lhs, below, n_symbols,
    gold_ptr, gold, right_ptr, right, ptr, nodes, extra, missed,
):  # fmt: skip
    # w . delta of every tree against gold, and what its brackets cost against what is right;
    # productions stand in the order of their symbols, so brackets increase as nodes do
    n = len(ptr) - 1
    loss, delta = np.zeros(n), np.zeros(n)
    spans = 0
    for e in range(n):
        length = offsets[e + 1] - offsets[e]
        good, found = right[right_ptr[e] : right_ptr[e + 1]], nodes[ptr[e] : ptr[e + 1]]
        a = good // len(lhs) * n_symbols + lhs[good % len(lhs)]
        b = found // len(lhs) * n_symbols + lhs[found % len(lhs)]
        shared = common(a, b)
        loss[e] = extra * (len(b) - shared) + missed * (len(a) - shared)
        if len(found) == 0:
            delta[e] = np.inf
        p, q = gold_ptr[e], ptr[e]
        while p < gold_ptr[e + 1] or q < ptr[e + 1]:
            if q == ptr[e + 1] or (p < gold_ptr[e + 1] and gold[p] < nodes[q]):
                node, sign = gold[p], 1.0
                p += 1
            elif p == gold_ptr[e + 1] or nodes[q] < gold[p]:
                node, sign = nodes[q], -1.0
                q += 1
            else:
                p += 1
                q += 1
                continue
            delta[e] += sign * node_score(
                node, offsets[e], spans, length, tag_score, first, last, span, rule_score, lhs,
                below,
            )  # fmt: skip
        spans += length * (length + 1) // 2
    return loss, delta


@njit(cache=True, nogil=True)
def parts(
    ptr, nodes, coef, which, offsets, span_ends, lhs, rule, tag_place, label_place,
    n_inputs, n_spans, blocks, rules_at, tokens_at, spans_at, unit,
):  # fmt: skip
    # directions of sums of nodes, nodes[ptr[r] ..] those of sentence which[r]: a tag is its
    # token's row, a label a count of its rule, the rows of its ends (if blocks say so), its span's
    n_tags = tag_place.max() + 1
    n_labels = label_place.max() + 1
    ends = blocks > n_tags
    most = len(nodes) * (2 + 2 * ends)
    out_ptr = np.zeros(len(ptr), np.int64)
    source, offset = np.empty(most, np.int64), np.empty(most, np.int64)
    out = np.empty(most)
    c = 0
    for r in range(len(which)):
        e = which[r]
        length, token = offsets[e + 1] - offsets[e], tokens_at + offsets[e]
        for v in range(ptr[r], ptr[r + 1]):
            cell, production = nodes[v] // len(lhs), nodes[v] % len(lhs)
            i, j, symbol = cell // (length + 1), cell % (length + 1), lhs[production]
            begun = c
            if rule[production] < 0:
                source[c], offset[c] = token + i, tag_place[symbol] * n_inputs
                c += 1
            else:
                label = label_place[symbol]
                source[c], offset[c] = unit, rules_at + rule[production]
                c += 1
                if ends:
                    source[c], offset[c] = token + i, (n_tags + label) * n_inputs
                    source[c + 1] = token + j - 1
                    offset[c + 1] = (n_tags + n_labels + label) * n_inputs
                    c += 2
                if n_spans > 0:
                    source[c] = spans_at + span_ends[e] + span_number(i, j, length)
                    offset[c] = blocks * n_inputs + label * n_spans
                    c += 1
            out[begun:c] = coef[v]
        out_ptr[r + 1] = c
    return out_ptr, source[:c].copy(), offset[:c].copy(), out[:c].copy()
