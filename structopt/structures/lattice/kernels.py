"""Compiled decoding of stacked lattices.

Layout as in :mod:`structopt.structures.lattice.inputs`: nodes in topological order, ``in_ptr[v]``
the edges into node v, ``tail[e]`` the node an edge leaves. Every decoder obeys one tie rule: of two
equally good paths the one wins that has the smaller edge number at the last edge where they differ.
Paths are returned as ``ptr, edges``; where there is no such path it is empty.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def best_path(score, node_ptr, in_ptr, tail):
    # the path with the highest score in every lattice: max-plus over the topological order
    n_nodes = len(in_ptr) - 1
    best = np.empty(n_nodes)
    back = np.empty(n_nodes, np.int64)
    ptr = np.zeros(len(node_ptr), np.int64)
    for i in range(len(node_ptr) - 1):
        first, stop = node_ptr[i], node_ptr[i + 1]
        best[first] = 0.0
        for v in range(first + 1, stop):
            value, where = -np.inf, in_ptr[v]
            for e in range(in_ptr[v], in_ptr[v + 1]):
                candidate = best[tail[e]] + score[e]
                if candidate > value:
                    value, where = candidate, e
            best[v], back[v] = value, where
        v, length = stop - 1, 0
        while v != first:
            length += 1
            v = tail[back[v]]
        ptr[i + 1] = ptr[i] + length
    edges = np.empty(ptr[-1], np.int64)
    for i in range(len(node_ptr) - 1):
        v = node_ptr[i + 1] - 1
        for p in range(ptr[i + 1] - 1, ptr[i] - 1, -1):
            edges[p] = back[v]
            v = tail[back[v]]
    return ptr, edges


@njit(cache=True, nogil=True)
def best_outside(score, node_ptr, in_ptr, tail, trie_ptr, parent, label):
    # The best path outside a set of paths, given as a trie: trie nodes trie_ptr[v] ..
    # trie_ptr[v + 1] - 1 are the prefixes that end in lattice node v, label[q] is the last edge of
    # prefix q and parent[q] the prefix before it (-1 at a root). off[v] is the best way to v that
    # has left the trie; a prefix that has not left it has but one score, kept[q].
    n_nodes = len(in_ptr) - 1
    off = np.full(n_nodes, -np.inf)
    kept = np.zeros(len(parent))
    stays = np.full(len(parent), -1)  # stays[q] == e: prefix q followed by e is in the trie
    alive = np.zeros(len(parent), np.bool_)
    ptr = np.zeros(len(node_ptr), np.int64)
    edges = np.empty(n_nodes, np.int64)
    for i in range(len(node_ptr) - 1):
        first, stop = node_ptr[i], node_ptr[i + 1]
        for v in range(first + 1, stop):
            value = -np.inf
            for q in range(trie_ptr[v], trie_ptr[v + 1]):
                kept[q] = kept[parent[q]] + score[label[q]]
            for e in range(in_ptr[v], in_ptr[v + 1]):
                for q in range(trie_ptr[v], trie_ptr[v + 1]):
                    if label[q] == e:
                        stays[parent[q]] = e
                reach = off[tail[e]]
                for q in range(trie_ptr[tail[e]], trie_ptr[tail[e] + 1]):
                    if stays[q] != e and kept[q] > reach:
                        reach = kept[q]
                value = max(value, reach + score[e])
            off[v] = value
        v, length = stop - 1, 0
        # Backwards, with all ways that tie: those that have left the trie before v (`left`), and
        # prefixes that leave it later (`alive`). The smallest edge that one of them allows is next.
        left = off[v] > -np.inf
        reached = left
        while reached and v != first:
            before, chosen = False, -1
            for e in range(in_ptr[v], in_ptr[v + 1]):
                found = False
                for q in range(trie_ptr[v], trie_ptr[v + 1]):
                    if label[q] == e:
                        stays[parent[q]] = e
                        if alive[q]:
                            alive[parent[q]] = True
                            found = True
                if left:
                    before = off[tail[e]] + score[e] == off[v]
                    found = found or before
                    for q in range(trie_ptr[tail[e]], trie_ptr[tail[e] + 1]):
                        if stays[q] != e and kept[q] + score[e] == off[v]:
                            alive[q] = True
                            found = True
                if found:
                    chosen = e
                    break
            for q in range(trie_ptr[v], trie_ptr[v + 1]):
                alive[q] = False
            edges[ptr[i] + length] = chosen
            length += 1
            v, left = tail[chosen], before
        for q in range(trie_ptr[first], trie_ptr[first + 1]):
            alive[q] = False
        edges[ptr[i] : ptr[i] + length] = edges[ptr[i] : ptr[i] + length][::-1].copy()
        ptr[i + 1] = ptr[i] + length
    return ptr, edges[: ptr[-1]].copy()


@njit(cache=True, nogil=True)
def k_best(score, in_ptr, tail, k):
    # The k best paths of one lattice, best first. Every node keeps its k best prefixes (fewer where
    # there are fewer), merged from those of the nodes before it.
    n_nodes = len(in_ptr) - 1
    table = np.zeros(n_nodes + 1, np.int64)
    table[1] = 1
    for v in range(1, n_nodes):
        count = 0
        for e in range(in_ptr[v], in_ptr[v + 1]):
            count = min(k, count + table[tail[e] + 1] - table[tail[e]])
        table[v + 1] = table[v] + count
    value = np.zeros(table[-1])
    edge = np.full(table[-1], -1)
    rank = np.zeros(table[-1], np.int64)
    used = np.zeros(len(tail), np.int64)
    for v in range(1, n_nodes):
        for r in range(table[v], table[v + 1]):
            best, chosen = -np.inf, -1
            for e in range(in_ptr[v], in_ptr[v + 1]):
                place = table[tail[e]] + used[e]
                if place < table[tail[e] + 1]:
                    candidate = value[place] + score[e]
                    if candidate > best:
                        best, chosen = candidate, e
            value[r], edge[r], rank[r] = best, chosen, used[chosen]
            used[chosen] += 1
    count = table[-1] - table[-2]
    ptr = np.zeros(count + 1, np.int64)
    for r in range(count):
        place, length = table[-2] + r, 0
        while edge[place] >= 0:
            place = table[tail[edge[place]]] + rank[place]
            length += 1
        ptr[r + 1] = ptr[r] + length
    edges = np.empty(ptr[-1], np.int64)
    for r in range(count):
        place = table[-2] + r
        for p in range(ptr[r + 1] - 1, ptr[r] - 1, -1):
            edges[p] = edge[place]
            place = table[tail[edge[place]]] + rank[place]
    return ptr, edges, value[table[-2] :].copy()


@njit(cache=True, nogil=True)
def common(a, b):
    # how many numbers two increasing sequences share
    p, q, count = 0, 0, 0
    while p < len(a) and q < len(b):
        if a[p] == b[q]:
            count += 1
            p += 1
            q += 1
        elif a[p] < b[q]:
            p += 1
        else:
            q += 1
    return count


@njit(cache=True, nogil=True)
def compare(score, good_ptr, good, ptr, edges, extra, missed):
    # loss and w . delta of every path against the good one
    n = len(ptr) - 1
    loss, delta = np.zeros(n), np.zeros(n)
    for i in range(n):
        gold, path = good[good_ptr[i] : good_ptr[i + 1]], edges[ptr[i] : ptr[i + 1]]
        shared = common(gold, path)
        loss[i] = extra * (len(path) - shared) + missed * (len(gold) - shared)
        p, q, total = 0, 0, 0.0
        while p < len(gold) or q < len(path):
            if q == len(path) or (p < len(gold) and gold[p] < path[q]):
                total += score[gold[p]]
                p += 1
            elif p == len(gold) or path[q] < gold[p]:
                total -= score[path[q]]
                q += 1
            else:
                p += 1
                q += 1
        delta[i] = total
    return loss, delta


@njit(cache=True, nogil=True)
def differing_edges(good_ptr, good, ptr, edges, which):
    # delta of paths `which` as parts: +1 on edges of the good one alone, -1 on those of the other
    bound = 0
    for i in which:
        bound += good_ptr[i + 1] - good_ptr[i] + ptr[i + 1] - ptr[i]
    out_ptr = np.zeros(len(which) + 1, np.int64)
    source, coef = np.empty(bound, np.int64), np.empty(bound)
    position = 0
    for r in range(len(which)):
        i = which[r]
        p, q = good_ptr[i], ptr[i]
        while p < good_ptr[i + 1] or q < ptr[i + 1]:
            if q == ptr[i + 1] or (p < good_ptr[i + 1] and good[p] < edges[q]):
                source[position], coef[position] = good[p], 1.0
                position += 1
                p += 1
            elif p == good_ptr[i + 1] or edges[q] < good[p]:
                source[position], coef[position] = edges[q], -1.0
                position += 1
                q += 1
            else:
                p += 1
                q += 1
        out_ptr[r + 1] = position
    return out_ptr, source[:position].copy(), coef[:position].copy()


@njit(cache=True, nogil=True)
def distances(good_ptr, good, path, extra, missed):
    # structural distance of one path from each reference
    out = np.empty(len(good_ptr) - 1)
    for g in range(len(out)):
        reference = good[good_ptr[g] : good_ptr[g + 1]]
        shared = common(reference, path)
        out[g] = extra * (len(path) - shared) + missed * (len(reference) - shared)
    return out


@njit(cache=True, nogil=True)
def nearest_pair(ptr, edges, value, good_ptr, good, good_score, extra, missed):
    # Of paths listed best first, the one outside the references that beats the reference nearest to
    # it by most; proven if no path after the list can do better.
    lowest = good_score.min()
    best, chosen, partner = -np.inf, -1, -1
    for r in range(len(ptr) - 1):
        if value[r] - lowest <= best:
            return chosen, partner, True
        apart = distances(good_ptr, good, edges[ptr[r] : ptr[r + 1]], extra, missed)
        near = apart.argmin()
        if apart[near] > 0 and value[r] - good_score[near] > best:
            best, chosen, partner = value[r] - good_score[near], r, near
    return chosen, partner, False
