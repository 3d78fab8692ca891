r"""Cutting planes over the inputs that occur: weights of the others are 0, and are not there.

With an objective that is least in every weight at 0 (:func:`~structopt.master.plain.rests_at_zero`)
a weight that no input multiplies is 0 at the optimum, and the programme over the other weights has
the same constraints and the same value. Masters, solvers and bounds work with vectors as long as
the weights are many, so that 10^6 columns of which 10^3 occur would cost a thousand times as much.

Weights are blocks as long as the inputs are wide, [block, input], and then those that no input
multiplies; only the blocks are made narrower.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from structopt.arrays import Floats, Ints, check_weights
from structopt.engines.dataset import DataSet
from structopt.errors import StructoptError
from structopt.formulations.base import Formulation
from structopt.master.declare import RestrictedMaster
from structopt.master.plain import rests_at_zero
from structopt.methods.cutting_plane import CuttingPlane
from structopt.methods.state import State
from structopt.methods.watcher import Iterate, Watcher
from structopt.parameters import check_params
from structopt.run.limits import Limits
from structopt.run.result import Result, Stop
from structopt.structures.base.structure import Structure

_WIDE, _LEAST = 4, 1000
"""How many times the columns that occur there must be to leave the others out, and how many."""
_FOR_ALL = ("checkpoint", "start")
"""Options that speak of all weights, or of a file that does."""


@dataclass(frozen=True)
class Narrow:
    """A data set without the inputs that nobody has.

    Attributes
    ----------
    data : DataSet
        The same examples, over the inputs that are kept.
    kept : array of int
    n_inputs, n_blocks, n_features : int
        Of the given data: the width of a block, how many there are, and all weights.
    given : DataSet
        The data with all inputs.
    """

    data: DataSet
    kept: Ints
    n_inputs: int
    n_blocks: int
    n_features: int
    given: DataSet

    @classmethod
    def again(cls, data: DataSet, begun: Any) -> Narrow | None:
        """Return what a run on the same data left behind, or :meth:`of` the data."""
        before = getattr(begun, "narrow", None)
        return before[0] if before is not None and before[0].given is data else cls.of(data)

    @classmethod
    def of(cls, data: DataSet) -> Narrow | None:
        """Return a data set made narrower; None if it cannot be, or if little would be gained.

        >>> import scipy.sparse as sp, structopt as so
        >>> X = sp.csr_array(([1.0, 2.0, 1.0], [7, 900, 7], [0, 2, 3]), shape=(2, 1000))
        >>> structure = so.Multiclass().fitted(X, ["a", "b"])
        >>> found = Narrow.of(so.DataSet.of(structure, X, ["a", "b"]))
        >>> found.kept, found.data.n_features
        (array([  7, 900]), 4)
        >>> np.flatnonzero(found.widened(np.ones(4)))
        array([   7,  900, 1007, 1900])
        """
        if type(data) is not DataSet:  # its shards live elsewhere
            return None
        names = {shard.inputs_in for shard in data.shards}
        if None in names or len(names) != 1:
            return None
        name = str(names.pop())
        rows = [getattr(shard, name) for shard in data.shards]
        n_inputs, n_blocks = rows[0].n_inputs, getattr(data.shards[0], "n_labels", 1)
        if n_inputs < _LEAST:
            return None
        seen = np.zeros(n_inputs, dtype=bool)
        for each in rows:
            seen[each.csr.indices] = True
        kept = np.flatnonzero(seen)
        if _WIDE * len(kept) > n_inputs:
            return None
        place = np.zeros(n_inputs, dtype=np.int32)
        place[kept] = np.arange(len(kept), dtype=np.int32)
        fewer = [shard.renumbered(place, len(kept)) for shard in data.shards]
        n_features = data.n_features - n_blocks * (n_inputs - len(kept))
        small = DataSet(
            fewer, n_features, sample_weight=data.sample_weight, n_jobs=data.n_jobs,
            threads=data.threads, exact=data.exact,
        )  # fmt: skip
        return cls(small, kept, n_inputs, n_blocks, data.n_features, data)

    def widened(self, weights: Floats) -> Floats:
        """Return weights as users see them."""
        whole, m = np.zeros(self.n_features), self.n_blocks * len(self.kept)
        blocks = whole[: self.n_blocks * self.n_inputs].reshape(self.n_blocks, -1)
        blocks[:, self.kept] = weights[:m].reshape(self.n_blocks, -1)
        whole[self.n_blocks * self.n_inputs :] = weights[m:]
        return whole

    def narrowed(self, weights: Floats) -> Floats:
        """Return given weights without those of inputs that nobody has."""
        weights = check_weights(weights, self.n_features)
        m = self.n_blocks * self.n_inputs
        blocks = weights[:m].reshape(self.n_blocks, -1)[:, self.kept]
        return np.concatenate([blocks.ravel(), weights[m:]])


class NarrowCuttingPlane(CuttingPlane):
    """Cutting planes over the inputs that occur; what it hands out has all weights.

    Parameters
    ----------
    structure, formulation, **options
        See :class:`~structopt.CuttingPlane`; what is begun with has all weights too.
    narrow : Narrow
    """

    def __init__(
        self, structure: Structure, formulation: Formulation, narrow: Narrow, **options: Any
    ) -> None:
        self._narrow = narrow
        begun = options.get("warm_start")
        before = getattr(begun, "narrow", None)
        if before is not None and before[0] is narrow:
            options["warm_start"] = before[1]  # with its cuts
        elif begun is not None:
            options["warm_start"] = replace(begun, weights=narrow.narrowed(begun.weights))
        super().__init__(structure, formulation, narrow.data, **options)

    @classmethod
    def options(cls) -> list[str]:
        """Return the names of the method's own options."""
        return CuttingPlane.options()

    def iterate(self) -> Iterate:
        """Return the master's weights of the last round."""
        found = super().iterate()
        return found._replace(weights=self._narrow.widened(found.weights))

    def _snapshot(self) -> Callable[[], Floats]:
        return partial(self._narrow.widened, self._here.weights.copy())

    @property
    def state(self) -> State:
        """What the run has found so far; its cuts are about fewer weights, for runs like this."""
        found = super().state
        wide = self._narrow.widened(found.weights)
        return replace(found, weights=wide, live=None, narrow=(self._narrow, found))

    def _result(self, status: Stop) -> Result:
        found = super()._result(status)
        return replace(found, weights=self._narrow.widened(found.weights), cuts=None)

    def _with_best(self, error: StructoptError) -> StructoptError:
        error = super()._with_best(error)
        if error.result is not None and len(error.result.weights) == self.data.n_features:
            wide = self._narrow.widened(error.result.weights)
            error.result = replace(error.result, weights=wide, cuts=None)
        return error


def speaks_of_none(
    structure: Structure, formulation: Formulation, data: DataSet, options: Mapping[str, Any]
) -> bool:
    """Return whether nothing speaks of single weights, and those of inputs not there are 0."""
    begun, limits = options.get("warm_start"), options.get("limits", Limits())
    cuts = begun is not None and (begun.cuts, getattr(begun, "live", None)) != (None, None)
    watched = any(isinstance(c, Watcher) for c in options.get("callbacks", limits.callbacks))
    resolves = type(formulation).resolve is not Formulation.resolve
    if cuts or watched or resolves or len(structure.nonnegative_weights()):
        return False
    if any(name in options for name in _FOR_ALL):
        return False
    check_params(formulation)
    master = RestrictedMaster(
        data.n_examples, data.n_features, sample_weight=data.sample_weight,
        names=structure.feature_names,
    )  # fmt: skip
    master.declare(formulation)
    return rests_at_zero(master)
