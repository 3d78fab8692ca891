r"""The masters of one run, solved again by every backend: warm, on a live model, and cold.

A cutting-plane run is a sequence of growing programmes. It is recorded once, nothing dropped; then
every backend gets the same cuts round by round, once appended to a backend that lives on (warm) and
once as a new backend for each master (cold). A master counts as solved when the lower bound that
the backend's multipliers prove is within the tolerance of the best that any of them proves.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from structopt.backends import registry
from structopt.backends.base import MasterSolution
from structopt.lab.harness.study import turns
from structopt.master.cuts import Cuts
from structopt.master.lagrangian import Lagrangian
from structopt.master.separation import separate
from structopt.methods.cutting_plane import CuttingPlane

TOLERANCE, PROVED = 1e-4, 1e-3
"""The relative gap that each master is asked for, and the one that its multipliers must prove."""

Make = Callable[..., CuttingPlane]


@dataclass
class Timing:
    """CPU seconds of each master, and the lower bound that was proved."""

    seconds: list[float] = field(default_factory=list)
    bounds: list[float] = field(default_factory=list)
    reason: str = ""

    @property
    def total(self) -> float:
        """CPU seconds of the whole sequence."""
        return sum(self.seconds)


@dataclass
class Replay:
    """A sequence of masters and how long it took, by backend.

    Attributes
    ----------
    cuts : list of int
        That came before each master.
    warm, cold : dict of str to Timing
    left_out : dict of str to str
        Backends that do not solve a master in one call, and why.
    """

    cuts: list[int]
    warm: dict[str, Timing] = field(default_factory=dict)
    cold: dict[str, Timing] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)


def replay(
    make: Make, backends: Mapping[str, Any], *, masters: int, time_limit: float
) -> Replay | None:
    """Record a run and solve its masters again; None for cones, where no bound is proved.

    Parameters
    ----------
    make : callable
        ``make(backend)`` gives a cutting-plane run that has not begun.
    backends : mapping of str to str or Backend
    masters : int
        Length of the sequence, at most.
    time_limit : float
        CPU seconds after which a backend leaves a sequence.
    """
    takers = {name: registry.make(backend) for name, backend in backends.items()}
    exact = {name: backend for name, backend in takers.items() if not backend.moving}
    if not exact:
        return None
    batches = _record(make, next(iter(exact.values())), masters)
    done = Replay([sum(map(len, batch)) for batch in batches])
    done.left_out = {n: "moves a little each round" for n in takers if n not in exact}
    competitors = {}
    for name, backend in exact.items():
        competitors[f"{name} warm"] = _Competitor(make, backend, live=True)
        competitors[f"{name} cold"] = _Competitor(make, backend, live=False)
        done.warm[name] = competitors[f"{name} warm"].timing
        done.cold[name] = competitors[f"{name} cold"].timing
    for number, batch in enumerate(batches):
        for name in turns(list(competitors), number):
            competitors[name].step(batch, time_limit)
    _judge(done, len(batches))
    return done


def _record(make: Make, backend: Any, masters: int) -> list[list[Cuts]]:
    run = make(copy.copy(backend))
    batches: list[list[Cuts]] = []
    inside = None
    while len(batches) < masters:
        separation = separate(
            run.master, run.data, run.backend.solve(tolerance=TOLERANCE).x, inside
        )
        inside = inside or separation.inside
        batch = separation.found
        added = 0
        for found in batch:
            rows = run.master.add(found)
            run.backend.append(rows)
            added += len(rows)
        if not added:
            break
        batches.append(batch)
    return batches


class _Competitor:
    def __init__(self, make: Make, backend: Any, *, live: bool) -> None:
        run = make(copy.copy(backend))  # its backend is started, without cuts
        self._master, self._backend, self._live = run.master, run.backend, live
        self._lagrangian = Lagrangian(run.master.program)
        self._fresh, self.timing = backend, Timing()

    def step(self, batch: list[Cuts], limit: float) -> None:
        if self.timing.reason:
            return
        added = [self._master.add(found) for found in batch]
        start = time.process_time()
        if self._live:
            for rows in added:
                self._backend.append(rows)
        else:
            self._backend = copy.copy(self._fresh)
            self._backend.start(self._master)
            self._backend.append(self._master.pool.cuts)
        solution = self._backend.solve(tolerance=TOLERANCE)
        self.timing.seconds.append(time.process_time() - start)
        self.timing.bounds.append(self._bound(solution))
        if self.timing.total > limit:
            self.timing.reason = f"not within {limit:g} CPU seconds"

    def _bound(self, solution: MasterSolution) -> float:
        if solution.status not in ("optimal", "inaccurate") or not np.all(np.isfinite(solution.x)):
            return -np.inf
        priced = self._lagrangian.price(
            self._master.pool.cuts, solution.cut_duals, solution.static_duals
        )
        return self._lagrangian.value(priced, solution.x)


def _judge(done: Replay, masters: int) -> None:
    timings = [*done.warm.values(), *done.cold.values()]
    for number in range(masters):
        best = max((t.bounds[number] for t in timings if number < len(t.bounds)), default=-np.inf)
        for timing in timings:
            if number < len(timing.bounds) and not timing.reason:
                short = best - timing.bounds[number]
                if not short <= PROVED * max(1e-12, abs(best)):
                    timing.reason = f"master {number + 1} is short of its bound by {short:.1e}"
