"""Labels of rows as compiled methods read them off a data set, and the way back to weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints
from structopt.engines.dataset import DataSet
from structopt.engines.lanes import Lanes
from structopt.engines.trust import check_gold
from structopt.engines.where import largest
from structopt.master.plain import PlainForm
from structopt.master.value import ValueAt, value_at
from structopt.methods.labels_kernels import scores, spread
from structopt.structures.base.label_problem import LabelProblem
from structopt.structures.base.labelled_shard import LabelledShard
from structopt.structures.base.oracles import Oracle

_WIDE = 4
"""Columns a nonzero from which on those that occur are numbered anew."""
_MOST, _LABELS = 2**31, 2**16
"""Nonzeros and labels at most: they are counted in 32 bits and in 16."""


class LabelWeights(NamedTuple):
    """Weights [column, label] over the columns that are kept, and those of transitions."""

    rows: Floats
    steps: Floats

    def ridge(self) -> float:
        """Return 1/2 |w|^2."""
        flat = self.rows.ravel()
        return 0.5 * float(flat @ flat + self.steps @ self.steps)

    def nonzeros(self) -> int:
        """Return how many weights are not 0."""
        return int(np.count_nonzero(self.rows) + np.count_nonzero(self.steps))


@dataclass(frozen=True)
class Labels:
    """The labels of a data set's rows.

    Attributes
    ----------
    data : DataSet
    given : LabelProblem
        All examples.
    n_inputs : int
        How many columns the structure has.
    kept : array of int
        Those of them that weights have a row for: all with an entry, and more where the rest is
        not much.
    place : array of int
        The row of weights for each column of ``given.rows``.
    """

    data: DataSet
    given: LabelProblem
    n_inputs: int
    kept: Ints
    place: Any

    @classmethod
    def of(cls, data: DataSet, oracle: Oracle) -> Labels | str:
        """Read a data set, or say why it cannot be read."""
        problems = []
        for shard in data.shards:
            problem = shard.label_problem(oracle)
            if problem is None:
                return f"the outputs of {shard.name()} are not labels of rows"
            problems.append(problem)
        given = problems[0] if len(problems) == 1 else LabelProblem.stacked(problems)
        if given.rows.nnz >= _MOST:
            return f"{given.rows.nnz} nonzeros are too many for 32 bits"
        if given.n_labels >= _LABELS:
            return f"{given.n_labels} labels are too many for 16 bits"
        n_inputs = given.rows.shape[1]
        if _WIDE * given.rows.nnz < n_inputs:  # nothing then is as long as the columns are many
            kept, local = np.unique(given.rows.indices, return_inverse=True)
            own = (given.rows.data, local.astype(np.int32), given.rows.indptr)
            given = given._replace(rows=sp.csr_array(own, shape=(len(given.gold), len(kept))))
        else:
            kept = np.arange(n_inputs)
        return cls(data, given, n_inputs, kept, np.arange(len(kept), dtype=np.int32))

    def over(self, occurring: Ints) -> Labels:
        """Return the same with weights for some columns of ``given.rows``: the others are empty."""
        place = np.zeros(len(self.place), dtype=np.int32)
        place[occurring] = np.arange(len(occurring), dtype=np.int32)
        return replace(self, kept=self.kept[occurring], place=place)

    def nothing(self) -> LabelWeights:
        """Return weights of 0."""
        K, steps = self.given.n_labels, 0
        if self.given.offsets is not None:
            steps = K * K + 2 * K * self.given.boundaries
        return LabelWeights(np.zeros((len(self.kept), K)), np.zeros(steps))

    def flat(self, steps: Floats) -> Floats:
        """Return steps [before, after], the start and the end last, as weights of transitions."""
        ends = [steps[-1, :-1], steps[:-1, -1]] if self.given.boundaries else []
        return np.concatenate([steps[:-1, :-1].ravel(), *ends])

    def value(self, form: PlainForm, weights: LabelWeights) -> ValueAt:
        """Return the objective at weights: every example is asked about, by its own oracle."""
        rows = self.given.rows
        size = largest(rows.data) * largest(weights.rows)
        found, first, example = [], 0, 0
        for run in self._runs:  # one after the other: nothing but a hinge an example is kept
            stop, end = first + len(run.gold), example + run.n_examples
            given = (rows.indptr[first : stop + 1], rows.indices, rows.data)
            unary = scores(*given, self.place, weights.rows)
            answers = [run.answered(form.oracle, unary, weights.steps)]
            check_gold(form.oracle, answers, size, example)
            found.append(value_at(form.oracle, form.cost[example:end], answers, 0.0))
            first, example = stop, end
        ridge = form.curvature * weights.ridge()
        return ValueAt(
            ridge + sum(each.value for each in found),
            np.concatenate([each.hinges for each in found]),
            all(each.exact for each in found),
        )

    @cached_property
    def _runs(self) -> list[Any]:
        """All examples in shards that are small enough for their scores to be there at once."""
        each = [
            Lanes(shard, 1).runs if isinstance(shard, LabelledShard) else [shard]
            for shard in self.data.shards
        ]
        return [run for runs in each for run in runs]

    def narrowed(self, weights: Floats) -> LabelWeights:
        """Return given weights over the columns that are kept."""
        K, width = self.given.n_labels, self.n_inputs
        rows = weights[: K * width].reshape(K, width)[:, self.kept].T
        return LabelWeights(np.ascontiguousarray(rows), np.array(weights[K * width :]))

    def widened(self, weights: LabelWeights) -> Floats:
        """Return weights as users see them: label by label over all columns, then transitions."""
        ends = self.given.n_labels * self.n_inputs
        whole = np.zeros(ends + len(weights.steps))  # NumPy's: what stays 0 is never touched
        spread(weights.rows, self.kept, whole[:ends].reshape(-1, self.n_inputs))
        whole[ends:] = weights.steps
        return whole
