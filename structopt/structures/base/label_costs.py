r"""What wrong labels cost, part by part: one number a part, or one for each of its labels.

    loss(y) = sum_t c_t [y_t != gold_t]     or     loss(y) = sum_t c_t(y_t).

Arrays of costs have the shape of gold, or one more axis that runs along the labels.

>>> import numpy as np
>>> gold, weight = np.array([0, 1]), np.array([2.0, 1.0])
>>> augmented(np.zeros((2, 2)), gold, weight)
array([[0., 2.],
       [1., 0.]])
>>> paid(weight, gold, np.array([1, 1])), paid(table(weight, gold, 2), gold, np.array([1, 1]))
(array([2., 0.]), array([2., 0.]))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from structopt.arrays import Floats, Ints


def by_label(cost: Floats, gold: Ints) -> bool:
    """Return whether costs differ from label to label."""
    return cost.ndim > gold.ndim


def augmented(scores: Floats, gold: Ints, cost: Floats) -> Floats:
    """Return scores ``[..., label]`` with the cost of each label added."""
    if by_label(cost, gold):
        return scores + cost
    raised = scores + cost[..., None]
    place = gold[..., None]
    np.put_along_axis(raised, place, np.take_along_axis(scores, place, -1), -1)
    return raised


def paid(cost: Floats, gold: Ints, labels: Ints) -> Floats:
    """Return what each part of an output costs."""
    if by_label(cost, gold):
        return np.asarray(np.take_along_axis(cost, labels[..., None], -1)[..., 0])
    return np.where(labels != gold, cost, 0.0)


def table(cost: Floats, gold: Ints, n_labels: int) -> Floats:
    """Return the cost of each label of each part."""
    if by_label(cost, gold):
        return cost
    zeros = np.zeros((*gold.shape, n_labels))
    return augmented(zeros, gold, cost)


def gold_is_free(cost: Floats, gold: Ints) -> bool:
    """Return whether gold itself costs nothing, which it does where it was moved from elsewhere."""
    return not by_label(cost, gold) or not np.any(np.take_along_axis(cost, gold[..., None], -1))


def weighted(rate: Floats | float, cost: Floats) -> Any:
    """Return costs times a factor of each part."""
    factor = np.asarray(rate, dtype=np.float64)
    return cost * (factor[..., None] if factor.ndim and cost.ndim > factor.ndim else factor)
