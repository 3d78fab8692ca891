r"""Block ascent in the dual of a ridge and one hinge an example, at a cost that follows the data.

    P(w) = p/2 |w|^2 + sum_i c_i max(0, max_y m_i(y) - w . delta_i(y)),
    D(alpha) = sum_i,y alpha_iy m_i(y) - 1/(2p) |sum_i,y alpha_iy delta_i(y)|^2,
    alpha >= 0,   sum_y alpha_iy <= c_i.

Of labels of rows (classes, chains) a plane (m, delta) is kept as its labels, never as features; the
weights inside are feature-major over the columns that occur, made fewer where that is exact
(:mod:`structopt.methods.block_ascent.columns`). A round is two compiled calls: a full pass, which
scores and decodes examples, takes up what it finds and settles their blocks; then cheap epochs over
the planes that are kept, until what they can gain is a share of what the pass found. Of sequences
only every fourth pass decodes all, the others those whose gaps are largest.

Of other structures a plane is kept as its parts
(:mod:`structopt.methods.block_ascent.part_blocks`), and a pass asks their own compiled oracles,
some examples at a time (:mod:`structopt.methods.block_ascent.parts`).

All blocks' gaps of a pass add up to an estimate of P - D. It only says when to look: a certificate
sums the weights anew from feasible multipliers over the given columns, and asks the structure's own
oracle about every example at these weights.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import numpy as np

from structopt.arrays import Floats, check_weights
from structopt.engines.dataset import DataSet
from structopt.errors import IncompatibleError, StructoptError
from structopt.formulations.base import Formulation
from structopt.master.declare import RestrictedMaster
from structopt.master.plain import PlainForm, plain_form
from structopt.methods.block_ascent.problem import Weights, read
from structopt.methods.method import Method
from structopt.methods.state import State
from structopt.methods.watcher import Iterate
from structopt.parameters import Seed
from structopt.run.events import Round
from structopt.run.limits import LimitOptions
from structopt.run.result import Result, Stop
from structopt.structures.base.structure import Structure

_PART = 0.3
"""Share of the examples, those of the largest gaps, that is decoded in rounds between full ones."""
_EVERY = 16
"""Passes after which the exact gap is asked for at the latest."""
_AHEAD = 1.1
"""How much earlier than the last certificate foretells the next one is tried."""
_NEAREST = 0.1
"""Share of the gap that is wanted at which a certificate is tried whatever the last one foretells:
estimates over planes that older weights found may be far too low."""
_STILL = 5
"""Rounds without any gain after which a run has stalled."""


class BlockAscent(Method):
    r"""Block ascent over outputs; a round is a pass over the data and what follows it.

    .. math::
        \max_{\alpha\ge0,\ \sum_y \alpha_{iy} \le c_i}
        \sum_{i,y} \alpha_{iy} m_i(y) - \tfrac1{2p} \Big|\sum_{i,y} \alpha_{iy}\,\delta_i(y)\Big|^2

    The record's `value` is the estimate D + gap where no certificate was computed; `primal` and
    `dual` are those of the certificates so far, and `weights` those of the last one; callbacks that
    watch weights (:class:`~structopt.EarlyStopping`) have one computed every round. `violation` is
    the largest gap of a block, `cuts` counts planes, `iterations` visits. The run's `decoded`
    counts examples that rounds decoded, `certificates` the passes over all of them for bounds.

    Parameters
    ----------
    structure, formulation, data, **limits
        See :class:`~structopt.Method`. The structure answers many examples at once (none of its
        methods is the user's own), the formulation is declared as a plain ridge and one hinge an
        example.
    random_state : int, optional
        Seed of the order of visits; None is 0.
    warm_start : Result or State, optional
        What another run on the same data found: its weights are a first upper bound. Multipliers
        of the state of a block ascent are scaled to new limits where all of these change alike.

    Raises
    ------
    IncompatibleError
        If the structure or the formulation is of another form.

    Notes
    -----
    Keerthi, Sundararajan, Chang, Hsieh and Lin (2008) for classes; Lacoste-Julien, Jaggi, Schmidt
    and Pletscher (2013) with kept planes, pairwise steps and gap sampling after Osokin et al.
    (2016) for sequences.

    Examples
    --------
    >>> import structopt as so
    >>> X, y = so.datasets.make_classes(60, seed=0)
    >>> structure = so.Multiclass().fitted(X, y)
    >>> run = so.BlockAscent(structure, so.M3N(), so.DataSet.of(structure, X, y))
    >>> first = run.step()
    >>> first.round, first.dual <= first.primal
    (1, True)
    >>> run.solve().certificate.certified
    True
    """

    name = "block-ascent"
    _form: PlainForm

    def __init__(
        self,
        structure: Structure,
        formulation: Formulation,
        data: DataSet,
        *,
        random_state: Seed | None = None,
        warm_start: Result | State | None = None,
        **limits: Unpack[LimitOptions],
    ) -> None:
        super().__init__(structure, formulation, data, **limits)
        before = getattr(warm_start, "ascent", None)
        problem = read(data, self._form, None if before is None else before[0])
        if isinstance(problem, str):
            raise IncompatibleError(
                f"The method {self.name!r} does not take this problem: {problem}. Use "
                "method='cutting-plane'."
            )
        self._problem, self._blocks = problem, problem.blocks()
        self._present = np.flatnonzero(self._form.cost > 0).astype(np.int32)
        self._random = np.random.default_rng(0 if random_state is None else random_state)
        self._best, self._nonzeros = problem.nothing(), 0
        self._here = self._best, problem.at_zero()
        self._primal, self._dual = problem.at_zero(), 0.0
        self._fresh, self._still, self._reached, self._estimate = False, 0, -np.inf, np.inf
        self._near, self._looked = self._blocks.near, 0
        self.decoded = self.certificates = 0
        if before is not None:
            self._blocks.resume(before[1])
        if warm_start is not None:
            self._begin_at(problem.narrowed(check_weights(warm_start.weights, data.n_features)))

    def suits(self) -> bool:
        """Return whether it is the faster way to the tolerance, as far as was measured."""
        fine = self.limits.tol >= self._blocks.finest
        return fine and self._problem.suits(self.limits.tol)

    def _begin_at(self, weights: Weights) -> None:
        """Offer the weights of an earlier run, valued on these data."""
        value = self._problem.value(weights).value
        if value < self._primal:
            self._primal, self._best = value, weights

    def _declare(self) -> RestrictedMaster:
        """Declare the formulation and read its form; nothing is compiled."""
        master = self._declared()
        form = plain_form(master)
        if isinstance(form, str):
            raise IncompatibleError(
                f"The method {self.name!r} learns a ridge and one hinge an example, and of "
                f"{type(self.formulation).__name__} it reads that {form}. Use "
                "method='cutting-plane'."
            )
        self._form = form
        self._check_abilities(type(self.formulation).__name__, form.oracle)
        master.families[0].oracle = form.oracle
        return master

    # ------------------------------------------------------------------ running
    def result(self) -> Result:
        """Return the best model so far, certified at the weights as they stand."""
        if self.history and not self._fresh:
            try:
                self._certify()
            except StructoptError as error:
                self._with_best(error)
                raise
        return super().result()

    def step(self) -> Round:
        """Do one round and return its record."""
        start, blocks = time.perf_counter(), self._blocks
        before, looking = len(blocks), 0.0
        chosen = self._chosen_blocks()
        self.decoded += blocks.full_pass(self._random.permutation(chosen))
        self._fresh = False
        self._estimate = float(blocks.gaps.sum())
        violation = float(blocks.gaps.max(initial=0.0))
        visits = blocks.cheap_epochs(self._estimate, int(self._random.integers(1 << 30)))
        reached = blocks.dual
        self._still = 0 if reached > self._reached + 1e-15 * abs(reached) else self._still + 1
        self._reached = max(self._reached, reached)
        if self._due(reached):
            value, looking = self._look()
        else:
            value = self._form.curvature * (reached + self._estimate)
        added = len(blocks) - before
        return self._record(
            value=value,
            violation=self._form.curvature * violation,
            cuts_added=max(added, 0),
            cuts_dropped=max(-added, 0),
            cuts=len(blocks),
            nonzeros=self._nonzeros,
            iterations=visits + len(chosen),
            oracle_seconds=looking,
            solve_seconds=time.perf_counter() - start - looking,
        )

    def _chosen_blocks(self) -> Any:
        """Return the examples to decode: all of them every few rounds, else those of large gaps."""
        most = int(np.ceil(_PART * len(self._present)))
        if len(self.history) % self._blocks.whole == 0 or most == len(self._present):
            return self._present
        gaps = self._blocks.gaps[self._present]
        return self._present[np.argpartition(-gaps, most - 1)[:most]]

    def _due(self, dual: float) -> bool:
        """Return whether the exact gap is worth a pass."""
        wanted = max(self.limits.abs_tol / self._form.curvature, self.limits.tol * abs(dual))
        near = self._estimate <= self._near * wanted
        late = self.decoded - self._looked >= _EVERY * len(self._present)
        return near or late or bool(self._watchers()) or not np.isfinite(self._primal)

    def _look(self) -> tuple[float, float]:
        """Certify; return P and the seconds that it took."""
        start, known = time.perf_counter(), np.isfinite(self._primal)
        value = self._certify()
        gap = max(value - self._dual, 0.0) / self._form.curvature
        if known and gap > 0.0:  # times the gap that the estimate is: next time one knows better
            ratio = _AHEAD * self._estimate / gap
            self._near = min(self._blocks.near, max(ratio, _NEAREST))
        return value, time.perf_counter() - start

    def _certify(self) -> float:
        """Raise both bounds by weights that are summed anew from the data; return P there."""
        weights, gain = self._problem.summed(self._blocks)
        found = self._problem.value(weights)
        self.certificates += 1
        self._looked = self.decoded
        self._here = weights, found.value
        self._dual = max(self._dual, self._form.curvature * (gain - weights.ridge()))
        if found.value < self._primal:
            self._primal, self._best = found.value, weights
            self._nonzeros = weights.nonzeros()
        self._proven = self._proven and found.exact
        self._fresh = True
        return found.value

    def _stalled(self) -> bool:
        return self._still >= _STILL

    # ------------------------------------------------------------------ weights as users see them
    def iterate(self) -> Iterate:
        """Return the weights of the last certificate."""
        weights, value = self._here
        return Iterate(self._problem.widened(weights), value)

    def _snapshot(self) -> Callable[[], Floats]:
        return partial(self._problem.widened, self._here[0])

    @property
    def state(self) -> State:
        """What the run has found so far."""
        self._weights = self._problem.widened(self._best)
        return replace(super().state, ascent=(self._problem, self._blocks))

    def _result(self, status: Stop) -> Result:
        self._weights = self._problem.widened(self._best)
        return super()._result(status)
