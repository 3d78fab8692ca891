"""Compiled parts of minimum error rate training."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def first_best(score, list_ptr):
    # the best hypothesis of every list, the first of equals
    chosen = np.empty(len(list_ptr) - 1, np.int64)
    for i in range(len(chosen)):
        best = list_ptr[i]
        for h in range(list_ptr[i] + 1, list_ptr[i + 1]):
            if score[h] > score[best]:
                best = h
        chosen[i] = best
    return chosen


@njit(cache=True, nogil=True)
def envelopes(intercept, slope, list_ptr):
    # Upper envelope of the lines intercept + gamma * slope of every list: who wins at gamma ->
    # -infinity, and at each later change the step, the loser and the winner.
    first = np.empty(len(list_ptr) - 1, np.int64)
    step = np.empty(len(slope))
    loser = np.empty(len(slope), np.int64)
    winner = np.empty(len(slope), np.int64)
    count = 0
    for i in range(len(first)):
        start, stop = list_ptr[i], list_ptr[i + 1]
        order = np.argsort(slope[start:stop], kind="mergesort") + start
        hull = np.empty(stop - start, np.int64)
        since = np.empty(stop - start)
        size = 0
        for h in order:
            if size > 0 and slope[hull[size - 1]] == slope[h]:
                if intercept[h] <= intercept[hull[size - 1]]:
                    continue
                size -= 1
            cross = -np.inf
            while size > 0:
                top = hull[size - 1]
                cross = (intercept[top] - intercept[h]) / (slope[h] - slope[top])
                if cross > since[size - 1]:
                    break
                size -= 1
            hull[size] = h
            since[size] = cross if size > 0 else -np.inf
            size += 1
        first[i] = hull[0]
        for r in range(1, size):
            step[count], loser[count], winner[count] = since[r], hull[r - 1], hull[r]
            count += 1
    return first, step[:count].copy(), loser[:count].copy(), winner[:count].copy()
