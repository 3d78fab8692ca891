r"""What a pair (x, y) proves: residuals and gap, recomputed from the problem as it was given.

With x clipped to its bounds, y to the signs that its rows allow, and r = q + P x - A'y,

    primal residual   |what A x misses of lower and upper| / (1 + |sides|)
    dual residual     |r where no bound holds the column| / (1 + |q|)
    gap               |f(x) - D| / (1 + |f(x)| + |D|)
    D                 lower.y+ - upper.y- - 1/2 x'P x + what the bounds add,

Euclidean norms, as in PDLP and as every solver is measured by in the docs. A reduced cost r_j > 0
is held by a lower bound, r_j < 0 by an upper one, and adds ``r_j lb_j`` or ``r_j ub_j`` to D. By a
second reading (PDLP's) a bound that is farther from x_j than 0 is no bound: then r_j is residual.
The better reading counts, the error is the largest of the three. With both residuals 0, D is a
lower bound of the optimum; a bound so large that it means "none" makes the first reading useless.

>>> import scipy.sparse as sp
>>> p = Program(P=sp.csr_array((2, 2)), q=np.ones(2), l1=np.zeros(2), A=sp.csr_array([[1.0, 2.0]]),
...             lower=np.array([4.0]), upper=np.array([np.inf]), lb=np.zeros(2),
...             ub=np.full(2, np.inf))
>>> Residuals(p).assess(np.array([0.0, 2.0]), np.array([0.5])).error
0.0
>>> round(Residuals(p).assess(np.array([0.0, 1.0]), np.array([0.5])).primal_residual, 3)
0.4
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from structopt.arrays import Floats
from structopt.backends.extragradient.certificate_kernels import (
    BOUND,
    DUAL,
    FAR_BOUND,
    FAR_DUAL,
    PRIMAL,
    VALUE,
    residuals,
)
from structopt.backends.extragradient.problem import sizes
from structopt.backends.extragradient.scaling import Scale, parts
from structopt.master.program import Program, one_sided


@dataclass(frozen=True)
class Assessment:
    """A pair and what it proves.

    Attributes
    ----------
    x, y : arrays
        The pair, after what repairs there are.
    primal, dual : float
        Objective at x, lower bound from y: exact bounds where the residuals are 0.
    primal_residual, dual_residual : float
        Relative.
    error : float
        The largest of the relative gap and the residuals.
    """

    x: Floats
    y: Floats
    primal: float
    dual: float
    primal_residual: float
    dual_residual: float
    error: float


class Check(Protocol):
    """Who assesses pairs of a problem: :class:`Residuals`, or the :class:`.judge.Judge`."""

    def assess(self, x: Floats, y: Floats) -> Assessment:
        """Say what (x, y) is worth."""


@dataclass(frozen=True)
class Quick:
    """The numbers of a scaled pair, at the cost of one product."""

    primal_residual: float
    dual_residual: float
    primal: float
    dual: float
    error: float


class Residuals:
    """Assesses pairs of one problem; of a scaled one at the cost of one product.

    Parameters
    ----------
    problem : Program
    scale : Scale, optional
        Of the pairs given to :meth:`quick`.
    """

    def __init__(self, problem: Program, scale: Scale | None = None) -> None:
        self.problem = problem
        scale = Scale.none(problem) if scale is None else scale
        scaled = scale.apply(problem)
        self._matrices = parts(scaled.A), parts(scaled.A.T.tocsr())
        self._fixed: tuple[Any, ...] = (
            (scaled.q, scaled.l1), (scaled.lower, scaled.upper), (scaled.lb, scaled.ub),
            scale.rows, scale.columns, (scale.primal, scale.dual),
        )  # fmt: skip
        self._P = scaled.P
        self._right = 1.0 + float(np.linalg.norm(sizes(problem.lower, problem.upper)))
        self._cost = 1.0 + float(np.linalg.norm(problem.q))
        self._pulled, self._out = np.zeros(len(problem.q)), np.zeros(6)

    def quick(self, x: Floats, y: Floats, Ax: Floats, Px: Floats) -> Quick:
        """Say what a scaled pair within its bounds is worth."""
        out = self._out
        residuals(*self._matrices, *self._fixed, (x, y, Ax, Px), self._pulled, out)
        if not np.all(np.isfinite(out)):  # iterates that ran away
            return Quick(np.inf, np.inf, np.inf, -np.inf, np.inf)
        primal, value = float(out[PRIMAL] / self._right), float(out[VALUE])
        readings = [
            (max(d, _gap(value, bound)), d, bound)
            for d, bound in (
                (float(out[DUAL] / self._cost), float(out[BOUND])),
                (float(out[FAR_DUAL] / self._cost), float(out[FAR_BOUND])),
            )
        ]
        error, dual, bound = min(readings)
        return Quick(primal, dual, value, bound, max(primal, error))

    def assess(self, x: Floats, y: Floats) -> Assessment:
        """Clip (x, y) to bounds and signs and say what it is worth."""
        p = self.problem
        x, y = np.clip(x, p.lb, p.ub), one_sided(y, p.lower, p.upper)
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.quick(x, y, p.A @ x, p.P @ x)
        return Assessment(
            x, y, found.primal + p.offset, found.dual + p.offset,
            found.primal_residual, found.dual_residual, found.error,
        )  # fmt: skip


def _gap(value: float, bound: float) -> float:
    return abs(value - bound) / (1.0 + abs(value) + abs(bound))
