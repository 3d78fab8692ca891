"""What block ascent reads of a data set, and the way back to weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints
from structopt.engines.dataset import DataSet
from structopt.engines.trust import check_gold
from structopt.master.plain import PlainForm
from structopt.master.value import ValueAt, value_at
from structopt.methods.block_ascent.chains import ChainBlocks
from structopt.methods.block_ascent.classes import ClassBlocks
from structopt.methods.block_ascent.columns import Columns
from structopt.methods.block_ascent.columns_kernels import scores, spread
from structopt.structures.base.label_problem import LabelProblem

_WIDE = 4
"""Columns a nonzero from which on those that occur are numbered anew."""
_MOST, _LABELS = 2**31, 2**16
"""Nonzeros and labels at most: they are counted in 32 bits and in 16."""


def largest(values: Floats) -> float:
    """Return the largest absolute value, without a copy."""
    return float(max(values.max(initial=0.0), -values.min(initial=0.0)))


class Blocks(Protocol):
    """Planes and multipliers of every example, and the weights that they make."""

    look_first: bool
    near: float
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


class Weights(NamedTuple):
    """Weights [column, label] over the columns that occur, and those of transitions."""

    rows: Floats
    steps: Floats

    def ridge(self) -> float:
        """Return 1/2 |w|^2."""
        flat = self.rows.ravel()
        return 0.5 * float(flat @ flat + self.steps @ self.steps)


@dataclass(frozen=True)
class Problem:
    """Labels of rows with their margins.

    Attributes
    ----------
    data : DataSet
    form : PlainForm
    given : LabelProblem
        All examples.
    columns : Columns
        The rows with fewer columns.
    n_inputs : int
        How many columns the structure has.
    occurring : array of int
        Those of them that have an entry.
    place : array of int
        The number of each column of the rows among these.
    """

    data: DataSet
    form: PlainForm
    given: LabelProblem
    columns: Columns
    n_inputs: int
    occurring: Ints
    place: Any

    @classmethod
    def of(cls, data: DataSet, form: PlainForm, before: Problem | None = None) -> Problem | str:
        """Read a data set, or say why it cannot be read; ``before`` may have read it already."""
        if before is not None and (before.data, before.form.oracle) == (data, form.oracle):
            return replace(before, form=form)
        problems = []
        for shard in data.shards:
            problem = shard.label_problem(form.oracle)
            if problem is None:
                return f"{type(shard).__name__.removesuffix('Shard')} has no labels of rows"
            problems.append(problem)
        given = problems[0] if len(problems) == 1 else LabelProblem.stacked(problems)
        if given.rows.nnz >= _MOST:
            return f"{given.rows.nnz} nonzeros are too many for 32 bits"
        if given.n_labels >= _LABELS:
            return f"{given.n_labels} labels are too many for 16 bits"
        n_inputs, named = given.rows.shape[1], None
        if _WIDE * given.rows.nnz < n_inputs:  # nothing then is as long as the columns are many
            named, local = np.unique(given.rows.indices, return_inverse=True)
            own = (given.rows.data, local.astype(np.int32), given.rows.indptr)
            given = given._replace(rows=sp.csr_array(own, shape=(len(given.gold), len(named))))
        columns = Columns.of(given.rows)
        if not np.isfinite(columns.square.sum()):
            return "the squares of its inputs overflow"
        occurring = columns.occurring
        place = np.zeros(given.rows.shape[1], dtype=np.int32)
        place[occurring] = np.arange(len(occurring), dtype=np.int32)
        names = occurring if named is None else named[occurring]
        return cls(data, form, given, columns, n_inputs, names, place)

    def blocks(self) -> Blocks:
        """Return the blocks of all examples, at multipliers of 0."""
        given, limit = self.given, self.form.cost / self.form.curvature
        if given.offsets is not None:
            return ChainBlocks(self.columns, given, limit)
        return ClassBlocks(self.columns, given.gold, self._cost(), limit, given.n_labels)

    def _cost(self) -> Floats:
        return self.given.cost.reshape(len(self.given.gold), -1)

    def nothing(self) -> Weights:
        """Return weights of 0."""
        K, steps = self.given.n_labels, 0
        if self.given.offsets is not None:
            steps = K * K + 2 * K * self.given.boundaries
        return Weights(np.zeros((len(self.occurring), K)), np.zeros(steps))

    def at_zero(self) -> float:
        """Return (an upper bound on) the objective at weights of 0."""
        most, offsets = self._cost().max(axis=1), self.given.offsets
        each = most if offsets is None else np.add.reduceat(most, offsets[:-1])
        return float(self.form.cost @ each)

    def stiffness(self) -> float:
        """Return the largest ``c_i / p |delta|^2``, about: with twice the squares of all rows."""
        each, offsets = self.columns.square, self.given.offsets
        if offsets is not None:
            each = np.add.reduceat(each, offsets[:-1])
        return float(np.max(2.0 * each * self.form.cost / self.form.curvature, initial=0.0))

    def summed(self, blocks: Blocks) -> tuple[Weights, float]:
        """Return the weights of the blocks' multipliers, anew from the data, and their gain."""
        rows, steps, gain = blocks.summed(self.given.rows, self.place, len(self.occurring))
        return Weights(rows, steps), gain

    def value(self, weights: Weights) -> ValueAt:
        """Return the objective at weights: every example is asked about, by its own oracle."""
        rows, oracle = self.given.rows, self.form.oracle
        unary = scores(rows.indptr, rows.indices, rows.data, self.place, weights.rows)
        size = largest(rows.data) * largest(weights.rows)
        answers, first = [], 0
        for shard in self.data.shards:
            stop = first + len(shard.gold)
            answers.append(shard.answered(oracle, unary[first:stop], weights.steps))
            first = stop
        check_gold(oracle, answers, size)
        ridge = self.form.curvature * weights.ridge()
        return value_at(oracle, self.form.cost, answers, ridge)

    def narrowed(self, weights: Floats) -> Weights:
        """Return given weights over the columns that occur."""
        K, width = self.given.n_labels, self.n_inputs
        rows = weights[: K * width].reshape(K, width)[:, self.occurring].T
        return Weights(np.ascontiguousarray(rows), np.array(weights[K * width :]))

    def widened(self, weights: Weights) -> Floats:
        """Return weights as users see them: label by label over all columns, then transitions."""
        whole = spread(weights.rows, self.occurring, self.n_inputs).ravel()
        return np.concatenate([whole, weights.steps]) if len(weights.steps) else whole
