"""Compiled projective arborescences: Eisner's algorithm, O(k T^3), on the tables of the others.

No two arcs of a projective tree cross when all are drawn above the sentence, the root in front of
it. Half trees over tokens i .. j, whose head is i (RIGHT) or j (LEFT), are built from smaller ones:
the outermost arc of the head leads to m, and what lies between them is OPEN, two half trees that
face each other. Every tree is built in one way, so k best derivations are k best trees (Eisner
1996).

The functions take what those of :mod:`structopt.structures.arborescence.kernels` take.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit

from structopt.structures.arborescence.kernels import tables
from structopt.structures.base.k_best_kernels import count_finite, join

OPEN, LEFT, RIGHT = 0, 1, 2


@njit(cache=True, nogil=True)
def item(kind, i, j, n):
    return (kind * n + i) * n + j


@njit(cache=True, nogil=True)
def k_best(table, single_root, k):
    # heads of the k best projective trees as rows, best first (fewer if there are fewer)
    n = len(table)
    value = np.full((3 * n * n + 1, k), -np.inf)
    back = np.empty((3 * n * n + 1, k, 4), np.int32)
    first = 1 if single_root else 0
    for i in range(first, n):
        value[item(LEFT, i, i, n), 0] = value[item(RIGHT, i, i, n), 0] = 0.0
    for width in range(1, n - first):
        for i in range(first, n - width):
            j = i + width
            row = item(OPEN, i, j, n)
            bar = -np.inf  # what must be beaten, kept here: most splits do not
            for m in range(i, j):
                a, b = item(RIGHT, i, m, n), item(LEFT, m + 1, j, n)
                if value[a, 0] + value[b, 0] > bar:
                    join(value, back, row, a, b, 0.0, 0, m)
                    bar = value[row, k - 1]
            row = item(LEFT, i, j, n)
            bar = -np.inf
            for m in range(i, j):
                a, b = item(LEFT, i, m, n), item(OPEN, m, j, n)
                if value[a, 0] + table[m, j] + value[b, 0] > bar:
                    join(value, back, row, a, b, table[m, j], 0, m)
                    bar = value[row, k - 1]
            row = item(RIGHT, i, j, n)
            bar = -np.inf
            for m in range(i + 1, j + 1):
                a, b = item(OPEN, i, m, n), item(RIGHT, m, j, n)
                if value[a, 0] + table[m, i] + value[b, 0] > bar:
                    join(value, back, row, a, b, table[m, i], 0, m)
                    bar = value[row, k - 1]
    goal = item(RIGHT, 0, n - 1, n)
    if single_root:
        goal = 3 * n * n
        for m in range(1, n):
            a, b = item(LEFT, 1, m, n), item(RIGHT, m, n - 1, n)
            join(value, back, goal, a, b, table[m, 0], 0, m)
    count = count_finite(value[goal])
    trees = np.full((count, n), -1, np.int64)
    for r in range(count):
        read_off(back, goal, r, n, trees[r])
    return trees


@njit(cache=True, nogil=True)
def read_off(back, goal, rank, n, heads):
    # write the heads of one derivation
    stack = np.empty((2 * n + 2, 2), np.int64)
    stack[0, 0], stack[0, 1] = goal, rank
    top = 1
    while top > 0:
        top -= 1
        at, rank = stack[top, 0], stack[top, 1]
        kind, i, j = at // (n * n), at // n % n, at % n
        if kind <= RIGHT and i == j:
            continue
        m = back[at, rank, 1]
        if kind == OPEN:
            a, b = item(RIGHT, i, m, n), item(LEFT, m + 1, j, n)
        elif kind == LEFT:
            heads[m] = j
            a, b = item(LEFT, i, m, n), item(OPEN, m, j, n)
        elif kind == RIGHT:
            heads[m] = i
            a, b = item(OPEN, i, m, n), item(RIGHT, m, j, n)
        else:  # the only root arc
            heads[m] = 0
            a, b = item(LEFT, 1, m, n), item(RIGHT, m, n - 1, n)
        stack[top, 0], stack[top, 1] = a, back[at, rank, 2]
        stack[top + 1, 0], stack[top + 1, 1] = b, back[at, rank, 3]
        top += 2


@njit(cache=True, nogil=True)
def decode(scores, arcs, head, dependent, tokens, single_root):
    # best tree of every sentence as its arcs; the second result is the first sentence that has no
    # tree, or -1
    answer = np.empty(tokens[-1], np.int64)
    for i in range(len(tokens) - 1):
        first, n = tokens[i], tokens[i + 1] - tokens[i] + 1
        table, row = tables(scores, arcs[i], arcs[i + 1], head, dependent, n)
        trees = k_best(table, single_root, 1)
        if len(trees) == 0:
            return answer, i
        for v in range(1, n):
            answer[first + v - 1] = row[v, trees[0, v]]
    return answer, -1


@njit(cache=True, nogil=True)
def best_other(scores, arcs, head, dependent, tokens, gold, single_root):
    # best tree other than gold as arcs (gold where there is no other): one of the two best
    answer = gold.copy()
    missing = np.ones(len(tokens) - 1, np.bool_)
    for i in range(len(tokens) - 1):
        first, n = tokens[i], tokens[i + 1] - tokens[i] + 1
        table, row = tables(scores, arcs[i], arcs[i + 1], head, dependent, n)
        trees = k_best(table, single_root, 2)
        for r in range(len(trees)):
            same = True
            for v in range(1, n):
                same = same and row[v, trees[r, v]] == gold[first + v - 1]
            if not same:
                missing[i] = False
                for v in range(1, n):
                    answer[first + v - 1] = row[v, trees[r, v]]
                break
    return answer, missing
