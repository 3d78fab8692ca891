r"""Segmentations: intersection over union.

    IoU_k = |{gold = k} & {predicted = k}| / |{gold = k} | {predicted = k}|

over the pixels, nodes or points of all examples; the mean over the labels k that occur.

>>> iou([[[0, 0], [1, 1]]], [[[0, 1], [1, 1]]])
0.5833333333333333
>>> iou_by_label([[[0, 0], [1, 1]]], [[[0, 1], [1, 1]]])
{0: 0.5, 1: 0.6666666666666666}
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.learn.metrics.counted import Counted, check_outputs, divided, parts
from structopt.structures.base.labels import LabelSet


def iou(
    Y: Sequence[Any],
    predicted: Sequence[Any],
    *,
    labels: Iterable[Any] | None = None,
    sample_weight: Any = None,
) -> float:
    """Return the mean intersection over union (Jaccard index) of labels, 0 to 1.

    Parameters
    ----------
    Y, predicted : sequences
        Label maps: arrays of any shape, sequences, or mappings of nodes to labels.
    labels : iterable, optional
        Labels that count, such as ``[1]`` for the foreground; by default all that occur.
    sample_weight : array, optional
        Factor of each example.
    """
    return OVERLAP(Y, predicted, sample_weight, labels=labels)


def iou_by_label(Y: Sequence[Any], predicted: Sequence[Any]) -> dict[Any, float]:
    """Return the intersection over union of every label; see :func:`iou`."""
    check_outputs(Y, predicted)
    known, table = _tables(Y, predicted, None)
    together = table.sum(axis=0)
    return dict(zip(known, divided(together[:, 0], together[:, 1]).tolist(), strict=True))


def _tables(
    Y: Sequence[Any], predicted: Sequence[Any], labels: Iterable[Any] | None
) -> tuple[list[Any], Floats]:
    """Return the labels, and the sizes of intersection and union by example and label."""
    pairs = [
        parts(y, p, i)
        for i, (y, p) in enumerate(zip(map(_array, Y), map(_array, predicted), strict=True))
    ]
    known = LabelSet.from_data(side for pair in pairs for side in pair)
    chosen = list(known) if labels is None else list(LabelSet(labels))
    table = np.zeros((len(pairs), len(chosen), 2))
    for i, pair in enumerate(pairs):
        gold, given = (known.encode(side, example=i) for side in pair)
        for k, label in enumerate(chosen):
            code = known.encode([label])[0] if label in known else -1
            a, b = gold == code, given == code
            table[i, k] = np.count_nonzero(a & b), np.count_nonzero(a | b)
    return chosen, table


def _array(y: Any) -> Any:
    # rows of pixels are no labels
    return np.asarray(y) if isinstance(y, list) else y


def _counts(
    Y: Sequence[Any], predicted: Sequence[Any], labels: Iterable[Any] | None = None
) -> Floats:
    table = _tables(Y, predicted, labels)[1]
    return table.reshape(len(table), -1)


def _value(counts: Floats) -> Floats:
    table = counts.reshape(*counts.shape[:-1], -1, 2)
    either = table[..., 1] > 0
    return divided(divided(table[..., 0], table[..., 1]).sum(axis=-1), either.sum(axis=-1))


OVERLAP = Counted(_counts, _value)
