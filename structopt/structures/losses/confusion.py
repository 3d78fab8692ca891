r"""The loss of labelled structures: what each label costs in the place of each other one.

    loss(gold, y) = sum_t cost[gold_t, y_t],    cost[k, k] = 0.

>>> import numpy as np, structopt as so
>>> loss = so.losses.Confusion({("dog", "cat"): 0.2, ("dog", "car"): 5.0})
>>> structure = so.Chain(loss=loss).fitted([np.eye(3)], [["cat", "dog", "car"]])
>>> structure.loss(["dog", "dog", "cat"], ["cat", "car", "car"])  # what is not named costs 1
6.2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from structopt.arrays import Floats, as_floats
from structopt.errors import InvalidInputError
from structopt.parameters import NonNegative, Parameters


class Confusion(Parameters):
    """A cost for each pair of a right and a predicted label.

    Parameters
    ----------
    costs : mapping of (gold, predicted) to a number, or a matrix
        Finite and at least 0. A matrix has rows for gold and columns for predicted labels, both in
        the order of the structure's ``labels_``, and zeros on its diagonal.
    other : float
        What pairs cost that a mapping does not name.
    """

    checked_in = "confusion"

    def __init__(self, costs: Any, other: NonNegative = 1.0) -> None:
        self.costs = costs
        self.other = other

    def confusion(self, labels: Sequence[Any]) -> Floats:
        """Return the cost of each predicted label (columns) for each gold one (rows)."""
        if not isinstance(self.costs, Mapping):
            return as_floats(self.costs, "costs of losses.Confusion").copy()
        places = {label: k for k, label in enumerate(labels)}
        table = np.full((len(labels), len(labels)), float(self.other))
        np.fill_diagonal(table, 0.0)
        prices = as_floats(list(self.costs.values()), "costs of losses.Confusion")
        for pair, cost in zip(self.costs, prices, strict=True):
            if not (isinstance(pair, tuple) and len(pair) == 2 and set(pair) <= set(places)):
                raise InvalidInputError(
                    f"losses.Confusion names {pair!r}, which is no pair of the labels "
                    f"{list(labels)!r}."
                )
            table[places[pair[0]], places[pair[1]]] = cost
        return table
