r"""The extragradient method for linear and quadratic programmes.

Korpelevich's step for the saddle point of :mod:`structopt.backends.extragradient.problem`: predict,
then correct from the old point with the slopes at the predicted one,

    xb = prox(x - eta/omega (P x + q - A'y)),      yb = prox(y + eta omega (b - A x)),
    x  = prox(x - eta/omega (P xb + q - A'yb)),    y  = prox(y + eta omega (b - A xb)).

``variant="paper"`` is Algorithm 2 of Wang and Shawe-Taylor (2009): no scaling, the fixed step
(2 |A|_F^2 + 2 |P|_F^2)^(-1/2), and its stopping rule. ``variant="restarted"`` adds what PDLP
(Applegate et al., 2021) added to another first-order method: scaled rows and columns, a step that
follows the local Lipschitz constant, a primal weight omega, averages of the predicted points, and
restarts from the better of iterate and average on their KKT error. A P that is diagonal, l1 and
bounds are part of the proximal step. It ends when the certified gap (:mod:`.judge`) is within
tolerance, or when a ray (:mod:`.rays`) proves that there is no solution.

>>> import numpy as np, scipy.sparse as sp
>>> p = Program(P=sp.csr_array((2, 2)), q=np.ones(2), l1=np.zeros(2),
...             A=sp.csr_array([[1.0, 2.0]]), lower=np.array([4.0]), upper=np.array([np.inf]),
...             lb=np.zeros(2), ub=np.full(2, np.inf))
>>> found = solve(p, tolerance=1e-8)
>>> found.status, found.x.round(6), found.y.round(6)
('optimal', array([0., 2.]), array([0.5]))
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.backends.extragradient.judge import Assessment, Judge
from structopt.backends.extragradient.outcome import (
    Callback,
    Iterate,
    Memory,
    Solution,
    Status,
    Variant,
)
from structopt.backends.extragradient.rays import proves_infeasible, proves_unbounded
from structopt.backends.extragradient.scaling import Scale, parts
from structopt.backends.extragradient.step_kernels import COUNT, STEP, TOTAL, WEIGHT, steps
from structopt.errors import InvalidInputError
from structopt.master.program import Program

SAFETY = 0.9
"""Largest step times local Lipschitz constant: 1 would cycle on u * v."""
SUFFICIENT, NECESSARY, ARTIFICIAL = 0.2, 0.8, 0.36
"""When to restart, as in PDLP: the error fell to a fifth; to four fifths and rises again; the run
since the last restart is this share of all steps."""


def solve(
    problem: Program,
    *,
    tolerance: float = 1e-6,
    max_iter: int = 1_000_000,
    time_limit: float | None = None,
    variant: Variant = "restarted",
    start: tuple[Floats, Floats] | None = None,
    memory: Memory | None = None,
    floor: float = 1.0,
    stationary: bool = True,
    every: int = 64,
    callback: Callback | None = None,
) -> Solution:
    """Solve a programme.

    Parameters
    ----------
    problem : Program
    tolerance : float
        Certified gap to reach; in the paper's variant, both numbers of its stopping rule.
    max_iter : int
    time_limit : float, optional
        Seconds.
    variant : {"restarted", "paper"}
    start : pair of arrays, optional
        x and y to start from.
    memory : Memory, optional
        Of an earlier solve.
    floor : float
        Objective below which the gap counts as absolute.
    stationary : bool
        Whether x itself must be stationary to the tolerance: see :class:`.judge.Judge`.
    every : int
        Steps between two looks at the gap.
    callback : callable, optional
        Gets an :class:`Iterate` at every look; a true answer ends the solve.

    Raises
    ------
    InvalidInputError
        An unknown variant, or numbers that are not finite.
    """
    if variant not in ("restarted", "paper"):
        raise InvalidInputError(f"variant is 'restarted' or 'paper', not {variant!r}.")
    numbers = problem.P.data, problem.q, problem.l1, problem.A.data
    if not all(np.all(np.isfinite(part)) for part in numbers):
        raise InvalidInputError("A cost or coefficient is not finite: look for NaN in the data.")
    sides = problem.lower, problem.upper, problem.lb, problem.ub
    if any(np.any(np.isnan(part)) for part in sides):
        raise InvalidInputError("A bound is NaN: look for NaN in the data.")
    if _crossed(problem):
        x, y, scale = np.zeros(len(problem.q)), np.zeros(len(problem.lower)), Scale.none(problem)
        memory = Memory(1.0, 1.0, scale)
        return Solution("infeasible", x, y, np.inf, np.inf, np.inf, 0, 0.0, memory)
    run = _Run(problem, variant, start, memory, floor, stationary)
    return run.to(tolerance, max_iter, time_limit, max(1, every), callback)


def _crossed(p: Program) -> bool:
    """Whether a lower bound exceeds its upper bound, or an end is infinite the wrong way."""
    sides = (p.lower, p.upper), (p.lb, p.ub)
    return any(np.any((a > b) | np.isposinf(a) | np.isneginf(b)) for a, b in sides)


class _Run:
    """One solve: the scaled problem, the iterate, and the sums of the average."""

    def __init__(
        self,
        problem: Program,
        variant: Variant,
        start: Any,
        memory: Memory | None,
        floor: float,
        stationary: bool,
    ) -> None:
        self.began = time.perf_counter()
        self.problem, self.paper = problem, variant == "paper"
        self.judge = Judge(problem, floor, stationary=stationary)
        curvature, explicit = problem.diagonal, problem.P
        if self.paper:
            curvature, memory, self.scale = None, None, Scale.none(problem)
        else:
            if curvature is not None:
                explicit = sp.csr_array(problem.P.shape)
            self.scale = Scale.of(problem.A, explicit, None if memory is None else memory.scale)
        self.scaled = scaled = self.scale.apply(replace(problem, P=explicit))
        self.A, self.At = scaled.A, sp.csr_array(scaled.A.T)
        if curvature is None:
            curvature = np.zeros(len(problem.q))
        self._costs = scaled.q, scaled.l1, self.scale.columns**2 * curvature
        self._matrices = parts(self.A), parts(self.At), parts(scaled.P)
        self._sides, self._box = (scaled.lower, scaled.upper), (scaled.lb, scaled.ub)
        x, y = (np.zeros(len(problem.q)), np.zeros(len(problem.lower))) if start is None else start
        self.x = np.clip(x / self.scale.columns, scaled.lb, scaled.ub)
        self.y = y / self.scale.rows
        self.sum_x, self.sum_y = np.zeros_like(self.x), np.zeros_like(self.y)
        self._predicted = tuple(np.empty_like(v) for v in (self.x, self.y, self.y, self.x))
        self.state = np.zeros(4)
        self._set_steps(memory)
        self._stand()

    def _set_steps(self, memory: Memory | None) -> None:
        scaled, data = self.scaled, np.concatenate([self.A.data, self.scaled.P.data])
        if self.paper:
            frobenius = np.sqrt(2.0 * float(data @ data))
            self.state[STEP], self.state[WEIGHT] = 1.0 / frobenius if frobenius > 0 else 1.0, 1.0
        elif memory is not None:
            self.state[STEP], self.state[WEIGHT] = memory.step, memory.weight
        else:
            largest = np.max(np.abs(data), initial=0.0)
            self.state[STEP] = 1.0 / largest if largest > 0 else 1.0
            sides = np.where(np.isfinite(scaled.lower), scaled.lower, scaled.upper)
            right = np.linalg.norm(sides[np.isfinite(sides)])
            cost = np.linalg.norm(scaled.q) + np.linalg.norm(scaled.l1)
            self.state[WEIGHT] = cost / right if cost > 0 and right > 0 else 1.0

    def _stand(self) -> None:
        """Compute from the iterate what the steps carry along, and begin a new average."""
        self.value = self.A @ self.x
        self.slope = self.scaled.q + self.scaled.P @ self.x - self.At @ self.y
        self.anchor = self.x.copy(), self.y.copy()
        self.sum_x[:], self.sum_y[:], self.state[TOTAL] = 0.0, 0.0, 0.0
        self._half: tuple[float, Floats, Floats] = 0.0, self.sum_x, self.sum_y

    def to(
        self,
        tolerance: float,
        max_iter: int,
        time_limit: float | None,
        every: int,
        callback: Callback | None,
    ) -> Solution:
        deadline = np.inf if time_limit is None else self.began + time_limit
        best, last_error, before = self._assess(self.x, self.y), self._kkt(self.x, self.y), np.inf
        restarts, looks, since, status = 0, 0, 0, "optimal"
        while self.paper or best.error > tolerance:
            done = int(self.state[COUNT])
            if done >= max_iter or time.perf_counter() > deadline:
                status = "max_iter" if done >= max_iter else "time_limit"
                break
            earlier = self.x.copy(), self.y.copy()
            stopped = self._advance(min(every, max_iter - done), tolerance)
            looks += 1
            candidates = [(self.x, self.y)]
            if not self.paper and self.state[TOTAL] > 0:
                total = self.state[TOTAL]
                candidates.append((self.sum_x / total, self.sum_y / total))
            found = [self._assess(*pair) for pair in candidates]
            best = min([*found, best], key=lambda a: a.error)
            if callback is not None and callback(self._iterate(found, restarts)):
                status = "callback"
                break
            if stopped:
                best = found[0]
                break
            if looks % 4 == 1 and (proof := self._ray(earlier)) is not None:
                status = proof
                break
            if self.paper:
                continue
            errors = [self._kkt(*pair) for pair in candidates]
            chosen = int(np.argmin(errors))
            error, since = errors[chosen], since + every
            better = error <= SUFFICIENT * last_error or (
                error <= NECESSARY * last_error and error > before
            )
            if better or (since >= ARTIFICIAL * self.state[COUNT] and looks > 1):
                self._restart(*candidates[chosen], reweigh=error <= last_error)
                last_error, before, since = self._kkt(self.x, self.y), np.inf, 0
                restarts += 1
            else:
                before = error
        return Solution(
            status=status,  # type: ignore[arg-type]
            x=best.x,
            y=best.y,
            primal=best.primal,
            dual=best.dual,
            error=best.error,
            iterations=int(self.state[COUNT]),
            seconds=time.perf_counter() - self.began,
            memory=Memory(float(self.state[STEP]), float(self.state[WEIGHT]), self.scale),
        )

    # ------------------------------------------------------------------ parts of the loop
    def _advance(self, count: int, tolerance: float) -> bool:
        """Do some steps; whether the paper's rule says to stop."""
        if not self.paper:
            self._steps(count)
            return False
        self._steps(count - 1)
        x, y = self.x.copy(), self.y.copy()
        self._steps(1)
        moved = max(_ratio(self.x - x, self.x), _ratio(self.y - y, self.y))
        iterate = self._iterate([], 0)
        return moved < tolerance and iterate.primal - iterate.dual < tolerance

    def _steps(self, count: int) -> None:
        point = self.x, self.y, self.value, self.slope
        sums, safety = (self.sum_x, self.sum_y), 0.0 if self.paper else SAFETY
        steps(
            count, *self._matrices, self._costs, self._sides, self._box, point, self._predicted,
            sums, self.state, safety,
        )  # fmt: skip

    def _restart(self, x: Floats, y: Floats, *, reweigh: bool) -> None:
        # iterates that run away (there is no solution) would drag the weight along
        before_x, before_y = self.anchor
        self.x[:], self.y[:] = x, y
        moved, turned = np.linalg.norm(x - before_x), np.linalg.norm(y - before_y)
        if reweigh and moved > 1e-10 and turned > 1e-10:
            self.state[WEIGHT] = np.sqrt(self.state[WEIGHT] * turned / moved)
        self._stand()

    def _kkt(self, x: Floats, y: Floats) -> float:
        """Return the KKT error of a scaled pair, primal and dual parts weighed by omega."""
        s, omega = self.scaled, self.state[WEIGHT]
        value = self.A @ x
        Px = s.P @ x + self._costs[2] * x
        slope = s.q + Px - self.At @ y
        primal = np.maximum(0.0, np.maximum(s.lower - value, value - s.upper))
        below = np.where(np.isposinf(s.ub), -s.l1 - slope, 0.0)
        above = np.where(np.isneginf(s.lb), slope - s.l1, 0.0)
        dual = np.maximum(0.0, np.maximum(below, above))
        over = np.sign(slope) * np.maximum(np.abs(slope) - s.l1, 0.0)
        at = np.where(over > 0, s.lb, s.ub)
        held = (over != 0) & np.isfinite(at)
        bounds = float(over[held] @ at[held])
        gap = float(x @ Px + s.q @ x + s.l1 @ np.abs(x)) - s.sides(y) - bounds
        parts = omega * np.linalg.norm(primal), np.linalg.norm(dual) / omega, gap
        return float(np.sqrt(sum(part**2 for part in parts)))

    def _assess(self, x: Floats, y: Floats) -> Assessment:
        return self.judge.assess(x * self.scale.columns, y * self.scale.rows)

    def _iterate(self, found: list[Assessment], restarts: int) -> Iterate:
        x, y = self.x * self.scale.columns, self.y * self.scale.rows
        p = self.problem
        dual = p.sides(self.judge.signed(y))
        if p.P.nnz:
            dual -= 0.5 * float(x @ (p.P @ x))
        error = min((f.error for f in found), default=np.inf)
        return Iterate(int(self.state[COUNT]), p.objective(x), dual, error, restarts)

    def _ray(self, earlier: tuple[Floats, Floats]) -> Status | None:
        """Say what the directions of the last steps, and of averages since the restart, prove."""
        columns, rows = self.scale.columns, self.scale.rows
        directions = [(self.x - earlier[0], self.y - earlier[1])]
        then, half_x, half_y = self._half
        total = float(self.state[TOTAL])
        if total > then > 0:
            # what circles in the iterates cancels in their averages over two stretches
            late = total - then
            mean_x = (self.sum_x - half_x) / late - half_x / then
            mean_y = (self.sum_y - half_y) / late - half_y / then
            directions.append((mean_x, mean_y))
        for x, y in directions:
            if proves_infeasible(self.problem, y * rows):
                return "infeasible"
            if proves_unbounded(self.problem, x * columns):
                return "unbounded"
        if total >= 2 * then:
            self._half = total, self.sum_x.copy(), self.sum_y.copy()
        return None


def _ratio(step: Floats, whole: Floats) -> float:
    size, length = float(np.linalg.norm(whole)), float(np.linalg.norm(step))
    return length / size if size > 0 else length
