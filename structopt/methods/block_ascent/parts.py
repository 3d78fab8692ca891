r"""Any outputs that are sums of parts as a problem of block ascent.

A shard says how its outputs are parts (:mod:`structopt.structures.base.parts`), and its own oracle
is asked, for a run of examples at a time: those of a run are answered at the same weights, and each
step afterwards is exact at the weights as they are by then, so that the dual never falls. Columns
that nobody has are left out (:mod:`structopt.methods.narrow`).

What the passes for certificates find is not lost: the next round steps towards it instead of asking
again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from structopt.arrays import Floats
from structopt.engines.dataset import DataSet
from structopt.errors import IncompatibleError
from structopt.master.plain import PlainForm
from structopt.master.value import ValueAt, value_at
from structopt.methods.block_ascent import part_kernels as kernels
from structopt.methods.block_ascent.part_blocks import PartBlocks
from structopt.methods.frank_wolfe.planes import Planes, scaled
from structopt.methods.narrow import Narrow
from structopt.structures.base.parts import Directions
from structopt.structures.base.shard import Answers, Shard, asked

_RUNS, _LEAST = 32, 8
"""Runs of examples that a pass is cut into at most, and examples that each has at least. On names,
trees and parses 1 / 16 / 32 / 64 runs take 24 / 18 / 17 / 16, 22 / 13 / 13, 25 / 19 / 18 / 17
rounds; 32 questions to small examples cost as much as a pass over them all."""
_STIFF = 1e5
"""Times the tolerance that the median of c_i / p |delta_i|^2 may be for "auto" to take it. Against
cutting planes, sequences of second order at 5 / 50 / 180 / 540 take 0.6 / 0.9 / 1.3 / 1.6 times as
long to 1e-3, and at 540 0.7 times to 5e-2 and 1.05 times to 1e-2."""
MEASURED = frozenset({
    "Arborescence", "Hierarchy", "LabelVector", "Lattice", "Matching", "Ranking", "SecondOrder",
    "Segments",
})  # fmt: skip
"""Structures on which it was measured to be faster than cutting planes: "auto" then takes it."""
_MOST = 2**31
"""Weights, and rows of the base, at most: they are counted in 32 bits."""


class PartWeights(NamedTuple):
    """Weights of the columns that are kept, one after the other."""

    flat: Floats

    def ridge(self) -> float:
        """Return 1/2 |w|^2."""
        return 0.5 * float(self.flat @ self.flat)

    def nonzeros(self) -> int:
        """Return how many weights are not 0."""
        return int(np.count_nonzero(self.flat))


class Run(NamedTuple):
    """Consecutive examples: their shard, the number of the first, and where its base begins."""

    shard: Shard
    first: int
    source: int


@dataclass(frozen=True)
class Parts:
    """Examples whose outputs are sums of parts.

    Attributes
    ----------
    given : DataSet
    narrow : Narrow or None
        The data without the columns that nobody has, where these are many.
    form : PlainForm
    runs, shards : list of Run
        All examples in runs that are asked one after the other, and in shards.
    """

    given: DataSet
    narrow: Narrow | None
    form: PlainForm
    runs: list[Run]
    shards: list[Run]
    _unused: list[list[Answers]] = field(default_factory=list)

    @classmethod
    def of(cls, given: DataSet, form: PlainForm) -> Parts | str:
        """Read a data set, or say why it cannot be read."""
        narrow = Narrow.of(given)
        data = given if narrow is None else narrow.data
        if max(data.n_features, data.base.shape[0]) >= _MOST:
            return f"{data.n_features} weights of {data.base.shape[0]} rows are beyond 32 bits"
        with np.errstate(over="ignore"):
            if not np.isfinite(np.vdot(data.base.data, data.base.data)):
                return "the squares of its inputs overflow"
        sources = np.cumsum([0, *(shard.base.shape[0] for shard in data.shards)])
        triples = zip(data.shards, data.starts, sources, strict=False)
        shards = [Run(shard, int(first), int(source)) for shard, first, source in triples]
        return cls(given, narrow, form, [run for each in shards for run in _cut(each)], shards)

    @property
    def data(self) -> DataSet:
        """The examples, over the columns that are kept."""
        return self.given if self.narrow is None else self.narrow.data

    def reads(self, data: DataSet) -> bool:
        """Return whether it was read off a data set."""
        return self.given is data

    def under(self, form: PlainForm) -> Self:
        """Return the same data under a form with the same oracle."""
        return replace(self, form=form)

    def blocks(self) -> PartBlocks:
        """Return the blocks of all examples, at multipliers of 0."""
        return PartBlocks(self, self.form.cost / self.form.curvature)

    # ------------------------------------------------------------------ questions
    def planes(self, run: Run, weights: Floats) -> Planes:
        """Ask about a run; return the planes of examples whose hinge is positive."""
        return self._planes_of(run, asked(run.shard, self.form.oracle, weights))

    def recalled(self) -> list[Planes] | None:
        """Return the planes that the last certificate found, shard by shard, once."""
        if not self._unused:
            return None
        pairs = zip(self.shards, self._unused.pop(), strict=True)
        return [self._planes_of(shard, answers) for shard, answers in pairs]

    def value(self, weights: PartWeights) -> ValueAt:
        """Return the objective at weights: every example is asked about, by its own oracle."""
        form, answers = self.form, self.data.ask(self.form.oracle, weights.flat)
        self._unused[:] = [answers]
        return value_at(form.oracle, form.cost, answers, form.curvature * weights.ridge())

    def _planes_of(self, run: Run, answers: Answers) -> Planes:
        oracle, (shard, first, source) = self.form.oracle, run
        found = np.isfinite(answers.score) & (self.form.cost[first : first + len(answers.loss)] > 0)
        which = np.flatnonzero(found)
        which = which[oracle.hinge(answers.loss[which], answers.score[which]) > 0]
        if not len(which):
            return Planes(which, np.zeros(0), Directions.rows(0, 0))
        loss = answers.loss[which]
        directions = scaled(shard.directions(answers.outputs, which), oracle.scale(loss))
        return Planes(first + which, oracle.margin(loss), directions.moved(source))

    def at_zero(self) -> float:
        """Return infinity: to know more, one must ask."""
        return np.inf

    def suits(self, tol: float) -> bool:
        """Return whether it is the faster way to a tolerance, as far as was measured."""
        if not {type(run.shard).__name__.removesuffix("Shard") for run in self.shards} <= MEASURED:
            return False
        self.value(self.nothing())
        stiffness = [
            self._stiffness(s, a) for s, a in zip(self.shards, self._unused[0], strict=True)
        ]
        each = np.concatenate(stiffness)
        return not len(each) or float(np.median(each)) <= _STIFF * tol

    def _stiffness(self, run: Run, answers: Answers) -> Floats:
        """Return ``c_i / p |delta|^2`` of the outputs found."""
        planes, base = self._planes_of(run, answers), self.data.base
        d, scratch = planes.directions, np.zeros(self.data.n_features)
        square = kernels.squares(
            scratch, d.ptr, d.source, d.offset, d.coef, base.indptr, base.indices, base.data
        )
        cost = self.form.cost[planes.examples] / self.form.curvature
        return np.asarray(cost * square)

    # ------------------------------------------------------------------ weights
    def summed(self, blocks: PartBlocks) -> tuple[PartWeights, float]:
        """Return the weights of the blocks' multipliers, anew from the data, and their gain."""
        weights, gain = blocks.summed()
        return PartWeights(weights), gain

    def nothing(self) -> PartWeights:
        """Return weights of 0."""
        return PartWeights(np.zeros(self.data.n_features))

    def narrowed(self, weights: Floats) -> PartWeights:
        """Return given weights over the columns that are kept."""
        return PartWeights(weights if self.narrow is None else self.narrow.narrowed(weights))

    def widened(self, weights: PartWeights) -> Floats:
        """Return weights as users see them."""
        return weights.flat.copy() if self.narrow is None else self.narrow.widened(weights.flat)


def _cut(whole: Run) -> list[Run]:
    """Return a shard's examples in runs, if it can be cut."""
    shard, first, source = whole
    n_runs = min(_RUNS, shard.n_examples // _LEAST)
    if n_runs < 2:
        return [whole]
    try:
        shard.single(0)
    except IncompatibleError:
        return [whole]
    edges: list[Any] = np.linspace(0, shard.n_examples, n_runs + 1).astype(int).tolist()
    return [Run(shard.part(a, b), first + a, source) for a, b in pairwise(edges)]
