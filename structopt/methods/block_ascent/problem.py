"""What block ascent reads of a data set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.engines.dataset import DataSet
from structopt.master.plain import PlainForm
from structopt.master.value import ValueAt
from structopt.methods.block_ascent.chains import ChainBlocks
from structopt.methods.block_ascent.classes import ClassBlocks
from structopt.methods.block_ascent.columns import Columns
from structopt.methods.labels import Labels, LabelWeights


class Blocks(Protocol):
    """Planes and multipliers of every example, and the weights that they make."""

    near: float
    whole: int
    finest: float
    gaps: Floats
    dual: float

    def __len__(self) -> int:
        """Return how many planes there are."""

    def resume(self, other: Any) -> None:
        """Go on with the planes and multipliers of other blocks, if limits differ by one factor."""

    def full_pass(self, order: Ints) -> None:
        """Decode every example, take up what is found, settle."""

    def cheap_epochs(self, gap: float, seed: int) -> int:
        """Visit examples over their planes until their gap is a share of the given one."""

    def summed(self, rows: Any, place: Any, width: int) -> tuple[Floats, Floats, float]:
        """Return weights [column, label], those of transitions, and the gain of multipliers."""


@dataclass(frozen=True)
class Problem:
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
    def of(cls, data: DataSet, form: PlainForm, before: Problem | None = None) -> Problem | str:
        """Read a data set, or say why it cannot be read; ``before`` may have read it already."""
        if before is not None and (before.labels.data, before.form.oracle) == (data, form.oracle):
            return replace(before, form=form)
        labels = Labels.of(data, form.oracle)
        if isinstance(labels, str):
            return labels
        columns = Columns.of(labels.given.rows)
        if not np.isfinite(columns.square.sum()):
            return "the squares of its inputs overflow"
        return cls(labels.over(columns.occurring), form, columns)

    def blocks(self) -> Blocks:
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

    def stiffness(self) -> float:
        """Return the largest ``c_i / p |delta|^2``, about: with twice the squares of all rows."""
        each, offsets = self.columns.square, self.labels.given.offsets
        if offsets is not None:
            each = np.add.reduceat(each, offsets[:-1])
        return float(np.max(2.0 * each * self.form.cost / self.form.curvature, initial=0.0))

    def summed(self, blocks: Blocks) -> tuple[LabelWeights, float]:
        """Return the weights of the blocks' multipliers, anew from the data, and their gain."""
        labels = self.labels
        rows, steps, gain = blocks.summed(labels.given.rows, labels.place, len(labels.kept))
        return LabelWeights(rows, steps), gain

    def value(self, weights: LabelWeights) -> ValueAt:
        """Return the objective at weights: every example is asked about, by its own oracle."""
        return self.labels.value(self.form, weights)
