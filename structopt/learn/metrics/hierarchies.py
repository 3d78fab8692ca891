r"""Labels in a tree: how far the predicted label is from the gold one.

    loss = mean over positions of the number of edges between gold and predicted label,

so that taking a poodle for a spaniel costs less than taking it for a truck.

>>> parents = {"poodle": "dog", "spaniel": "dog", "dog": "animal", "truck": None, "animal": None}
>>> tree_distance(["poodle", "dog"], ["spaniel", "dog"], parents=parents)
1.0
>>> tree_distance(["poodle"], ["truck"], parents=parents)  # over the root above both
4.0
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.errors import InvalidInputError
from structopt.learn.metrics.counted import Counted, parts, ratio


def tree_distance(
    Y: Sequence[Any],
    predicted: Sequence[Any],
    *,
    parents: Mapping[Any, Any],
    sample_weight: Any = None,
) -> float:
    """Return the mean number of edges between gold and predicted labels.

    Parameters
    ----------
    Y, predicted : sequences
        Labels, or sequences of them.
    parents : mapping
        The label above each; None above those at the top, which hang from one common root.
    sample_weight : array, optional
        Factor of each example.
    """
    return DISTANCE(Y, predicted, sample_weight, parents=parents)


def _counts(Y: Sequence[Any], predicted: Sequence[Any], parents: Mapping[Any, Any]) -> Floats:
    known: dict[Hashable, list[Any]] = {}
    rows = []
    for i, (y, p) in enumerate(zip(Y, predicted, strict=True)):
        gold, given = parts(y, p, i)
        edges = 0
        for pair in zip(gold, given, strict=True):
            a, b = (known.setdefault(k, _road(k, parents)) for k in pair)
            shared = sum(1 for u, v in zip(a, b, strict=False) if u == v)
            edges += len(a) + len(b) - 2 * shared
        rows.append((edges, len(gold)))
    return np.array(rows, dtype=np.float64)


def _road(label: Any, parents: Mapping[Any, Any]) -> list[Any]:
    """Return the labels from the top down to ``label``."""
    road = []
    while label is not None:
        if label not in parents or label in road:
            why = "is above itself" if label in road else "has no entry"
            raise InvalidInputError(
                f"The label {label!r} {why} in parents: map every label to the one above it, and "
                "those at the top to None."
            )
        road.append(label)
        label = parents[label]
    return road[::-1]


DISTANCE = Counted(_counts, ratio, higher_is_better=False)
