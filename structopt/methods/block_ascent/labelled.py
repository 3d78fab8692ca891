"""Labels of rows as a problem of block ascent: a plane is its labels, weights are feature-major."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from structopt.arrays import Floats
from structopt.engines.dataset import DataSet
from structopt.master.plain import PlainForm
from structopt.master.value import ValueAt
from structopt.methods.block_ascent.chains import ChainBlocks
from structopt.methods.block_ascent.classes import ClassBlocks
from structopt.methods.block_ascent.columns import Columns
from structopt.methods.labels import Labels, LabelWeights

_STIFF = 1e5
"""Largest cost times squares of inputs at which "auto" takes it. To 1e-3 on 40 sequences that no
weights fit it takes 0.5, 3.6, 8.4 s at 1.7e3, 1.7e4, 5.2e4 (cutting planes 1.7, 2.9, 2.5), and does
not end at 1.7e5; on 200 points of classes that overlap it stalls at 8e6."""


@dataclass(frozen=True)
class Labelled:
    """Labels of rows with their margins.

    Attributes
    ----------
    labels : Labels
    form : PlainForm
    columns : Columns
        The rows with fewer columns.
    """

    labels: Labels
    form: PlainForm
    columns: Columns

    @classmethod
    def of(cls, labels: Labels, form: PlainForm) -> Labelled | str:
        """Make the columns fewer, or say why not."""
        columns = Columns.of(labels.given.rows)
        if not np.isfinite(columns.square.sum()):
            return "the squares of its inputs overflow"
        return cls(labels.over(columns.occurring), form, columns)

    def reads(self, data: DataSet) -> bool:
        """Return whether it was read off a data set."""
        return self.labels.data is data

    def under(self, form: PlainForm) -> Self:
        """Return the same data under a form with the same oracle."""
        return replace(self, form=form)

    def blocks(self) -> ClassBlocks | ChainBlocks:
        """Return the blocks of all examples, at multipliers of 0."""
        given, limit = self.labels.given, self.form.cost / self.form.curvature
        if given.offsets is not None:
            return ChainBlocks(self.columns, self.labels, limit)
        return ClassBlocks(self.columns, given.gold, self._cost(), limit, given.n_labels)

    def _cost(self) -> Floats:
        given = self.labels.given
        return given.cost.reshape(len(given.gold), -1)

    def at_zero(self) -> float:
        """Return (an upper bound on) the objective at weights of 0."""
        most, offsets = self._cost().max(axis=1), self.labels.given.offsets
        each = most if offsets is None else np.add.reduceat(most, offsets[:-1])
        return float(self.form.cost @ each)

    def suits(self, tol: float) -> bool:
        """Return whether it is the faster way, as far as was measured: unless limits are stiff."""
        each, offsets = self.columns.square, self.labels.given.offsets
        if offsets is not None:
            each = np.add.reduceat(each, offsets[:-1])
        stiffness = 2.0 * each * self.form.cost / self.form.curvature  # about c_i / p |delta|^2
        return float(np.max(stiffness, initial=0.0)) <= _STIFF

    def summed(self, blocks: Any) -> tuple[LabelWeights, float]:
        """Return the weights of the blocks' multipliers, anew from the data, and their gain."""
        labels = self.labels
        rows, steps, gain = blocks.summed(labels.given.rows, labels.place, len(labels.kept))
        return LabelWeights(rows, steps), gain

    def value(self, weights: LabelWeights) -> ValueAt:
        """Return the objective at weights: every example is asked about, by its own oracle."""
        return self.labels.value(self.form, weights)

    def nothing(self) -> LabelWeights:
        """Return weights of 0."""
        return self.labels.nothing()

    def narrowed(self, weights: Floats) -> LabelWeights:
        """Return given weights over the columns that are kept."""
        return self.labels.narrowed(weights)

    def widened(self, weights: LabelWeights) -> Floats:
        """Return weights as users see them."""
        return self.labels.widened(weights)
