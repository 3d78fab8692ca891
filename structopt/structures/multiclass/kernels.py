"""Compiled loops over the scores of classes."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def loss_augmented(scores, gold, cost):
    """Return every row's label of largest score plus cost, its cost, and how far gold is ahead.

    ``cost`` has one column (of every label but gold), or one for each label; of equal labels the
    first wins.

    >>> loss_augmented(np.zeros((1, 3)), np.array([0]), np.ones((1, 1)))
    (array([1]), array([1.]), array([0.]))
    """
    n, flat = len(gold), cost.shape[1] == 1
    labels, loss, ahead = np.empty(n, np.int64), np.empty(n), np.empty(n)
    for i in range(n):
        best, top, paid = 0, -np.inf, 0.0
        for k in range(scores.shape[1]):
            c = cost[i, 0 if flat else k]
            if flat and k == gold[i]:
                c = 0.0
            value = scores[i, k] + c
            if value > top or k == 0 or value != value:
                best, top, paid = k, value, c
                if value != value:  # not a number: as numpy.argmax has it
                    break
        labels[i], loss[i], ahead[i] = best, paid, scores[i, gold[i]] - scores[i, best]
    return labels, loss, ahead
