"""Compiled search over the states of constrained labellings."""

# mypy: ignore-errors
from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def best(
    unary, transition, start, end, ptr, row, value, lower, upper, barred, tolerance, most
):  # fmt: skip
    # The best labels, none if there are none, and how many states were taken: above ``most``, it
    # gave up. Column t K + k of the rows is ptr[..], row, value. A barred labelling is a row more:
    # at most T - 1 of its labels.
    T, K = unary.shape
    R, B = len(lower), len(barred)
    none = np.empty(0, np.int64)
    lowest, highest = np.zeros((T + 1, R + B)), np.zeros((T + 1, R + B))  # of positions t and on
    low = np.concatenate((lower, np.full(B, -np.inf))) - tolerance
    high = np.concatenate((upper, np.full(B, T - 1.0))) + tolerance
    chained = np.any(transition != 0.0)  # else the last label is no part of a state
    times, least, largest = np.zeros(R, np.int64), np.zeros(R), np.zeros(R)
    for t in range(T - 1, -1, -1):
        lowest[t], highest[t] = lowest[t + 1], highest[t + 1]
        open_ = 0
        for k in range(K):
            if unary[t, k] > -np.inf:
                open_ += 1
                for e in range(ptr[t * K + k], ptr[t * K + k + 1]):
                    r, v = row[e], value[e]
                    if times[r] == 0 or v < least[r]:
                        least[r] = v
                    if times[r] == 0 or v > largest[r]:
                        largest[r] = v
                    times[r] += 1
        for k in range(K):
            for e in range(ptr[t * K + k], ptr[t * K + k + 1]):
                r = row[e]
                if times[r] > 0:
                    if times[r] < open_:  # other labels count 0
                        least[r], largest[r] = min(least[r], 0.0), max(largest[r], 0.0)
                    lowest[t, r] += least[r]
                    highest[t, r] += largest[r]
                    times[r] = 0
        highest[t, R:] += 1.0
    ahead = np.full((T, K), -np.inf)  # best score after position t with label k
    for k in range(K):
        ahead[T - 1, k] = end[k]
    for t in range(T - 2, -1, -1):
        for j in range(K):
            for k in range(K):
                ahead[t, j] = max(ahead[t, j], transition[j, k] + unary[t + 1, k] + ahead[t + 1, k])
    # nodes are prefixes, looked at when they are taken; activities only of those that were
    parent, label, place, score = [-1], [0], [-1], [0.0]
    where = [-1]
    activity = np.zeros((most + 1, R + B))
    seen = {np.int64(0): np.int64(-1)}
    heap = [(0.0, 0)]
    taken = 0
    while len(heap) > 0:
        node = heappop(heap)[1]
        t, k = place[node], label[node]
        if taken >= most:
            return none, most + 1
        own = activity[taken]
        if node > 0:
            own[:] = activity[where[parent[node]]]
            for e in range(ptr[t * K + k], ptr[t * K + k + 1]):
                own[row[e]] += value[e]
            for b in range(B):
                if barred[b, t] == k:
                    own[R + b] += 1.0
        possible = True
        code = np.int64(t * K + (k if chained else 0) + 1)
        for r in range(R + B):
            a = own[r]
            if np.isnan(a):
                continue
            least_, most_ = a + lowest[t + 1, r], a + highest[t + 1, r]
            if least_ > high[r] or most_ < low[r]:
                possible = False
                break
            if least_ >= low[r] and most_ <= high[r]:
                own[r] = np.nan  # satisfied whatever follows
            else:
                code = code * 1000003 + np.int64(a * 1024.0) * 8191 + r
        if not possible:
            continue
        if t == T - 1:
            labels = np.empty(T, np.int64)
            while node > 0:
                labels[place[node]] = label[node]
                node = parent[node]
            return labels, taken
        if node > 0:
            before = seen.get(code, np.int64(-1))
            if before >= 0 and place[before] == t and (label[before] == k or not chained):
                same = True
                other = activity[where[before]]
                for r in range(R + B):
                    if own[r] != other[r] and not (np.isnan(own[r]) and np.isnan(other[r])):
                        same = False
                        break
                if same:
                    continue
            seen[code] = np.int64(node)
        where[node] = taken
        taken += 1
        for k2 in range(K):
            gain = unary[t + 1, k2] + (start[k2] if t < 0 else transition[k, k2])
            total = score[node] + gain
            bound = total + ahead[t + 1, k2]
            if bound > -np.inf:
                parent.append(node)
                label.append(k2)
                place.append(t + 1)
                score.append(total)
                where.append(-1)
                heappush(heap, (-bound, len(parent) - 1))
    return none, taken
