"""An epoch of a perceptron over label vectors as one compiled call."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.engines.dataset import DataSet
from structopt.methods.online.vectors_kernels import epoch
from structopt.structures.base.label_costs import table
from structopt.structures.label_vector.shard import LabelVectorShard


class VectorWalk(NamedTuple):
    """Label vectors as the loop reads them; the weights w and the late sums u are the method's.

    Attributes
    ----------
    inputs : array of shape (n, c, d)
    gold : array of int, shape (n, c)
    cost : array of shape (n, c) or (n, c, K)
        What a wrong label costs, or each label.
    n_labels : int
    legal : array of int, shape (L, c)
        Empty if every vector is legal.
    """

    inputs: Floats
    gold: Ints
    cost: Floats
    n_labels: int
    legal: Ints

    @classmethod
    def of(cls, data: DataSet) -> VectorWalk | None:
        """Return the walk over a data set, None if it is not one of label vectors, all known."""
        shards: list[Any] = data.shards
        if any(type(shard) is not LabelVectorShard for shard in shards) or data.unknown.any():
            return None
        first = shards[0]
        if len(shards) == 1:
            return cls(first.inputs, first.gold, first.cost, first.n_labels, first.legal)
        costs = [shard.cost for shard in shards]
        if len({cost.ndim for cost in costs}) > 1:
            costs = [table(shard.cost, shard.gold, shard.n_labels) for shard in shards]
        return cls(
            np.concatenate([shard.inputs for shard in shards]),
            np.concatenate([shard.gold for shard in shards]),
            np.concatenate(costs),
            first.n_labels,
            first.legal,
        )

    def epoch(self, order: Ints, rate: Floats, visits: int, current: Floats, late: Floats) -> int:
        """Visit examples in order, ``rate`` the size of each one's step; return the mistakes.

        The weights move in place; ``late`` is empty where no average is wanted.
        """
        cost = self.cost.reshape(*self.gold.shape, -1)
        return int(
            epoch(
                order, rate, visits, self.inputs, self.gold, cost, self.n_labels, self.legal,
                current, late,
            )
        )  # fmt: skip
