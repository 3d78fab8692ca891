"""Compiled loop of :mod:`structopt.learn.component_perceptron`."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def cycle(rows, gold, alpha):
    # visit the components in order and move alpha[class] where one is wrong; return the mistakes
    mistakes, score = 0, np.empty(len(alpha))
    for i in range(len(rows)):
        for k in range(len(alpha)):
            score[k] = 0.0
            for j in range(rows.shape[1]):
                score[k] += alpha[k, j] * rows[i, j]
        said, right = np.argmax(score), gold[i]
        if said != right:
            mistakes += 1
            for j in range(rows.shape[1]):
                alpha[right, j] += rows[i, j]
                alpha[said, j] -= rows[i, j]
    return mistakes
