r"""Cutting planes: solve the restricted master, ask the oracles, add what is violated.

Each round solves the master on the cuts so far (a lower bound, by its Lagrangian), makes one exact
oracle pass at its weights (an upper bound, and the violated cuts), and appends those cuts. The
master is solved loosely while the bounds are far apart and tightly at the end: to a part of the
current gap. Idle cuts are dropped once they are old, as long as the lower bound keeps rising.
"""

from __future__ import annotations

import logging
import os
import time
from dataclasses import replace
from typing import Any, ClassVar, Unpack

import numpy as np

from structopt.arrays import Floats, check_weights, everywhere
from structopt.backends import registry
from structopt.backends.base import Backend, MasterSolution
from structopt.engines.dataset import DataSet
from structopt.errors import InvalidInputError
from structopt.formulations.base import Formulation
from structopt.master.cuts import Cuts
from structopt.master.separation import Inside, Separation, separate
from structopt.methods.doubts import Doubts
from structopt.methods.forerunner import largest_projection
from structopt.methods.found import FoundCuts
from structopt.methods.lower_bound import LowerBound
from structopt.methods.method import Method
from structopt.methods.nearest_feasible import nearest_feasible
from structopt.methods.pace import Pace
from structopt.methods.rescue import no_minimum, solve_master
from structopt.methods.state import OTHER, Live, State, by_family
from structopt.methods.watcher import Iterate
from structopt.parameters import Seed
from structopt.run.checkpoint import Checkpoint
from structopt.run.events import Round, relative
from structopt.run.limits import LimitOptions
from structopt.run.result import Rescue, Result
from structopt.structures.base.oracles import best_other, worst
from structopt.structures.base.structure import Structure

logger = logging.getLogger(__name__)


