"""Compiled spanning arborescences: Edmonds' algorithm on dense score tables, O(n^2) a tree.

Nodes are 0 .. n-1 and 0 is the root. ``into[v, u]`` is the score of the arc u -> v, -inf where
there is none. A path grows backwards along best incoming arcs; when it bites its tail the cycle is
contracted into one of its slots, when it reaches what hangs on the root it is done. Each cycle of
L slots costs O(L n), and all of them together have fewer than 2 n slots (Tarjan 1977).

With ``lexical`` an arc's value is the pair (-1 if it leaves the root else 0, score), compared in
that order: the result has as few root arcs as possible, without any large number that would eat
the scores' precision.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

FREE, ON_PATH, DONE, GONE = 0, 1, 2, 3


@njit(cache=True, nogil=True)
def best_into(row, tier, lexical):
    best, where, level = -np.inf, -1, 0
    if not lexical:
        for u in range(len(row)):
            if row[u] > best:
                best, where = row[u], u
        return where
    for u in range(len(row)):
        if row[u] == -np.inf:
            continue
        if where < 0 or tier[u] > level or (tier[u] == level and row[u] > best):
            best, where, level = row[u], u, tier[u]
    return where


@njit(cache=True, nogil=True)
def contract(into, arc, tier, lexical, cycle, state, source, keep):
    # merge the slots of the cycle into `keep`; what enters a member costs the member's cycle arc
    n = len(into)
    for c in cycle:
        least, level = into[c, source[c]], tier[c, source[c]]
        for u in range(n):
            into[c, u] -= least
        if lexical:
            for u in range(n):
                tier[c, u] -= level
    for c in cycle:
        if c == keep:
            continue
        for u in range(n):
            better = into[c, u] > into[keep, u]
            if lexical and into[c, u] > -np.inf and into[keep, u] > -np.inf:
                better = tier[c, u] > tier[keep, u] or (better and tier[c, u] == tier[keep, u])
            if better:
                into[keep, u], arc[keep, u] = into[c, u], arc[c, u]
                tier[keep, u] = tier[c, u]
        state[c] = GONE
    for v in range(n):
        if state[v] > ON_PATH:
            continue
        for c in cycle:
            if c == keep:
                continue
            better = into[v, c] > into[v, keep]
            if lexical and into[v, c] > -np.inf and into[v, keep] > -np.inf:
                better = tier[v, c] > tier[v, keep] or (better and tier[v, c] == tier[v, keep])
            if better:
                into[v, keep], arc[v, keep] = into[v, c], arc[v, c]
                tier[v, keep] = tier[v, c]
            into[v, c] = -np.inf
    into[keep, keep] = -np.inf


@njit(cache=True, nogil=True)
def span(into, lexical, heads):
    # write the head of every node of the best arborescence; False if there is none. Destroys into
    n = len(into)
    arc = np.empty((n, n), np.int64)  # u * n + v of the arc that an entry stands for
    tier = np.zeros((n, n), np.int64)
    for v in range(n):
        for u in range(n):
            arc[v, u] = u * n + v
        into[v, v] = -np.inf
        if lexical:
            tier[v, 0] = -1
    state = np.zeros(n, np.int64)
    state[0] = DONE
    source = np.zeros(n, np.int64)
    name = np.arange(n)  # which node, original or contracted, stands in a slot
    above = np.zeros(2 * n, np.int64)
    chosen = np.zeros(2 * n, np.int64)
    path = np.empty(n, np.int64)
    names = n
    for start in range(1, n):
        if state[start] != FREE:
            continue
        path[0], top = start, 0
        state[start] = ON_PATH
        while top >= 0:
            v = path[top]
            u = best_into(into[v], tier[v], lexical)
            if u < 0:
                return False
            source[v] = u
            chosen[name[v]] = arc[v, u]
            if state[u] == FREE:
                top += 1
                path[top] = u
                state[u] = ON_PATH
            elif state[u] == ON_PATH:
                first = top
                while path[first] != u:
                    first -= 1
                for q in range(first, top + 1):
                    above[name[path[q]]] = names
                contract(into, arc, tier, lexical, path[first : top + 1], state, source, u)
                name[u] = names
                names += 1
                top = first
            else:
                for q in range(top + 1):
                    state[path[q]] = DONE
                top = -1
    # unpack, newest first: the arc into a contracted node replaces the cycle arc of one member
    for whole in range(names - 1, n - 1, -1):
        member = chosen[whole] % n
        while above[member] != whole:
            member = above[member]
        chosen[member] = chosen[whole]
    heads[0] = -1
    for v in range(1, n):
        heads[v] = chosen[v] // n
    return True


@njit(cache=True, nogil=True)
def best_tree(table, single_root, heads):
    # as span, but keeps the table, and asks for one root arc only if the best tree has more
    if not span(table.copy(), False, heads):
        return False
    if not single_root or roots(heads) == 1:
        return True
    span(table.copy(), True, heads)
    return roots(heads) == 1


@njit(cache=True, nogil=True)
def roots(heads):
    count = 0
    for v in range(1, len(heads)):
        count += heads[v] == 0
    return count


@njit(cache=True, nogil=True)
def tables(scores, first, stop, head, dependent, n):
    # scores of the arcs first .. stop-1 as a table [dependent, head], and the arc of each entry
    table = np.full((n, n), -np.inf)
    row = np.full((n, n), -1, np.int64)
    for a in range(first, stop):
        table[dependent[a], head[a]] = scores[a]
        row[dependent[a], head[a]] = a
    return table, row


@njit(cache=True, nogil=True)
def decode(scores, arcs, head, dependent, tokens, single_root):
    # best tree of every sentence as its arcs; the second result is the first sentence that has no
    # tree, or -1
    answer = np.empty(tokens[-1], np.int64)
    for i in range(len(tokens) - 1):
        first, n = tokens[i], tokens[i + 1] - tokens[i] + 1
        table, row = tables(scores, arcs[i], arcs[i + 1], head, dependent, n)
        heads = np.empty(n, np.int64)
        if not best_tree(table, single_root, heads):
            return answer, i
        for v in range(1, n):
            answer[first + v - 1] = row[v, heads[v]]
    return answer, -1


@njit(cache=True, nogil=True)
def total(table, heads):
    value = 0.0
    for v in range(1, len(heads)):
        value += table[v, heads[v]]
    return value


@njit(cache=True, nogil=True)
def best_other(scores, arcs, head, dependent, tokens, gold, single_root):
    # best tree other than gold as arcs (gold where there is no other): it lacks some arc of gold,
    # so if gold is best, each of its arcs is dropped in turn
    answer = gold.copy()
    missing = np.zeros(len(tokens) - 1, np.bool_)
    for i in range(len(tokens) - 1):
        first, n = tokens[i], tokens[i + 1] - tokens[i] + 1
        table, row = tables(scores, arcs[i], arcs[i + 1], head, dependent, n)
        heads = np.empty(n, np.int64)
        found = best_tree(table, single_root, heads)
        same = True
        for v in range(1, n):
            same = same and row[v, heads[v]] == gold[first + v - 1]
        if found and not same:
            for v in range(1, n):
                answer[first + v - 1] = row[v, heads[v]]
            continue
        best = -np.inf
        missing[i] = True
        for dropped in range(1, n):
            right = head[gold[first + dropped - 1]]
            kept = table[dropped, right]
            table[dropped, right] = -np.inf
            if best_tree(table, single_root, heads):
                value = total(table, heads)
                if value > best:
                    best, missing[i] = value, False
                    for v in range(1, n):
                        answer[first + v - 1] = row[v, heads[v]]
            table[dropped, right] = kept
    return answer, missing


@njit(cache=True, nogil=True)
def restricted(table, heads, fixed, banned):
    # the table of the trees that share the heads of nodes 1 .. fixed, and at the next node have
    # none of the banned ones
    inside = table.copy()
    for v in range(1, fixed + 1):
        inside[v] = -np.inf
        inside[v, heads[v]] = table[v, heads[v]]
    if fixed + 1 < len(table):
        for u in range(len(table)):
            if banned[u]:
                inside[fixed + 1, u] = -np.inf
    return inside


@njit(cache=True, nogil=True)
def k_best(table, single_root, k):
    # Lawler's partition: the trees other than the best of a set fall apart by the first node at
    # which they leave it. Returns heads as rows, best first.
    n = len(table)
    room = k * n + 1
    trees = np.empty((room, n), np.int64)
    values = np.full(room, -np.inf)
    fixed = np.zeros(room, np.int64)
    banned = np.zeros((room, n), np.bool_)
    outputs = np.empty((k, n), np.int64)
    count = 0
    if best_tree(table, single_root, trees[0]):
        values[0] = total(table, trees[0])
        count = 1
    for r in range(k):
        top = -1
        for q in range(count):
            if values[q] > -np.inf and (top < 0 or values[q] > values[top]):
                top = q
        if top < 0:
            return outputs[:r]
        outputs[r] = trees[top]
        values[top] = -np.inf
        if r == k - 1:
            break
        for v in range(fixed[top] + 1, n):
            fixed[count] = v - 1
            banned[count] = False
            if v == fixed[top] + 1:
                banned[count] = banned[top]
            banned[count, trees[top, v]] = True
            inside = restricted(table, trees[top], v - 1, banned[count])
            if best_tree(inside, single_root, trees[count]):
                values[count] = total(table, trees[count])
                count += 1
    return outputs


@njit(cache=True, nogil=True)
def compare(scores, tokens, gold, cost, answer):
    # loss and score of gold minus score of the answer, summed over what differs
    n_examples = len(tokens) - 1
    loss = np.zeros(n_examples)
    score = np.zeros(n_examples)
    for i in range(n_examples):
        for t in range(tokens[i], tokens[i + 1]):
            loss[i] += cost[answer[t]]
            if gold[t] != answer[t]:
                score[i] += scores[gold[t]] - scores[answer[t]]
    return loss, score


@njit(cache=True, nogil=True)
def differing_arcs(tokens, gold, answer, which):
    # directions of the examples `which`: plus gold's arc, minus the answer's, where they differ
    most = 0
    for r in range(len(which)):
        most += 2 * (tokens[which[r] + 1] - tokens[which[r]])
    ptr = np.zeros(len(which) + 1, np.int64)
    source = np.empty(most, np.int64)
    p = 0
    for r in range(len(which)):
        for t in range(tokens[which[r]], tokens[which[r] + 1]):
            if gold[t] != answer[t]:
                source[p], source[p + 1] = gold[t], answer[t]
                p += 2
        ptr[r + 1] = p
    coef = np.ones(p)
    coef[1::2] = -1.0
    return ptr, source[:p].copy(), np.zeros(p, np.int64), coef
