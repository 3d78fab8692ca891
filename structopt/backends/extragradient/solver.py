r"""The loop: steps, a look, perhaps a restart, until a certificate or a ray ends it.

For the saddle point of :mod:`.problem`, on a presolved (:mod:`.presolve`) and scaled
(:mod:`.scaling`) problem,

    repeat  40 steps z <- next(z, T(z))                           (:mod:`.step_kernels`)
            T(z) certified on the problem as given?  -> optimal   (:mod:`.certificate`)
            directions prove there is no solution?   -> end       (:mod:`.rays`)
            there is no point at all?                -> end       (:mod:`.feasible`)
            fixed-point error small or stuck?        -> anchor and z at T(z), perhaps polished
                                                        (:mod:`.restart`, :mod:`.polish`), and a
                                                        new primal weight (:mod:`.weight`)

The variants differ in T and in what surrounds it (:mod:`.recipe`):

* ``"alternating"``: two products a step (three with P), anchored and reflected. On equations it is
  the primal-dual hybrid gradient method in (x, yb), whence its norm, its step 0.998 / |A| and
  Halpern's iteration; rows with inequalities have no such proof, so an error that grows takes the
  reflection back. A general P enters the step of x by a diagonal D >= P, D_j = sum_i |P_ij|.
* ``"korpelevich"``: the textbook's step, predict both and correct both, four products.
* ``"paper"``: Algorithm 2 of Wang and Shawe-Taylor (2009), by the letter: Korpelevich's step on the
  problem as it is with the fixed step (2 |A|_F^2 + 2 |P|_F^2)^(-1/2), ended by its own rule, which
  is looked at after every step; the last iterate itself is the answer.

>>> import numpy as np, scipy.sparse as sp
>>> p = Program(P=sp.csr_array((2, 2)), q=np.ones(2), l1=np.zeros(2),
...             A=sp.csr_array([[1.0, 2.0]]), lower=np.array([4.0]), upper=np.array([np.inf]),
...             lb=np.zeros(2), ub=np.full(2, np.inf))
>>> found = solve(p, tolerance=1e-8, without=["presolve"])
>>> found.status, found.x.round(6), found.y.round(6)
('optimal', array([0., 2.]), array([0.5]))
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.backends.extragradient import weight as weights
from structopt.backends.extragradient.certificate import Assessment, Check, Quick, Residuals
from structopt.backends.extragradient.feasible import Feasibility
from structopt.backends.extragradient.outcome import Callback, Iterate, Memory, Solution, Status
from structopt.backends.extragradient.polish import Point, Polish, copied
from structopt.backends.extragradient.presolve import Reduction, presolve
from structopt.backends.extragradient.problem import checked, contradiction, sizes
from structopt.backends.extragradient.rays import Rays, proves_infeasible
from structopt.backends.extragradient.recipe import Recipe, Variant
from structopt.backends.extragradient.restart import Restart
from structopt.backends.extragradient.scaling import Scale, parts
from structopt.backends.extragradient.step import Steps
from structopt.backends.extragradient.step_kernels import (
    ERROR,
    FIRST,
    INNER,
    PRODUCTS,
    STEPS,
    STOPPED,
    alternating,
    korpelevich,
)
from structopt.master.program import Program

EVERY = 40
"""Steps between two looks."""
GROWTH = 1e3
"""Fixed-point error, as a multiple of that at the restart, from which on a run has gone astray."""
PATIENT, SHARE, ROUNDING = 1024, 0.2, 1e-12
"""Looks after which a feasible point is sought on the way, again and again; the share of all
products for that; primal residual up to which none is sought before "optimal" is said."""

Pair = tuple[Floats, Floats]


def solve(
    problem: Program,
    *,
    tolerance: float = 1e-6,
    max_iter: int = 10_000_000,
    time_limit: float | None = None,
    variant: Variant = "alternating",
    without: Sequence[str] = (),
    start: Pair | None = None,
    memory: Memory | None = None,
    check: Callable[[Program], Check] | None = None,
    eps: tuple[float, float] | None = None,
    every: int = EVERY,
    callback: Callback | None = None,
) -> Solution:
    """Solve a programme.

    Parameters
    ----------
    problem : Program
    tolerance : float
        Certified error to reach.
    max_iter : int
    time_limit : float, optional
        Seconds.
    variant : {"alternating", "korpelevich", "paper"}
    without : sequence of str
        Ingredients to leave out (:class:`.recipe.Recipe`).
    start : pair of arrays, optional
        x and y to start from.
    memory : Memory, optional
        Of an earlier solve.
    check : callable, optional
        Makes the judge of pairs, for masters (:class:`.judge.Judge`), which is then asked at every
        look; default: :class:`.certificate.Residuals`.
    eps : pair of float, optional
        The paper's eps1 and eps2; the tolerance stands for both.
    every : int
        Steps between two looks.
    callback : callable, optional
        Gets an :class:`Iterate` at every look; a true answer ends the solve.

    Raises
    ------
    InvalidInputError
        An unknown variant or ingredient, or numbers that are not finite.
    """
    began = time.perf_counter()
    recipe = Recipe.of(variant, without)
    problem = checked(problem)
    judge = Residuals(problem) if check is None else check(problem)
    x, y = (np.zeros(len(problem.q)), np.zeros(len(problem.lower))) if start is None else start
    if (reason := contradiction(problem)) is not None:
        return _ended("infeasible", judge, (x, y), began, reason=reason)
    if start is not None and variant != "paper" and judge.assess(x, y).error <= tolerance:
        search = Feasibility(problem, x)
        ray = search.seek(search.least) if recipe.feasibility else None
        status: Status = "optimal" if ray is None else "infeasible"
        return _ended(status, judge, (x, y), began, memory=memory, ray=ray)
    reduction = Reduction(problem)
    if recipe.presolve:
        reduction = presolve(problem)
        if reduction.proof is not None:
            if proves_infeasible(problem, reduction.proof):
                return _ended("infeasible", judge, (x, y), began, ray=reduction.proof)
            reduction = Reduction(problem)  # by rounding only
    run = _Run(problem, reduction, recipe, variant, (x, y), memory, judge, began)
    run.always = check is not None
    if variant == "paper":
        run.eps = (tolerance, tolerance) if eps is None else eps
    return run.to(tolerance, max_iter, time_limit, max(1, every), callback)


def _ended(
    status: Status, judge: Check, pair: Pair, began: float, *, memory: Memory | None = None,
    ray: Floats | None = None, reason: str = "",
) -> Solution:  # fmt: skip
    """Return what was clear before the first step."""
    found = judge.assess(*pair)
    return Solution(
        status, found.x, found.y, found.primal, found.dual, found.primal_residual,
        found.dual_residual, found.error, 0, 0, 0, time.perf_counter() - began, memory, ray, reason,
    )  # fmt: skip


class _Run:
    """One solve: the scaled problem, the iterate, its image and its anchor."""

    always = False
    """Whether the judge is asked at every look."""
    eps = (0.0, 0.0)

    def __init__(
        self, problem: Program, reduction: Reduction, recipe: Recipe, variant: Variant,
        start: Pair, memory: Memory | None, judge: Check, began: float,
    ) -> None:  # fmt: skip
        self.problem, self.reduction, self.recipe, self.judge = problem, reduction, recipe, judge
        self.began, self.paper = began, variant == "paper"
        self.small = small = reduction.problem
        fits = memory is not None and (
            len(memory.scale.rows) <= len(small.lower) and len(memory.scale.columns) <= len(small.q)
        )
        before = memory if fits else None
        self.scale = Scale.of(
            small, None if before is None else before.scale,
            matrix=recipe.scaling, norms=recipe.norms,
        )  # fmt: skip
        self.scaled = s = self.scale.apply(small)
        self.At = sp.csr_array(s.A.T)
        self._advance = alternating if variant == "alternating" else korpelevich
        self.reflection = 1.0 if recipe.reflection else 0.0
        self.residuals = Residuals(small, self.scale)
        self.polish, self.rays = Polish(s, self.At), Rays(s, self.At)
        self.search: Feasibility | None = None
        self.restart, self.restarts, self.looked = Restart(), 0, 0
        self.state = np.zeros(6)
        self.steps = Steps(s, variant, None if before is None else before.direction)
        self.state[PRODUCTS] += self.steps.products
        self.weight = weights.Weight(self._first_weight() if memory is None else memory.weight)
        self._stand_at(start)

    # ------------------------------------------------------------------ before the first step
    def _first_weight(self) -> float:
        if self.recipe.norms or not self.recipe.weight:
            return 1.0
        s = self.scaled
        cost = float(np.linalg.norm(s.q) + np.linalg.norm(s.l1))
        return weights.from_norms(cost, float(np.linalg.norm(sizes(s.lower, s.upper))))

    def _stand_at(self, start: Pair) -> None:
        s = self.scaled
        x, y = self.scale.into(*self.reduction.into(*start))
        x = np.clip(x, s.lb, s.ub)
        self.z: Point = x, y.astype(np.float64), s.A @ x, s.P @ x
        self.image, self.anchor = copied(self.z), copied(self.z)
        self._work = np.zeros(len(x)), np.zeros(len(y))
        self._matrices = parts(s.A), parts(self.At), parts(s.P)
        self._costs, self._sides, self._box = (s.q, s.l1), (s.lower, s.upper), (s.lb, s.ub)
        self._lengths = self.steps.lengths(self.weight.value)
        self.best_error, self.best = np.inf, (x.copy(), y.copy())
        self.certified: Assessment | None = None

    # ------------------------------------------------------------------ the loop
    def to(
        self, tolerance: float, max_iter: int, time_limit: float | None, every: int,
        callback: Callback | None,
    ) -> Solution:  # fmt: skip
        deadline = np.inf if time_limit is None else self.began + time_limit
        self._inner = tolerance
        while True:
            if (done := int(self.state[STEPS])) >= max_iter:
                return self._solution("max_iter")
            if time.perf_counter() > deadline:
                return self._solution("time_limit")
            self._do(min(every, max_iter - done))
            quick = self._look(self.image)
            reached = self._reaches(self.image, quick, tolerance)
            if callback is not None and callback(self._iterate(quick)):
                return self._solution("callback")
            if self.paper:
                if self.state[STOPPED]:
                    return self._last(tolerance)
                continue
            if reached:
                return self._end()
            self.looked += 1
            due = self.recipe.restarts and self.restart.due(
                self.state[ERROR], self.state[FIRST], self.state[INNER], self.state[STEPS]
            )
            doubled = self.looked & (self.looked - 1) == 0
            if (due or doubled) and (ended := self._proved()):
                return ended
            if self.looked % PATIENT == 0:
                x = self._given(*self.image[:2])[0]
                if ended := self._sought(x):
                    return ended
            if not self.state[ERROR] <= GROWTH * self.state[FIRST]:
                self._turn_back()
            elif due and self._restart(quick, tolerance):
                return self._end()

    def _do(self, count: int) -> None:
        rules = np.array([self.reflection, self.recipe.anchor, *self.eps])
        self._advance(
            count, self._matrices, self._costs, self._sides, self._box, self._lengths, self.z,
            self.image, self.anchor, self._work, self.state, rules,
        )  # fmt: skip

    def _look(self, point: Point) -> Quick:
        self.state[PRODUCTS] += 1
        quick = self.residuals.quick(*point)
        if quick.error < self.best_error:
            self.best_error, self.best = quick.error, (point[0].copy(), point[1].copy())
        return quick

    def _reaches(self, point: Point, quick: Quick, tolerance: float) -> bool:
        """Whether the judge certifies a point; asked when the scaled numbers say so."""
        if not (self.always or quick.error <= self._inner):
            return False
        found = self._assess(point[0], point[1])
        if self.certified is None or found.error < self.certified.error:
            self.certified = found
        if found.error > tolerance and not self.always:
            self._inner *= 0.5  # what came back by the presolve is a little worse
        return found.error <= tolerance

    def _given(self, x: Floats, y: Floats) -> Pair:
        """Return a pair in the terms of the problem given."""
        return self.reduction.back(*self.scale.back(x, y))

    def _assess(self, x: Floats, y: Floats) -> Assessment:
        return self.judge.assess(*self._given(x, y))

    def _restart(self, quick: Quick, tolerance: float) -> bool:
        """Begin anew from T(z), polished if that helps; whether the polished point is the end."""
        point, (x, y) = self.image, self.image[:2]
        if self.recipe.weight:
            moved = np.linalg.norm(x - self.anchor[0]), np.linalg.norm(y - self.anchor[1])
            self.weight.moved(float(moved[0]), float(moved[1]))
        if self.recipe.polish:
            spent = self.polish.spent
            better = self.polish.polished(point, self.state[PRODUCTS])
            self.state[PRODUCTS] += self.polish.spent - spent
            if better is not None:
                found = self._look(better)
                if self._reaches(better, found, tolerance):
                    return True
                if found.error < 0.5 * quick.error:
                    point = better
        self._begin_at(point[0], point[1])
        return False

    def _begin_at(self, x: Floats, y: Floats) -> None:
        s = self.scaled
        fresh = x, y, s.A @ x, s.P @ x  # computed anew: nothing drifts
        self.state[PRODUCTS] += 1 + (s.P.nnz > 0)
        for place in (self.z, self.anchor):
            for old, new in zip(place, fresh, strict=True):
                old[:] = new
        self.state[INNER] = 0.0
        self.restarts += 1
        self._lengths = self.steps.lengths(self.weight.value)

    def _turn_back(self) -> None:
        """Go back to the best point with less of a reflection."""
        self.reflection = 0.5 * self.reflection if self.reflection > 0.2 else 0.0
        self.restart = Restart()
        self._begin_at(*self.best)

    # ------------------------------------------------------------------ the ends
    def _proved(self) -> Solution | None:
        """Look for a ray among the way since the restart and the point itself."""
        spent = self.rays.spent
        found = self.rays.proved(
            self.problem, self.image[:2], self.anchor[:2], self.state[PRODUCTS], self._ray_back
        )
        self.state[PRODUCTS] += self.rays.spent - spent
        return None if found is None else self._solution(*found)

    def _end(self) -> Solution:
        """Say "optimal", unless there is no point at all."""
        assert self.certified is not None, "an end that is certified has a certificate"
        if self.certified.primal_residual <= ROUNDING:
            return self._solution("optimal")
        if self.search is not None and not self.search.found:
            self.search = None  # anew from here, where hardly anything is missed
        return self._sought(self.certified.x, last=True) or self._solution("optimal")

    def _sought(self, x: Floats, *, last: bool = False) -> Solution | None:
        """Look for a point, or for a proof that there is none, for a share of all products."""
        if not self.recipe.feasibility or (self.search is not None and self.search.found):
            return None
        spent = 0 if self.search is None else self.search.spent
        search = self.search = self.search or Feasibility(self.problem, x)
        share = max(0.0, SHARE * self.state[PRODUCTS] - spent)
        ray = search.seek(share + search.least if last else min(share, search.least))
        self.state[PRODUCTS] += search.spent - spent
        return None if ray is None else self._solution("infeasible", ray)

    def _ray_back(self, x: Floats, y: Floats) -> Pair:
        return self.reduction.back(*self.scale.back(x, y), ray=True)

    def _last(self, tolerance: float) -> Solution:
        """Return the iterate itself, as line 11 of Algorithm 2 does, with what it is worth."""
        found = self._assess(self.z[0], self.z[1])
        raw = self.scale.back(self.z[0], self.z[1])
        self.certified = Assessment(
            raw[0].copy(), raw[1].copy(), found.primal, found.dual, found.primal_residual,
            found.dual_residual, found.error,
        )  # fmt: skip
        return self._solution("optimal" if found.error <= tolerance else "stopped")

    def _solution(self, status: Status, ray: Floats | None = None) -> Solution:
        found, best = self.certified, None
        if status != "optimal" and not (self.paper and status == "stopped"):
            best = self._assess(*self.best)
        if found is None or (best is not None and best.error < found.error):
            assert best is not None, "an end that is certified has a certificate"
            found = best
        return Solution(
            status=status,
            **vars(found),
            iterations=int(self.state[STEPS]),
            restarts=self.restarts,
            products=int(self.state[PRODUCTS]),
            seconds=time.perf_counter() - self.began,
            memory=Memory(self.weight.value, self.steps.direction, self.scale),
            ray=ray,
        )

    def _iterate(self, quick: Quick) -> Iterate:
        offset = self.small.offset
        return Iterate(
            iteration=int(self.state[STEPS]),
            primal=quick.primal + offset,
            dual=quick.dual + offset,
            primal_residual=quick.primal_residual,
            dual_residual=quick.dual_residual,
            error=self.best_error if self.certified is None else self.certified.error,
            restarts=self.restarts,
            products=int(self.state[PRODUCTS]),
            weight=self.weight.value,
        )
