"""What shards have in common whose outputs are sets of numbered parts, :class:`.inputs.Paths`."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from structopt.arrays import Ints
from structopt.structures.base.shard import Shard, forget
from structopt.structures.lattice.inputs import Paths


class PathsShard(Shard):
    """Base of the shards whose parts are numbered example by example.

    Attributes
    ----------
    gold_ptr, gold : arrays of int
        The parts of gold, what directions are measured from.
    """

    gold_ptr: Ints
    gold: Ints

    @property
    def anchor(self) -> Paths:
        """The gold outputs."""
        return Paths(self.gold_ptr, self.gold)

    def anchored(self, outputs: Any) -> Self:
        """Return the same examples with delta measured from other outputs; losses stay."""
        moved = forget(copy.copy(self))
        moved.gold_ptr, moved.gold = outputs
        return moved

    def joined(self, outputs: Sequence[Any], edges: Ints) -> Paths:
        """Return the outputs of runs: parts are numbered example by example."""
        return Paths.joined(outputs)

    def _other(self, two: Paths) -> Paths:
        """Return the first of every example's two best outputs that is not gold."""
        gold, other = self.anchor, []
        for i in range(self.n_examples):
            best, second = two.of(2 * i), two.of(2 * i + 1)
            other.append(second if np.array_equal(best, gold.of(i)) else best)
        return Paths.stacked(other)
