"""Labels one by one: accuracy of tokens, of whole outputs, and who is taken for whom.

A label that was never seen in training is an error like any other.

>>> token_accuracy([["DT", "NN"], ["VB"]], [["DT", "VB"], ["VB"]])
0.6666666666666666
>>> sequence_accuracy([["DT", "NN"], ["VB"]], [["DT", "VB"], ["VB"]])
0.5
>>> print(confusion([["DT", "NN", "NN"]], [["DT", "VB", "NN"]]))
gold  DT  NN  VB  (predicted)
DT     1   0   0
NN     0   1   1
VB     0   0   0
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.errors import InvalidInputError
from structopt.learn.metrics.counted import Counted, check_outputs, parts, ratio
from structopt.structures.base.labels import LabelSet


def token_accuracy(
    Y: Sequence[Any], predicted: Sequence[Any], *, sample_weight: Any = None
) -> float:
    """Return the share of labels that are right, over all positions of all examples.

    Parameters
    ----------
    Y, predicted : sequences
        Gold and predicted outputs: labels, sequences or arrays of labels, or mappings of nodes to
        labels.
    sample_weight : array, optional
        Factor of each example.
    """
    return TOKENS(Y, predicted, sample_weight)


def sequence_accuracy(
    Y: Sequence[Any], predicted: Sequence[Any], *, sample_weight: Any = None
) -> float:
    """Return the share of examples without a single error; see :func:`token_accuracy`."""
    return SEQUENCES(Y, predicted, sample_weight)


class Confusion(NamedTuple):
    """How often each gold label (row) was given each label (column)."""

    labels: list[Any]
    counts: Ints

    def __str__(self) -> str:
        names = [str(label) for label in self.labels]
        cells = [[str(c) for c in row] for row in self.counts.tolist()]
        first = max(len("gold"), *map(len, names))
        wide = [max(len(n), *(len(row[k]) for row in cells)) for k, n in enumerate(names)]
        lines = [
            "  ".join([head.ljust(first), *(c.rjust(w) for c, w in zip(row, wide, strict=True))])
            for head, row in zip(["gold", *names], [names, *cells], strict=True)
        ]
        return "\n".join([lines[0] + "  (predicted)", *lines[1:]])


def confusion(
    Y: Sequence[Any], predicted: Sequence[Any], *, labels: Iterable[Any] | None = None
) -> Confusion:
    """Count which label was given where which was gold.

    Parameters
    ----------
    Y, predicted : sequences
        As :func:`token_accuracy` takes them.
    labels : iterable, optional
        Rows and columns, in the order wanted; by default all that occur, sorted.
    """
    check_outputs(Y, predicted)
    pairs = [parts(y, p, i) for i, (y, p) in enumerate(zip(Y, predicted, strict=True))]
    known = LabelSet.from_data(side for pair in pairs for side in pair)
    if labels is not None:
        wanted = LabelSet(labels)
        missing = [label for label in known if label not in wanted]
        if missing:
            raise InvalidInputError(f"labels leaves out {missing[:8]}, which occur in the data.")
        known = wanted
    rows, columns = (
        np.concatenate([known.encode(pair[side], example=i) for i, pair in enumerate(pairs)])
        for side in (0, 1)
    )
    k = len(known)
    return Confusion(list(known), np.bincount(rows * k + columns, None, k * k).reshape(k, k))


def _right(Y: Sequence[Any], predicted: Sequence[Any]) -> Floats:
    rows = []
    for i, (y, p) in enumerate(zip(Y, predicted, strict=True)):
        gold, given = parts(y, p, i)
        rows.append((sum(a == b for a, b in zip(gold, given, strict=True)), len(gold)))
    return np.array(rows, dtype=np.float64)


def _whole(Y: Sequence[Any], predicted: Sequence[Any]) -> Floats:
    right = _right(Y, predicted)
    return np.stack([right[:, 0] == right[:, 1], np.ones(len(right))], axis=1).astype(np.float64)


TOKENS = Counted(_right, ratio)
SEQUENCES = Counted(_whole, ratio)
