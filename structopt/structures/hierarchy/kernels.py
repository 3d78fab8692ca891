"""Compiled max-product on stacked trees.

Nodes of all trees are numbered through; ``parent[v]`` is -1 at a root, ``order`` holds parents
before children, tree by tree (``offsets`` delimit the trees in both). Decoders read ``unary[v, k]``
(-inf where a label is not allowed) and ``pair[kind[v], child label, parent label]``.

Of two equally good outputs of `max_product` the one wins that has the smaller label at the first
node, in ``order``, where they differ.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

from structopt.structures.base.semiring_kernels import max_plus


@njit(cache=True, nogil=True)
def top_down(parent):
    # nodes level by level, parents before children; those on or below a cycle are missing
    n = len(parent)
    first = np.zeros(n + 2, np.int64)  # children of u are child[first[u + 1] : first[u + 2]]
    for v in range(n):
        first[parent[v] + 2] += 1
    for u in range(1, n + 2):
        first[u] += first[u - 1]
    fill = first.copy()
    child = np.empty(n, np.int64)
    for v in range(n):
        child[fill[parent[v] + 1]] = v
        fill[parent[v] + 1] += 1
    order = np.empty(n, np.int64)
    size = first[1]  # the roots come first, as children of -1
    order[:size] = child[:size]
    done = 0
    while done < size:
        v = order[done]
        for q in range(first[v + 1], first[v + 2]):
            order[size] = child[q]
            size += 1
        done += 1
    return order[:size]


@njit(cache=True, nogil=True)
def upward(unary, pair, kind, parent, order, best):
    # best[v, k]: the best labelling of the subtree below v whose root has label k
    n_labels = unary.shape[1]
    reach = np.empty(n_labels)
    best[:] = unary
    for q in range(len(order) - 1, -1, -1):
        v = order[q]
        u = parent[v]
        if u >= 0:
            max_plus(best[v], pair[kind[v]], reach)
            above = best[u]
            for k in range(n_labels):
                above[k] += reach[k]


@njit(cache=True, nogil=True)
def first_best(values):
    best, where = -np.inf, 0
    for j in range(len(values)):
        if values[j] > best:
            best, where = values[j], j
    return where


@njit(cache=True, nogil=True)
def first_best_below(values, table, above):
    # smallest j that maximises values[j] + table[j, above]
    best, where = -np.inf, 0
    for j in range(len(values)):
        a = values[j] + table[j, above]
        if a > best:
            best, where = a, j
    return where


@njit(cache=True, nogil=True)
def max_product(unary, pair, kind, parent, order):
    # best output of every tree; costs of the loss are in unary already
    best = np.empty(unary.shape)
    upward(unary, pair, kind, parent, order, best)
    labels = np.empty(len(unary), np.int64)
    for v in order:
        u = parent[v]
        if u < 0:
            labels[v] = first_best(best[v])
        else:
            labels[v] = first_best_below(best[v], pair[kind[v]], labels[u])
    return labels


@njit(cache=True, nogil=True)
def best_other(unary, pair, kind, parent, order, offsets, gold):
    # best output that is not gold, and where there is none. Below a node whose label is not gold's
    # everything is free. With gold's label at v, kept[v] is the score of gold's subtree, left[v]
    # the best of those that leave gold somewhere below: one child at least must leave, and if no
    # child gains by it the one that loses least does.
    n, n_labels = unary.shape
    best = np.empty(unary.shape)
    upward(unary, pair, kind, parent, order, best)
    kept = np.empty(n)
    left = np.full(n, -np.inf)  # while children come in: the least that a child loses by leaving
    stay = np.zeros(n)  # while children come in: their sum, each leaving where it gains
    leaves = np.zeros(n, np.bool_)  # whether some child does, so that none must
    going = np.empty(n)  # what the best labelling of v's subtree that leaves gold gains on gold's
    for v in range(n):
        kept[v] = unary[v, gold[v]]
    for q in range(len(order) - 1, -1, -1):
        v = order[q]
        u, g = parent[v], gold[v]
        # kept[v] and stay[v] are complete: children come before
        below = stay[v] + unary[v, g] if leaves[v] else stay[v] + unary[v, g] + left[v]
        left[v] = below
        keep, leave = kept[v], below
        if u >= 0:
            table, above = pair[kind[v]], gold[u]
            keep += table[g, above]
            leave += table[g, above]
            for j in range(n_labels):
                if j != g and best[v, j] + table[j, above] > leave:
                    leave = best[v, j] + table[j, above]
            kept[u] += keep
            if leave >= keep and leave > -np.inf:
                stay[u] += leave
                leaves[u] = True
            else:
                stay[u] += keep
                left[u] = max(left[u], leave - keep)
        else:
            for j in range(n_labels):
                if j != g and best[v, j] > leave:
                    leave = best[v, j]
        going[v] = leave - keep
    labels = gold.copy()
    missing = np.zeros(len(offsets) - 1, np.bool_)
    leaving = np.zeros(n, np.int64)  # 0 free, 1 stays with gold, 2 leaves it at v or below
    pick = np.empty(n, np.int64)  # the child of v that leaves if none gains by it
    pick[:] = -1
    for q in range(len(order)):
        v = order[q]
        u = parent[v]
        if u >= 0 and going[v] > -np.inf and (pick[u] < 0 or going[v] > going[pick[u]]):
            pick[u] = v
    for i in range(len(offsets) - 1):
        first = -1  # the root that leaves if none gains by it
        for q in range(offsets[i], offsets[i + 1]):
            v = order[q]
            better = going[v] > -np.inf and (first < 0 or going[v] > going[first])
            if parent[v] < 0 and better:
                first = v
        missing[i] = first < 0
        if missing[i]:
            continue
        for q in range(offsets[i], offsets[i + 1]):
            v = order[q]
            u, g = parent[v], gold[v]
            if u < 0:
                leaving[v] = 2 if (going[v] >= 0.0 or v == first) else 1
            elif leaving[u] == 0:
                leaving[v] = 0
            elif leaving[u] == 1:
                leaving[v] = 1
            elif going[v] >= 0.0 or (not leaves[u] and v == pick[u]):
                leaving[v] = 2
            else:
                leaving[v] = 1
            if leaving[v] == 0:
                labels[v] = first_best_below(best[v], pair[kind[v]], labels[u])
            elif leaving[v] == 2:
                where, top = g, left[v]
                if u >= 0:
                    top += pair[kind[v], g, gold[u]]
                for j in range(n_labels):
                    if j != g:
                        a = best[v, j]
                        if u >= 0:
                            a += pair[kind[v], j, gold[u]]
                        if a > top:
                            where, top = j, a
                labels[v] = where
                if where != g:
                    leaving[v] = 0
    return labels, missing


@njit(cache=True, nogil=True)
def k_best(unary, pair, kind, parent, order, k):
    # One tree with one root. values[v, a, r] is the r-th best of the subtree below v with label a,
    # built up child by child; a child c joins with its own k best for a parent's label a (from
    # which label and which rank), and the r-th best of both is a pair of ranks.
    n, n_labels = unary.shape
    values = np.full((n, n_labels, k), -np.inf)
    count = np.zeros((n, n_labels), np.int64)
    from_label = np.zeros((n, n_labels, k), np.int64)
    from_rank = np.zeros((n, n_labels, k), np.int64)
    before = np.zeros((n, n_labels, k), np.int64)  # rank among the earlier children
    joined = np.zeros((n, n_labels, k), np.int64)  # rank in the child's own list
    for v in range(n):
        for a in range(n_labels):
            if unary[v, a] > -np.inf:
                values[v, a, 0] = unary[v, a]
                count[v, a] = 1
    head = np.empty(n_labels, np.int64)
    message = np.empty(k)
    merged = np.empty(k)
    place = np.empty(k, np.int64)
    for q in range(n - 1, 0, -1):
        c = order[q]
        u, table = parent[c], pair[kind[c]]
        for a in range(n_labels):
            if count[u, a] == 0:
                continue
            head[:] = 0
            size = 0
            while size < k:
                best, where = -np.inf, -1
                for j in range(n_labels):
                    if head[j] < count[c, j] and values[c, j, head[j]] + table[j, a] > best:
                        best, where = values[c, j, head[j]] + table[j, a], j
                if where < 0:
                    break
                message[size] = best
                from_label[c, a, size], from_rank[c, a, size] = where, head[where]
                head[where] += 1
                size += 1
            # the k largest sums of two decreasing lists: place[r] is how far rank r has joined
            place[:] = 0
            total = 0
            while total < k:
                best, where = -np.inf, -1
                for r in range(count[u, a]):
                    if place[r] < size and values[u, a, r] + message[place[r]] > best:
                        best, where = values[u, a, r] + message[place[r]], r
                    if place[r] == 0:
                        break
                if where < 0:
                    break
                merged[total] = best
                before[c, a, total], joined[c, a, total] = where, place[where]
                place[where] += 1
                total += 1
            values[u, a, :total] = merged[:total]
            count[u, a] = total
    outputs = np.empty((k, n), np.int64)
    root = order[0]
    head[:] = 0
    rank = np.empty(n, np.int64)
    for r in range(k):
        best, where = -np.inf, -1
        for a in range(n_labels):
            if head[a] < count[root, a] and values[root, a, head[a]] > best:
                best, where = values[root, a, head[a]], a
        if where < 0:
            return outputs[:r]
        outputs[r, root] = where
        rank[root] = head[where]
        head[where] += 1
        # children joined in the reverse of `order`, so the last to join comes first here
        for q in range(1, n):
            c = order[q]
            u = parent[c]
            a = outputs[r, u]
            mine = joined[c, a, rank[u]]
            rank[u] = before[c, a, rank[u]]
            outputs[r, c] = from_label[c, a, mine]
            rank[c] = from_rank[c, a, mine]
    return outputs


@njit(cache=True, nogil=True)
def compare(unary, pair, kind, parent, offsets, gold, cost, labels):
    # loss and score of gold minus score of labels, summed over what differs
    n_examples = len(offsets) - 1
    loss = np.zeros(n_examples)
    score = np.zeros(n_examples)
    for i in range(n_examples):
        for v in range(offsets[i], offsets[i + 1]):
            u = parent[v]
            if labels[v] != gold[v]:
                loss[i] += cost[v]
                score[i] += unary[v, gold[v]] - unary[v, labels[v]]
            if u >= 0 and (labels[v] != gold[v] or labels[u] != gold[u]):
                table = pair[kind[v]]
                score[i] += table[gold[v], gold[u]] - table[labels[v], labels[u]]
    return loss, score


@njit(cache=True, nogil=True)
def differing_parts(
    parent, kind, offsets, gold, labels, which, n_labels, n_inputs, n_edge, row, edge_rows
):
    # directions of the examples `which`: plus gold's part, minus the output's, where they differ;
    # node 0 is the base row `row`, an edge of kind k the base row edge_rows[k]
    most = 0
    for r in range(len(which)):
        most += 4 * (offsets[which[r] + 1] - offsets[which[r]])
    ptr = np.zeros(len(which) + 1, np.int64)
    source = np.empty(most, np.int64)
    offset = np.empty(most, np.int64)
    pairs = n_labels * n_inputs
    p = 0
    for r in range(len(which)):
        for v in range(offsets[which[r]], offsets[which[r] + 1]):
            g, y, u = gold[v], labels[v], parent[v]
            if g != y:
                source[p], offset[p] = row + v, g * n_inputs
                source[p + 1], offset[p + 1] = row + v, y * n_inputs
                p += 2
            if u >= 0 and (g != y or gold[u] != labels[u]):
                source[p] = edge_rows[kind[v]]
                offset[p] = pairs + (gold[u] * n_labels + g) * n_edge
                source[p + 1] = edge_rows[kind[v]]
                offset[p + 1] = pairs + (labels[u] * n_labels + y) * n_edge
                p += 2
        ptr[r + 1] = p
    coef = np.ones(p)
    coef[1::2] = -1.0
    return ptr, source[:p].copy(), offset[:p].copy(), coef
