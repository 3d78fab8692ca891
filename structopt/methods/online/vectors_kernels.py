"""One epoch of a perceptron over label vectors, compiled whole.

Weights are those of the structure: component by component, label by label, input by input. Scores
are summed and ties broken as :mod:`structopt.structures.label_vector.kernels` does it.
"""

# mypy: ignore-errors
from __future__ import annotations

from numba import njit

from structopt.structures.label_vector.kernels import best, scores


@njit(cache=True, nogil=True)
def epoch(order, rate, visits, inputs, gold, cost, n_labels, legal, w, u):
    # visit the examples; w moves by rate[i] delta, u by visits so far times as much
    c, d = inputs.shape[1:]
    mistakes, by_label = 0, cost.shape[2] > 1
    for i in order:
        labels = best(scores(inputs[i : i + 1], w, n_labels), legal)[0]
        paid = 0.0
        for t in range(c):
            if labels[t] != gold[i, t] or by_label:
                paid += cost[i, t, labels[t] if by_label else 0]
        if paid > 0.0:
            mistakes += 1
            a, late = rate[i], visits * rate[i]
            for t in range(c):
                if labels[t] != gold[i, t]:
                    good = (t * n_labels + gold[i, t]) * d
                    bad = (t * n_labels + labels[t]) * d
                    for j in range(d):
                        w[good + j] += a * inputs[i, t, j]
                        w[bad + j] -= a * inputs[i, t, j]
                        if len(u) > 0:
                            u[good + j] += late * inputs[i, t, j]
                            u[bad + j] -= late * inputs[i, t, j]
        visits += 1
    return mistakes
