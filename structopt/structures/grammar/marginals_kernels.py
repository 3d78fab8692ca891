"""Sums over all trees of a grammar: inside, then the probability of every node from above."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

from structopt.structures.base.semiring_kernels import log_add
from structopt.structures.grammar.kernels import bonus_of, span_number


@njit(cache=True, nogil=True)
def inside(
    value, own, tokens, spans, length, tag_score, first, last, span, rule_score, tag, left_ptr,
    binary, unary, cost,
):  # fmt: skip
    # value: log of the sum over all trees below every span and symbol; own: what the symbol's span
    # adds to each, its cost and, where a rule rewrites it, its bonus
    n_symbols = len(tag)
    ends, has_spans = len(first) > 0, len(span) > 0
    for width in range(1, length + 1):
        for i in range(length - width + 1):
            j = i + width
            s = span_number(i, j, length)
            at = s * n_symbols
            for symbol in range(n_symbols):
                given = (i, j, symbol, tokens, first, last, span, spans + s, ends, has_spans)
                own[at + symbol] = cost[at + symbol] + bonus_of(*given)
                if width == 1 and tag[symbol] >= 0:
                    value[at + symbol] = tag_score[tokens + i, symbol] + cost[at + symbol]
            for m in range(i + 1, j):
                a = span_number(i, m, length) * n_symbols
                b = span_number(m, j, length) * n_symbols
                for left in range(n_symbols):
                    if value[a + left] == -np.inf:
                        continue
                    for r in range(left_ptr[left], left_ptr[left + 1]):
                        found = value[a + left] + value[b + binary[r, 2]] + rule_score[binary[r, 0]]
                        row = at + binary[r, 1]
                        if found > -np.inf:
                            value[row] = log_add(value[row], found + own[row])
            for r in range(len(unary)):
                row, child = at + unary[r, 1], at + unary[r, 2]
                if value[child] > -np.inf:
                    score = rule_score[unary[r, 0]] + own[row]
                    value[row] = log_add(value[row], value[child] + score)


@njit(cache=True, nogil=True)
def downward(
    mass, made, value, own, tokens, length, tag_score, rule_score, tag, left_ptr, binary, unary,
    cost, n_productions,
):  # fmt: skip
    # mass: the probability of every span and symbol, given that of the whole sentence; made: of
    # every span and production
    n_symbols = len(tag)
    for width in range(length, 0, -1):
        for i in range(length - width + 1):
            j = i + width
            s = span_number(i, j, length)
            at, node = s * n_symbols, s * n_productions
            for r in range(len(unary) - 1, -1, -1):
                row, child = at + unary[r, 1], at + unary[r, 2]
                if mass[row] > 0.0 and value[child] > -np.inf:
                    score = value[child] + rule_score[unary[r, 0]] + own[row]
                    share = mass[row] * np.exp(score - value[row])
                    mass[child] += share
                    made[node + unary[r, 0]] += share
            if width == 1:
                for symbol in range(n_symbols):
                    row = at + symbol
                    if tag[symbol] >= 0 and mass[row] > 0.0:
                        score = tag_score[tokens + i, symbol] + cost[row]
                        made[node + tag[symbol]] += mass[row] * np.exp(score - value[row])
            for m in range(i + 1, j):
                a = span_number(i, m, length) * n_symbols
                b = span_number(m, j, length) * n_symbols
                for left in range(n_symbols):
                    if value[a + left] == -np.inf:
                        continue
                    for r in range(left_ptr[left], left_ptr[left + 1]):
                        row, right = at + binary[r, 1], b + binary[r, 2]
                        if mass[row] == 0.0 or value[right] == -np.inf:
                            continue
                        found = value[a + left] + value[right] + rule_score[binary[r, 0]]
                        share = mass[row] * np.exp(found + own[row] - value[row])
                        mass[a + left] += share
                        mass[right] += share
                        made[node + binary[r, 0]] += share


@njit(cache=True, nogil=True)
def marginals(
    loss_weight, offsets, tag_score, first, last, span, rule_score, lhs, below, tag, left_ptr,
    binary, unary, start, right_ptr, right, extra, missed,
):  # fmt: skip
    # The nodes of all trees of every sentence with their probabilities (nodes[ptr[i] ..] those of
    # sentence i), log Z, and the expected cost of brackets up to the constant missed * |right|.
    n, n_symbols, n_productions = len(offsets) - 1, len(tag), len(lhs)
    ptr = np.zeros(n + 1, np.int64)
    nodes, chance = np.empty(0, np.int64), np.empty(0)
    log_z, paid = np.empty(n), np.zeros(n)
    spans = 0
    for e in range(n):
        length = offsets[e + 1] - offsets[e]
        n_spans = length * (length + 1) // 2
        cost = np.full(n_spans * n_symbols, extra)
        for g in range(right_ptr[e], right_ptr[e + 1]):
            cell, production = right[g] // n_productions, right[g] % n_productions
            s = span_number(cell // (length + 1), cell % (length + 1), length)
            cost[s * n_symbols + lhs[production]] = -missed
        value, own = np.full(len(cost), -np.inf), np.empty(len(cost))
        inside(
            value, own, offsets[e], spans, length, tag_score, first, last, span, rule_score, tag,
            left_ptr, binary, unary, loss_weight * cost,
        )  # fmt: skip
        goal = span_number(0, length, length) * n_symbols + start
        log_z[e] = value[goal]
        mass, made = np.zeros(len(cost)), np.zeros(n_spans * n_productions)
        if value[goal] > -np.inf:
            mass[goal] = 1.0
            downward(
                mass, made, value, own, offsets[e], length, tag_score, rule_score, tag, left_ptr,
                binary, unary, loss_weight * cost, n_productions,
            )  # fmt: skip
        paid[e] = np.sum(mass * cost)
        count = np.count_nonzero(made)
        ptr[e + 1] = ptr[e] + count
        if ptr[e + 1] > len(nodes):
            size = max(2 * len(nodes), ptr[e + 1])
            more, also = np.empty(size, np.int64), np.empty(size)
            more[: ptr[e]], also[: ptr[e]] = nodes[: ptr[e]], chance[: ptr[e]]
            nodes, chance = more, also
        c = ptr[e]
        for i in range(length):
            for j in range(i + 1, length + 1):
                at = span_number(i, j, length) * n_productions
                for production in range(n_productions):
                    if made[at + production] != 0.0:
                        nodes[c] = (i * (length + 1) + j) * n_productions + production
                        chance[c] = made[at + production]
                        c += 1
        spans += n_spans
    return ptr, nodes[: ptr[-1]].copy(), chance[: ptr[-1]].copy(), log_z, paid
