r"""Scores that are functions of counts summed over examples.

    score = value(sum_i weight_i * counts_i),      counts_i = what example i adds.

Accuracy, F1 over spans, attachment, alignment error and IoU are all of this kind, so that a
bootstrap or a permutation of thousands of data sets costs one matrix product instead of thousands
of evaluations.

>>> import numpy as np
>>> share = Counted(lambda Y, P: np.array([[y == p, 1.0] for y, p in zip(Y, P)]), ratio)
>>> share("abc", "abd")
0.6666666666666666
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.errors import InvalidInputError


@dataclass(frozen=True)
class Counted:
    """A score in two steps: counts of every example, and the value of their sums.

    Attributes
    ----------
    count : callable
        ``count(Y, predicted, **options)`` returns one row of counts an example.
    value : callable
        Rows of summed counts to one score a row.
    higher_is_better : bool
    """

    count: Callable[..., Floats]
    value: Callable[[Floats], Floats]
    higher_is_better: bool = True

    def __call__(
        self, Y: Sequence[Any], predicted: Sequence[Any], sample_weight: Any = None, **options: Any
    ) -> float:
        """Return the score of a data set."""
        check_outputs(Y, predicted)
        counts = self.count(Y, predicted, **options)
        return float(self.value(check_weight(sample_weight, len(counts)) @ counts))


def ratio(counts: Floats) -> Floats:
    """Return the first count over the second; 0 of 0 is 0."""
    return divided(counts[..., 0], counts[..., 1])


def divided(above: Any, below: Any) -> Floats:
    """Return ``above / below``, and 0 where ``below`` is 0."""
    above, below = np.broadcast_arrays(np.asarray(above, float), np.asarray(below, float))
    shares: Floats = np.divide(above, below, out=np.zeros(above.shape), where=below > 0)
    return shares


def check_outputs(Y: Sequence[Any], predicted: Sequence[Any]) -> None:
    """Refuse an empty data set, and gold and predicted outputs of different number."""
    if len(Y) != len(predicted) or not len(Y):
        raise InvalidInputError(
            f"{len(Y)} gold and {len(predicted)} predicted outputs: give one of each per example, "
            "and at least one example."
        )


def check_weight(sample_weight: Any, n: int) -> Floats:
    """Return one finite weight >= 0 an example; None is a weight of 1 for each."""
    if sample_weight is None:
        return np.ones(n)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n,) or not np.isfinite(weight).all() or weight.min() < 0:
        raise InvalidInputError(
            f"sample_weight has shape {weight.shape} for {n} examples: give one finite number >= 0 "
            "for each."
        )
    return weight


def parts(gold: Any, predicted: Any, example: int) -> tuple[list[Any], list[Any]]:
    """Return two outputs as lists of labels that can be compared one by one.

    Outputs are single labels, sequences or arrays of labels, or mappings (of nodes to labels).

    >>> parts("ab", ["a", "c"], 0), parts("spam", "ham", 0), parts({1: "x"}, {1: "y"}, 0)
    ((['a', 'b'], ['a', 'c']), (['spam'], ['ham']), (['x'], ['y']))
    """
    if isinstance(gold, Mapping) and isinstance(predicted, Mapping):
        if gold.keys() != predicted.keys():
            raise InvalidInputError(
                f"Gold and predicted output of example {example} label different nodes.",
                example=example,
            )
        return list(gold.values()), [predicted[node] for node in gold]
    whole = isinstance(predicted, str) or np.ndim(predicted) == 0
    if whole and (isinstance(gold, str) or np.ndim(gold) == 0):
        return [gold], [predicted]
    a, b = _labels(gold), _labels(predicted)
    if len(a) != len(b):
        raise InvalidInputError(
            f"Example {example} has {len(a)} gold but {len(b)} predicted labels.", example=example
        )
    return a, b


def _labels(y: Any) -> list[Any]:
    if isinstance(y, np.ndarray):
        return list(y.ravel().tolist())
    return list(y) if isinstance(y, Sequence | set | frozenset) else [y]