class CuttingPlane(Method):
    """A cutting-plane run that can be stepped.

    Parameters beyond those of every :class:`~structopt.Method`:

    Parameters
    ----------
    structure, formulation, data, **limits
        See :class:`~structopt.Method`.
    backend : str or Backend
        Who solves the master problems.
    fallback : bool
        Whether the reference backend may solve rounds in which a backend that was named fails
        (`Result.rescued` says which); for "auto" it may.
    random_state : int, optional
        Seed of what the backend draws at random.
    warm_start : Result or State, optional
        What another run on the same data found, perhaps at another C: its weights are taken over,
        and its cuts if it has any. A state that is live (``run.state``) uses that run up: its pool
        and its backend go on here, if its cut families ask the same (else its weights alone).
    checkpoint : path, optional
        File to save progress to, and to resume from if it exists.
    start : float or array, optional
        Weights at which the first cuts are looked for, before any master is solved; 1.0 is line 2
        of LP-Struct's Algorithm 1. Without it the first master has no cuts. A warm start or a
        checkpoint comes before it.

    Examples
    --------
    >>> import structopt as so
    >>> X, y = so.datasets.make_classes(60, seed=0)
    >>> structure = so.Multiclass().fitted(X, y)
    >>> run = so.CuttingPlane(structure, so.M3N(), so.DataSet.of(structure, X, y))
    >>> first = run.step()
    >>> first.round, first.dual <= first.primal
    (1, True)
    >>> run.solve().certificate.certified
    True
    """

    name = "cutting-plane"
    only_asks = True
    max_age: ClassVar[int | None] = None
    """Rounds that a cut may stay idle; None is what suits the backend."""
    backend: Backend
    _forerunner: CuttingPlane | None = None  # that fixed a number of the formulation

    def __init__(
        self,
        structure: Structure,
        formulation: Formulation,
        data: DataSet,
        *,
        backend: str | Backend = "auto",
        fallback: bool = False,
        random_state: Seed | None = None,
        warm_start: Result | State | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        start: Any = None,
        **limits: Unpack[LimitOptions],
    ) -> None:
        super().__init__(structure, formulation, data, **limits)
        first = None if start is None else everywhere(start, data.n_features)
        self._asked = (backend, random_state)
        self.fallback = fallback or (isinstance(backend, str) and backend == "auto")
        self._below = LowerBound(self.master.program)
        self._pace, self._dropped_at = Pace(), -np.inf
        self._inside: Inside | None = None
        self._doubts = Doubts(self.master, data)
        self._here = Iterate(self._weights, self._primal)
        self._rounding = 0.0
        self._first: str | None = None  # the backend that another one finishes for
        self._rescued: list[Rescue] = []
        self._fingerprint: str | None = None
        self._checkpoint = None if checkpoint is None else Checkpoint(checkpoint)
        saved = None if self._checkpoint is None else self._checkpoint.load(Cuts.from_arrays)
        if saved is None and isinstance(warm_start, State) and warm_start.live is not None:
            self._go_on(warm_start.weights, warm_start.live)
            return
        self._start()
        if saved is not None:
            self._adopt(*saved)
        elif warm_start is not None:
            self._adopt(warm_start.weights, warm_start.cuts)
        elif self._forerunner is not None and self._forerunner.master.asks == self.master.asks[:1]:
            self._take(self._forerunner._weights, self._forerunner._cuts())
        elif first is not None:
            self._add(self._begin_at(first))
            self._pace.warm = False
        self._forerunner = None  # it has done its work

    # ------------------------------------------------------------------ running
    def result(self) -> Result:
        """Return the best model so far, and write it to the checkpoint."""
        if self._checkpoint is not None:
            self._checkpoint.save(self._weights, self._cuts, force=True)
        return super().result()

    @property
    def state(self) -> State:
        """What the run has found so far, its pool and its backend."""
        live = Live(self.master, self.backend, self._asked, self.fingerprint)
        return replace(super().state, live=live)

    def step(self) -> Round:
        """Do one round and return its record."""
        start = time.perf_counter()
        solution = self._solve_master()
        solved = time.perf_counter()
        rising = self._bound_below(solution)
        x = nearest_feasible(self.master, solution.x)
        repaired = time.perf_counter()
        separation = self._separate(x)
        asked = time.perf_counter()
        if self.backend.moving:
            self.backend.told(separation.value, self._dual, self._below.estimate)
        finished = self._finished()
        rounds = len(self.history) + 1
        if finished or rounds & (rounds - 1) == 0:
            self._doubts.check(x, separation)
        self.master.pool.settle(solution.cut_duals, negligible=self._negligible(solution))
        dropped = 0 if finished or not rising else self._drop()
        new = [] if finished else self._add(separation)
        added = sum(map(len, new))
        self._tune(added, separation.value, accurate=solution.status == "optimal")
        if self._checkpoint is not None:
            self._checkpoint.save(self._weights, self._cuts)
        lifted = (repaired - solved) + (time.perf_counter() - asked)
        return self._record(
            value=separation.value,
            violation=separation.violation,
            cuts_added=added,
            cuts_dropped=dropped,
            cuts=len(self.master.pool),
            nonzeros=self._nonzeros(solution),
            iterations=solution.iterations,
            oracle_seconds=asked - repaired,
            lift_seconds=lifted,
            solve_seconds=solved - start,
            found=FoundCuts(self.structure, self.data, self.master, separation.asked, new),
        )

    def iterate(self) -> Iterate:
        """Return the master's weights of the last round."""
        return self._here

    # ------------------------------------------------------------------ the parts of a round
    def _solve_master(self) -> MasterSolution:
        """Solve the master; while its objective falls for ever, ask for cuts that end the fall."""
        while True:
            found = solve_master(
                self.master,
                self.backend,
                len(self.history) + 1,
                tolerance=self._pace.tolerance,
                time_limit=self.limits.remaining(self._elapsed()),
                fallback=self.fallback,
            )
            self._rescued += [found.rescue] if found.rescue is not None else []
            if found.solution is not None:
                return found.solution
            late = self.limits.reached(self._elapsed())
            if late or not self._end_fall(found.descent):
                raise no_minimum(self.master, found.descent, late=late)

    def _end_fall(self, descent: Floats | None) -> bool:
        """Ask at 0, and ever further along a direction of descent; say whether cuts came."""
        direction = np.zeros(self.master.size) if descent is None else descent
        far = (0.0,) if descent is None else (0.0, 1.0, 1e3, 1e6)
        return any(any(map(len, self._add(self._evaluate(each * direction)))) for each in far)

    def _bound_below(self, solution: MasterSolution) -> bool:
        """Raise the lower bound; say whether it rose enough to make dropping cuts safe."""
        cuts, moving = self.master.pool.cuts, self.backend.moving
        bound = self._below.of(cuts, solution, rounds=len(self.history), moving=moving)
        if not np.isnan(bound):
            self._dual = max(self._dual, bound)
        return self._dual > self._dropped_at

    def _finished(self) -> bool:
        """Return whether no further cuts are needed."""
        return self._done()

    def _negligible(self, solution: MasterSolution) -> float:
        """Return the multiplier below which a cut counts as idle."""
        return 1e-12

    def _nonzeros(self, solution: MasterSolution) -> int:
        return int(np.count_nonzero(solution.x[self.master.weight_columns]))

    def _evaluate(self, x: Floats) -> Separation:
        """Ask the oracles at x: the cuts that it breaks, and the objective."""
        separation = separate(self.master, self.data, x, self._inside, self._objective)
        self._proven = self._proven and separation.exact
        self._doubts.hear(x, separation)
        return separation

    def _objective(self, x: Floats) -> float:
        """Return the formulation's objective at a point over all columns."""
        return self.master.objective(x)

    def _separate(self, x: Floats) -> Separation:
        """Ask the oracles at x and keep what was evaluated if it is the best so far."""
        separation = self._evaluate(x)
        if self._inside is None:
            self._inside = separation.inside
        weights = separation.point[self.master.weight_columns]
        self._here = Iterate(weights, separation.value, separation.residual)
        before = self._primal
        self._offer(*self._here)
        if self._primal < before:
            self._rounding = separation.rounding
        return separation

    def _drop(self) -> int:
        expired = self.master.pool.expired(self.max_age or self.backend.max_age)
        if 10 * (count := int(expired.sum())) < len(expired):  # not worth the moving
            return 0
        self._dropped_at = self._dual
        self.backend.delete(~expired)
        self.master.pool.keep(~expired)
        return count

    def _add(self, separation: Separation) -> list[Cuts]:
        """Add what is violated and new; return it, family by family."""
        added = [self.master.add(found) for found in separation.found]
        for rows in filter(len, added):
            self.backend.append(rows)
        return added

    def _tune(self, added: int, value: float, *, accurate: bool) -> None:
        """Set the pace of the next round, or let an exact backend finish."""
        restless = self.backend.moving or not accurate
        gap = relative(value, self._dual)
        self._pace.after(added, gap=gap, tol=self.limits.tol, restless=restless)
        if not added and self._stalled() and self.backend.finisher is not None:
            self._hand_over(self.backend.finisher)

    def _hand_over(self, exact: str) -> None:
        """Let an exact backend finish: the pool holds what the answer needs."""
        logger.info("%r hands over to %r", self.backend.name, exact)
        self._first, self._pace.idle = self.backend.name, 0
        self.backend = registry.choose(exact, self.master)
        self.backend.start(self.master)
        self.backend.append(self.master.pool.cuts)

    def _stalled(self) -> bool:
        return self._pace.over(len(self.master.pool), moving=self.backend.moving)

    # ------------------------------------------------------------------ before and after
    def _start(self) -> None:
        """Choose a backend and set it up without cuts."""
        backend, random_state = self._asked
        self.backend = registry.choose(backend, self.master, random_state)
        self.backend.start(self.master)

    def _begin_anew(self) -> None:
        """Go on with a fresh backend; without any model, evaluate weights of 0."""
        self._start()
        self.backend.append(self.master.pool.cuts)
        if not self.history:
            self._begin_at(self._weights)

    def _adopt(self, weights: Floats, cuts: Cuts | None) -> None:
        """Take over the cuts of an earlier run, and its weights as the first upper bound."""
        foreign = cuts is not None and cuts.fingerprint != self.fingerprint
        if foreign or len(weights) != self.data.n_features:
            raise InvalidInputError(OTHER)
        weights = check_weights(weights, self.data.n_features)
        if cuts is None:
            self._begin_at(weights)
        else:
            self._take(weights, cuts)

    def _take(self, weights: Floats, cuts: Cuts) -> None:
        families = list(filter(len, by_family(cuts, self.master)))
        for mine in families:
            self.backend.append(self.master.add(mine))
        multipliers = np.concatenate([np.zeros(0), *(mine.multiplier for mine in families)])
        if len(multipliers) == len(self.master.pool):
            self.backend.warm(multipliers, weights)
        self._begin_at(weights)

    def _go_on(self, weights: Floats, live: Live) -> None:
        """Take over the pool of another run, and its backend if that can go on.

        Where its families ask something else of the same data, only the weights are taken.
        """
        if live.fingerprint != self.fingerprint:
            if live.fingerprint != self._named_by(live.master.asks):
                raise InvalidInputError(OTHER)
            self._start()
            self._begin_at(weights)
            return
        master, backend = live.master, live.backend
        if backend.finisher is None:  # idle cuts slow an exact solve down, and come back if needed
            used = master.pool.multipliers != 0
            backend.delete(used)
            master.pool.keep(used)
        same = self.master.take_over(master) and repr(live.asked) == repr(self._asked)
        fits = same and backend.refusal(self.master.program, self.master.samples()) is None
        if fits and backend.resume(self.master):
            self.backend = backend
        else:
            self._start()
            self.backend.append(self.master.pool.cuts)
            self.backend.warm(self.master.pool.multipliers, weights)
        self._begin_at(weights)

    def _begin_at(self, weights: Floats) -> Separation:
        """Evaluate weights, for a first upper bound."""
        self._pace.warm = True
        x = self.master.program.at(weights)
        separation = self._separate(x)
        if np.isinf(separation.value):  # bounds broken: now with a point to retreat to
            self._separate(nearest_feasible(self.master, 0.0 * x))
            separation = self._separate(x)
        return separation

    def _largest_projection(self, formulation: Formulation) -> float:
        """Solve another formulation on the same data; return its largest |w . delta|."""
        self._check_abilities(type(self.formulation).__name__, worst, best_other)
        limits = replace(self.limits, callbacks=())
        self._forerunner = CuttingPlane(self.structure, formulation, self.data, limits=limits)
        largest, self._caveat = largest_projection(self._forerunner)
        return largest

    @property
    def fingerprint(self) -> str:
        """A name for the data, the structure and the cut families."""
        if self._fingerprint is None:
            self._fingerprint = self._named_by(self.master.asks)
        return self._fingerprint

    def _named_by(self, families: list[tuple[str | bool, ...]]) -> str:
        return self.data.fingerprint(repr(self.structure) + repr(families))

    def _cuts(self) -> Cuts:
        return self.master.pool.export(self.fingerprint)

    def _solved_by(self) -> dict[str, Any]:
        first, last = self._first, self.backend.name
        return {
            "backend": first or last,
            "finisher": last if first else None,
            "rescued": tuple(self._rescued),
            "cuts": self._cuts(),
        }

    def _note(self) -> str:
        rounded = f"{self._rounding:.2g} of the primal value covers the rounding of oracles"
        return super()._note() or (rounded if self._rounding > 0 else "")
