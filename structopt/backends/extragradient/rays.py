r"""Proofs that a programme has no solution, read off the directions in which iterates run away.

Infeasible: multipliers y (of the right signs) for which

    lower.y+ - upper.y- + sum_j min over lb <= x <= ub of -(A'y)_j x_j  >  0.

A feasible x would have to make up for that with the columns whose minimum is -infinity: with r the
largest |A'y| among those and v the value on the left, |x|_1 >= v / r.

Unbounded: a direction d with ``q.d + l1.|d| < 0`` along which no row or bound is ever left and P d
is 0; with r the largest violation of that, multipliers that bound the objective would need a sum of
|q.d + l1.|d|| / r. Both ratios must exceed :data:`BEYOND`. A direction that comes near is first
moved, by least squares on its own support, to where r should be 0 (:class:`Rays`).

What proves is computed in sums that are rounded once (:mod:`.exact`), so that v and r are those of
the numbers given: a programme whose rows miss each other by 1e-9 is proved infeasible like any
other, and rounding proves nothing.

>>> import numpy as np, scipy.sparse as sp
>>> p = Program(P=sp.csr_array((1, 1)), q=np.array([-1.0]), l1=np.zeros(1),
...             A=sp.csr_array([[1.0], [-1.0]]), lower=np.array([1.0, 2.0]),
...             upper=np.full(2, np.inf), lb=np.full(1, -np.inf), ub=np.full(1, np.inf))
>>> proves_infeasible(p, np.array([1.0, 1.0])), proves_unbounded(p, np.array([1.0]))
(True, False)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Floats
from structopt.backends.extragradient.exact import total, transposed
from structopt.backends.extragradient.polish_kernels import least_squares
from structopt.backends.extragradient.scaling import parts
from structopt.master.program import Program, one_sided

Pair = tuple[Floats, Floats]

BEYOND = 1e9
"""Size that a solution would need for a ray to be wrong about there being none."""
ROUNDING, ONCE = 1e-12, 1e-15
"""A value must exceed this share of the terms it is summed from, as floats and rounded once."""
NEAR = 0.3
"""A direction is worth moving if its residual is within this share of its value."""
PRODUCTS, TRIES, SHARE = 400, 4, 0.2
"""Of one least squares that moves a direction, how often it is moved, and the share of all products
so far that may go to this."""


@dataclass(frozen=True)
class Ray:
    """A direction of norm 1 (largest entry), what it gains, and what speaks against it."""

    direction: Floats
    value: float
    residual: float
    wrong: NDArray[np.bool_]
    """The columns (of multipliers) or rows (of a direction) that speak against it."""

    @property
    def proves(self) -> bool:
        """Whether nothing but a point of size :data:`BEYOND` could contradict it."""
        return self.value > 0.0 and self.residual * BEYOND <= self.value

    @property
    def near(self) -> bool:
        """Whether moving it a little may make it a proof."""
        return self.value > 0.0 and self.residual <= NEAR * self.value


def infeasibility(problem: Program, y: Floats, *, once: bool = False) -> Ray | None:
    """Measure multipliers as a proof that no x satisfies all rows and bounds.

    ``once``: in sums that are rounded once, which proofs need and searches do not.
    """
    p = problem
    unit = _unit(one_sided(y, p.lower, p.upper))
    if unit is None:
        return None
    y = unit
    slope = -(transposed(p.A, y) if once else p.A.T @ y)
    at = np.where(slope > 0, p.lb, p.ub)
    wrong = ~np.isfinite(at) & (slope != 0)
    active, held = y != 0, np.isfinite(at)
    sides = np.where(y > 0, p.lower, p.upper)
    value = _value(((sides[active], y[active]), (slope[held], at[held])), once)
    return Ray(y, value, float(np.max(np.abs(slope[wrong]), initial=0.0)), wrong)


def descent(problem: Program, d: Floats, *, once: bool = False) -> Ray | None:
    """Measure a direction as a proof that the objective falls for ever, if any x is feasible.

    ``once`` as in :func:`infeasibility`.
    """
    p = problem
    d = np.where(np.isfinite(p.lb), np.maximum(d, 0.0), d)
    unit = _unit(np.where(np.isfinite(p.ub), np.minimum(d, 0.0), d))
    if unit is None:
        return None
    d = unit
    value = _value(((p.q, -d), (p.l1, -np.abs(d))), once)
    Ad, Pd = (transposed(m.T, d) if once else m @ d for m in (p.A, p.P))
    below = np.where(np.isfinite(p.lower), -Ad, 0.0)
    above = np.where(np.isfinite(p.upper), Ad, 0.0)
    left = np.maximum(0.0, np.maximum(below, above))
    bent = float(np.max(np.abs(Pd), initial=0.0))
    return Ray(d, value, max(float(np.max(left, initial=0.0)), bent), left > 0)


def proves_infeasible(problem: Program, y: Floats) -> bool:
    """Whether multipliers ``y`` prove that no x satisfies all rows and bounds."""
    ray = infeasibility(problem, y, once=True)
    return ray is not None and ray.proves


def proves_unbounded(problem: Program, d: Floats) -> bool:
    """Whether the objective falls for ever along ``d`` from any feasible point."""
    ray = descent(problem, d, once=True)
    return ray is not None and ray.proves


def _value(pairs: tuple[tuple[Floats, Floats], ...], once: bool) -> float:
    """Return the sum of products, 0 where rounding could have made it positive."""
    size = sum(float(np.abs(a * b).sum()) for a, b in pairs)
    value = total(*pairs) if once else sum(float(a @ b) for a, b in pairs)
    return value if value > (ONCE if once else ROUNDING) * size else 0.0


def _unit(v: Floats) -> Floats | None:
    size = np.max(np.abs(v), initial=0.0)
    if not np.all(np.isfinite(v)) or size < np.finfo(np.float64).tiny:
        return None
    return np.asarray(v / size)


class Rays:
    """Candidates of one scaled problem, moved by least squares to where they prove something.

    A direction in which y runs away has no slope on the columns that x leaves free, and one of x
    stays on the rows that y holds: those are made equations, with whatever else speaks against the
    direction, and solved for on its own support; again, as new ones come to speak against it.
    """

    def __init__(self, scaled: Program, At: Any) -> None:
        self.problem = scaled
        self._A, self._At = parts(scaled.A), parts(At)
        self.spent = 0

    def infeasible(self, x: Floats, y: Floats, products: float) -> Floats | None:
        """Return multipliers worth verifying, from a direction y in which the iterates run away.

        ``products`` are those of the solve so far.
        """
        p, sides = self.problem, (self._At, self._A)

        def ray(y: Floats, moved: Floats) -> Ray | None:
            return infeasibility(p, np.where(y * (y + moved) > 0, y + moved, 0.0))

        return self._moved(ray, y, (x > p.lb) & (x < p.ub), p.A.T, sides, products)

    def unbounded(self, x: Floats, y: Floats, products: float) -> Floats | None:
        """Return a direction worth verifying, from one, x, in which the iterates run away."""
        p, sides = self.problem, (self._A, self._At)

        def ray(d: Floats, moved: Floats) -> Ray | None:
            return descent(p, d + moved)

        return self._moved(ray, x, (y != 0) | (p.lower == p.upper), p.A, sides, products)

    def proved(
        self, given: Program, point: Pair, anchor: Pair, products: float, back: Callable[..., Pair]
    ) -> tuple[Literal["infeasible", "unbounded"], Floats] | None:
        """Look for a ray of the problem given: in the way since the restart and in the point.

        ``back`` brings a pair of the scaled problem to the problem given.
        """
        (x, y), (x0, y0) = point, anchor
        nothing = np.zeros(len(x)), np.zeros(len(y))
        for candidate in (y - y0, y):
            if (ray := self.infeasible(x, candidate, products)) is not None:
                multipliers = back(nothing[0], ray)[1]
                if proves_infeasible(given, multipliers):
                    return "infeasible", multipliers
        for candidate in (x - x0, x):
            if (ray := self.unbounded(candidate, y, products)) is not None:
                direction = back(ray, nothing[1])[0]
                if proves_unbounded(given, direction):
                    return "unbounded", direction
        return None

    def _moved(
        self,
        measure: Callable[[Floats, Floats], Ray | None],
        start: Floats,
        tight: NDArray[np.bool_],
        matrix: Any,
        sides: tuple[Any, Any],
        products: float,
    ) -> Floats | None:
        """Move a direction v to where ``matrix @ v`` is 0 on what is tight, as long as it helps."""
        ray = measure(start, np.zeros(len(start)))
        for _ in range(TRIES):
            self.spent += 1
            if ray is None or not ray.near:
                return None
            if ray.proves:
                return ray.direction
            if self.spent >= SHARE * products:
                return None
            tight |= ray.wrong
            v, moved = ray.direction, np.zeros(len(start))
            off = np.where(tight, matrix @ v, 0.0)
            self.spent += least_squares(*sides, tight, v != 0, -off, moved, PRODUCTS, 1e-14)
            ray = measure(v, moved)
        return None if ray is None else ray.direction
