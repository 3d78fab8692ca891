r"""A gold output that brings its own costs: numbers that come with the data.

    loss(gold, y) = sum_t weight_t * loss_t(gold_t, y_t)     or     sum_t cost_t(y_t).

>>> import numpy as np, structopt as so
>>> gold = so.losses.Costed("ab", [5.0, 0.5])              # the first position matters more
>>> structure = so.Chain().fitted([np.eye(2)], [gold])
>>> structure.loss(gold, "bb"), structure.loss(gold, "aa"), structure.loss("ab", "aa")
(5.0, 0.5, 1.0)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.errors import InvalidInputError


class Costed:
    """An output in Y together with what its parts cost; elsewhere it behaves as the output.

    Parameters
    ----------
    y : output
        As the structure takes it.
    costs : array
        Finite and at least 0. Of labelled structures: a weight for each part, or a matrix with a
        cost for each part and label (in the order of ``labels_``; gold's is 0); of a `Multiclass`
        a number, or a cost for each label. Of a `Matching` or a `BooleanProgram`: what it costs to
        be wrong about each edge, (left, right), or each part. Of an `Arborescence`: a weight for
        each token, or a matrix [head, token].
    """

    __slots__ = ("costs", "y")

    def __init__(self, y: Any, costs: Any) -> None:
        self.y = y
        try:
            self.costs: Floats = np.array(costs, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInputError(f"The costs of an output are {costs!r}: {error}.") from error
        if not np.all(np.isfinite(self.costs) & (self.costs >= 0)):
            raise InvalidInputError("The costs of an output must be finite numbers >= 0.")

    def __len__(self) -> int:
        return len(self.y)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.y)

    def __getitem__(self, t: Any) -> Any:
        return self.y[t]

    def __eq__(self, other: object) -> bool:
        return bool(self.y == plain(other))

    def __hash__(self) -> int:
        return hash(self.y)

    def __repr__(self) -> str:
        return f"Costed({self.y!r}, {self.costs.tolist()!r})"


def plain(y: Any) -> Any:
    """Return an output without its costs."""
    return y.y if isinstance(y, Costed) else y


def in_order(y: Any, labels: Any) -> Any:
    """Return labels in another form than y has them, with the costs that y brings."""
    return Costed(labels, y.costs) if isinstance(y, Costed) else labels


def any_costed(Y: Any) -> bool:
    """Return whether one of some outputs brings costs."""
    return Costed in set(map(type, Y))


def costs_of(y: Any) -> Floats | None:
    """Return the costs that an output brings; None if it brings none."""
    return y.costs if isinstance(y, Costed) else None
