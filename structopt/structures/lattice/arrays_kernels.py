"""Compiled reading of lattices that come as arrays: order, reach, paths, prefixes."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def between(node_ptr, arc_ptr, tail, head):
    # The place of every node in topological order among those between source and sink of its
    # lattice (-1 for the others; nodes that are in order stay so), how many there are, and the
    # first lattice with a cycle (1) or without a path (2).
    n = len(node_ptr) - 1
    place = np.full(node_ptr[-1], -1, np.int64)
    counts = np.zeros(n, np.int64)
    largest = 0
    for i in range(n):
        largest = max(largest, node_ptr[i + 1] - node_ptr[i])
    ends = np.empty(largest + 1, np.int64)
    degree = np.empty(largest, np.int64)
    order = np.empty(largest, np.int64)
    ahead = np.empty(largest, np.bool_)
    behind = np.empty(largest, np.bool_)
    for i in range(n):
        size = node_ptr[i + 1] - node_ptr[i]
        first, stop = arc_ptr[i], arc_ptr[i + 1]
        sorted_already = True
        for e in range(first, stop):
            if tail[e] >= head[e]:
                sorted_already = False
        out = np.empty(stop - first, np.int64)  # arcs by tail
        ends[: size + 1] = 0
        for e in range(first, stop):
            ends[tail[e] + 1] += 1
        for v in range(size):
            ends[v + 1] += ends[v]
        degree[:size] = ends[:size]
        for e in range(first, stop):
            out[degree[tail[e]]] = e
            degree[tail[e]] += 1
        if sorted_already:
            for v in range(size):
                order[v] = v
        else:
            degree[:size] = 0
            for e in range(first, stop):
                degree[head[e]] += 1
            known = 0
            for v in range(size):
                if degree[v] == 0:
                    order[known] = v
                    known += 1
            done = 0
            while done < known:
                v = order[done]
                done += 1
                for k in range(ends[v], ends[v + 1]):
                    u = head[out[k]]
                    degree[u] -= 1
                    if degree[u] == 0:
                        order[known] = u
                        known += 1
            if known < size:
                return place, counts, i, 1
        ahead[:size] = False
        behind[:size] = False
        ahead[0] = True
        for v in order[:size]:
            if ahead[v]:
                for k in range(ends[v], ends[v + 1]):
                    ahead[head[out[k]]] = True
        behind[size - 1] = True
        for v in order[:size][::-1]:
            for k in range(ends[v], ends[v + 1]):
                if behind[head[out[k]]]:
                    behind[v] = True
        if not ahead[size - 1]:
            return place, counts, i, 2
        for v in order[:size]:
            if ahead[v] and behind[v]:
                place[node_ptr[i] + v] = counts[i]
                counts[i] += 1
    return place, counts, -1, 0


@njit(cache=True, nogil=True)
def first_broken(path_ptr, edges, owner, node_ptr, tail, head):
    # The first path that does not lead from source to sink, and where: the step at which it breaks,
    # its length where it does not end in the sink; -1 where all are well.
    for p in range(len(path_ptr) - 1):
        at = node_ptr[owner[p]]
        for k in range(path_ptr[p], path_ptr[p + 1]):
            if edges[k] < 0 or tail[edges[k]] != at:
                return p, k - path_ptr[p]
            at = head[edges[k]]
        if at != node_ptr[owner[p] + 1] - 1:
            return p, path_ptr[p + 1] - path_ptr[p]
    return -1, 0


@njit(cache=True, nogil=True)
def prefixes(source, references, path_ptr, edges, head):
    # The trie of every lattice's paths, roots included: the node in which each prefix ends, the
    # prefix before it and its last edge. Children of a prefix are a linked list.
    bound = len(source) + path_ptr[-1]
    at = np.empty(bound, np.int64)
    parent = np.full(bound, -1, np.int64)
    label = np.full(bound, -1, np.int64)
    child = np.full(bound, -1, np.int64)
    sibling = np.full(bound, -1, np.int64)
    size = 0
    for i in range(len(source)):
        root = size
        at[root] = source[i]
        size += 1
        for p in range(references[i], references[i + 1]):
            prefix = root
            for e in edges[path_ptr[p] : path_ptr[p + 1]]:
                longer = child[prefix]
                while longer >= 0 and label[longer] != e:
                    longer = sibling[longer]
                if longer < 0:
                    longer = size
                    size += 1
                    at[longer], parent[longer], label[longer] = head[e], prefix, e
                    sibling[longer], child[prefix] = child[prefix], longer
                prefix = longer
    return at[:size].copy(), parent[:size].copy(), label[:size].copy()
