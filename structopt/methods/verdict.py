r"""Whether a master problem has no point or no minimum, found out without the solver's word.

Solvers say "infeasible" and "unbounded" of masters that are neither (badly scaled ones above all).
Both have short proofs. No point satisfies ``lower <= Ax <= upper, lb <= x <= ub`` if multipliers y
exist with

    lower.y+ - upper.y-  >  max over lb <= x <= ub of (A'y).x                         (Farkas),

and the objective falls without limit from any feasible point along d if

    P d = 0,   q.d + l1.|d| < 0,   and d leads out of no row, no bound and no cone (C d in K).

Either is looked for by a programme that always has a solution, and checked by arithmetic. (Beside
cones an objective can fall without end along no line, as that of -log x does: no direction is then
no proof that there is a minimum.)
With cones ``C x - d in K`` beside the rows, multipliers z in K* join: no point of size up to R has

    lower.y+ - upper.y- + d.z  >  max over lb <= x <= ub, |x| <= R of (A'y + C'z).x,

and R is said, since those of an interior point method cancel to some ten digits only.

>>> import cvxpy as cp, numpy as np
>>> from structopt.master.compile import compile_problem
>>> x = cp.Variable(2)
>>> p = compile_problem(cp.sum(x), [cp.sum(x) <= 1, x[0] + 2 * x[1] >= 4, x[1] <= 1], [x])
>>> found = examine(p, [p.A], p.lower, p.upper)
>>> found.ray is not None, found.descent
(True, None)
>>> free = compile_problem(cp.sum(x), [x[0] >= x[1]], [x])
>>> examine(free, [free.A], free.lower, free.upper).descent
array([-1., -1.])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.backends import registry
from structopt.backends.base import MasterSolution
from structopt.errors import OutOfMemoryError
from structopt.master import interior
from structopt.master.cones import Cones
from structopt.master.program import Program, one_sided

_ROUNDING = 1e-9
"""Share of the numbers that are summed up to which their sum counts as 0."""

_CONIC = 1e-7
"""The same of a direction along cones, of which an interior point method gives some nine digits."""

_TRACE = 1e-6
"""Share of the largest entry of such a direction below which an entry is what the method left."""

MET = 1e-6
"""Largest violation, of a row's numbers, at which a point counts as one that satisfies cones."""

_FAR = 1e4
"""How much farther than the point that breaks rows least a proof with cones must reach."""


@dataclass(frozen=True)
class Verdict:
    """What is proven of a master.

    Attributes
    ----------
    ray : array or None
        Multipliers of the rows that prove that no point satisfies them.
    descent : array or None
        A direction in which the objective falls without limit.
    residual : float
        The largest violation at the point that breaks the rows least, relative to each row; with
        cones, the least sum of what must give way, as a share of the largest side.
    reach : float
        Up to which size of its numbers no point satisfies the rows: without cones, any.
    """

    ray: Floats | None
    descent: Floats | None
    residual: float
    reach: float = np.inf


def examine(program: Program, blocks: Sequence[Any], lower: Floats, upper: Floats) -> Verdict:
    """Look for a proof that there is no point, then for one that there is no minimum.

    ``blocks`` are the rows of the master, below each other.
    """
    A = sp.csr_array(sp.vstack(blocks))
    scale = np.asarray(abs(A).max(axis=1).todense()).ravel() if A.shape[0] else np.zeros(0)
    scale = np.where(scale > 0, scale, 1.0)
    A = sp.csr_array(sp.diags_array(1.0 / scale) @ A) if A.shape[0] else A
    sides = lower / scale, upper / scale
    if program.is_conic:
        found = _conic_ray(program, A, *sides, scale)
        if found.ray is None and found.residual <= MET:
            return replace(found, descent=_descent(program, A, *sides))
        return found
    ray, residual = _ray(program, A, *sides)
    if ray is not None:
        return Verdict(ray / scale, None, residual)
    return Verdict(None, _descent(program, A, *sides), residual)


def _ray(program: Program, A: Any, lower: Floats, upper: Floats) -> tuple[Floats | None, float]:
    """Return Farkas multipliers if there are any, and what the least violation is."""
    n, m = program.size, len(lower)
    if m == 0:
        return None, 0.0
    identity = sp.eye_array(m, format="csr")
    elastic = Program(
        P=sp.csc_array((n + 2 * m, n + 2 * m)),
        q=np.concatenate([np.zeros(n), np.ones(2 * m)]),
        l1=np.zeros(n + 2 * m),
        A=sp.csr_array(sp.hstack([A, identity, -identity])),
        lower=lower,
        upper=upper,
        lb=np.concatenate([program.lb, np.zeros(2 * m)]),
        ub=np.concatenate([program.ub, np.full(2 * m, np.inf)]),
    )
    found = _solved(elastic)
    x = found.x[:n]
    value = A @ x
    size = np.maximum(abs(A) @ np.abs(x), np.where(np.isfinite(lower), np.abs(lower), 0.0))
    size = np.maximum(size, np.where(np.isfinite(upper), np.abs(upper), 0.0))
    broken = np.maximum(np.maximum(lower - value, value - upper), 0.0)
    residual = float(np.max(broken / np.where(size > 0, size, 1.0), initial=0.0))
    if found.static_duals is None:
        return None, residual
    y = one_sided(found.static_duals, lower, upper)
    pull, most = A.T @ y, abs(A).T @ np.abs(y)
    pull = np.where(np.abs(pull) <= _ROUNDING * most, 0.0, pull)
    moved, active = pull != 0, y != 0
    reach = np.where(pull > 0, program.ub, program.lb)[moved] * pull[moved]
    gain = np.where(y > 0, lower, upper)[active] * y[active]
    summed = float(np.abs(gain).sum() + np.abs(reach).sum())
    proven = np.isfinite(summed) and gain.sum() - reach.sum() > _ROUNDING * summed
    return (y if proven else None), residual


def _conic_ray(program: Program, A: Any, lower: Floats, upper: Floats, scale: Floats) -> Verdict:
    """Look for multipliers of rows and cones that prove that no point satisfies them.

    The point that breaks rows and cones least always exists, and its multipliers are such. It is
    looked for with the largest side as 1: a solver is as accurate where all sides are tiny.
    """
    n, m, cones = program.size, len(lower), program.cones
    sides = np.abs(np.concatenate([lower, upper, cones.side, program.lb, program.ub]))
    most = float(sides[np.isfinite(sides)].max(initial=0.0)) or 1.0
    lower, upper, lb, ub = (each / most for each in (lower, upper, program.lb, program.ub))
    cones = replace(cones, side=cones.side / most)
    identity, more = sp.eye_array(m, format="csr"), 2 * m + 1
    give = sp.csr_array((len(cones), 2 * m)), sp.csr_array(cones.centre[:, None])
    elastic = Program(
        P=sp.csc_array((n + more, n + more)),
        q=np.concatenate([np.zeros(n), np.ones(more)]),
        l1=np.zeros(n + more),
        A=sp.csr_array(sp.hstack([A, identity, -identity, sp.csr_array((m, 1))])),
        lower=lower,
        upper=upper,
        lb=np.concatenate([lb, np.zeros(more)]),
        ub=np.concatenate([ub, np.full(more, np.inf)]),
        cones=Cones(sp.csr_array(sp.hstack([cones.matrix, *give])), cones.side, cones.blocks),
    )
    try:
        found = interior.solve(elastic)
    except OutOfMemoryError:
        return Verdict(None, None, np.inf)
    if found.status not in ("optimal", "inaccurate"):
        return Verdict(None, None, np.inf)
    residual = max(0.0, float(elastic.q @ found.x))
    y, z = one_sided(found.duals[:m], lower, upper), found.duals[m:]
    size = float(np.abs(z).max(initial=0.0))
    for share in (0.0, 1e-14, 1e-12, 1e-10, 1e-8):  # into the dual cone, where rounding left it out
        if cones.contain_dual(inside := z + share * size * cones.dual_centre):
            break
    else:
        return Verdict(None, None, residual)
    pull, active = A.T @ y + cones.matrix.T @ inside, y != 0
    end = np.where(pull > 0, ub, lb)
    held = np.isfinite(end) & (pull != 0)
    gains = np.where(y > 0, lower, upper)[active] * y[active], cones.side * inside
    summed = sum(float(np.abs(g).sum()) for g in gains) + float(
        np.abs(end[held] * pull[held]).sum()
    )
    left = sum(float(g.sum()) for g in gains) - float(end[held] @ pull[held])
    loose = float(np.abs(pull[~held]).sum())
    if not (np.isfinite(summed) and left > _ROUNDING * summed):
        return Verdict(None, None, residual)
    reach = left / loose if loose > 0 else np.inf
    large = _FAR * float(np.abs(found.x[:n]).max(initial=0.0))
    ray = np.concatenate([y / scale, inside]) if reach >= large else None
    return Verdict(ray, None, residual, most * reach)


def _descent(program: Program, A: Any, lower: Floats, upper: Floats) -> Floats | None:
    """Return a direction of descent without end, None if there is none."""
    curved = sp.csr_array(program.P)
    curved = curved[np.flatnonzero(np.diff(curved.indptr))]
    flat = np.zeros(curved.shape[0])
    most = max(np.abs(program.q).max(initial=0.0), np.abs(program.l1).max(initial=0.0)) or 1.0
    away = Program(
        P=sp.csc_array(program.P.shape),
        q=program.q / most,
        l1=program.l1 / most,
        A=sp.csr_array(sp.vstack([A, curved])),
        lower=np.concatenate([np.where(np.isfinite(lower), 0.0, -np.inf), flat]),
        upper=np.concatenate([np.where(np.isfinite(upper), 0.0, np.inf), flat]),
        lb=np.where(np.isfinite(program.lb), 0.0, -1.0),
        ub=np.where(np.isfinite(program.ub), 0.0, 1.0),
        cones=replace(program.cones, side=0.0 * program.cones.side),
    )
    d, slip = (_along_cones(away), _CONIC) if program.is_conic else (_solved(away).x, _ROUNDING)
    slope = float(away.q @ d + away.l1 @ np.abs(d))
    summed = float(np.abs(away.q) @ np.abs(d) + away.l1 @ np.abs(d))
    value, room = away.A @ d, slip * (abs(away.A) @ np.abs(d))
    beyond = np.maximum(away.lower - value, value - away.upper)
    outside = np.maximum(away.lb - d, d - away.ub)
    leads_out = bool(np.any(beyond > room)) or bool(np.any(outside > slip * np.abs(d).max()))
    if program.is_conic:
        rows = away.cones.matrix @ d
        size = float((abs(away.cones.matrix) @ np.abs(d)).max(initial=0.0))
        leads_out = leads_out or away.cones.depth(rows) < -slip * size
    return d if slope < -slip * max(1.0, slip / _ROUNDING) * summed and not leads_out else None


def _along_cones(away: Program) -> Floats:
    """Return the direction of steepest descent by an interior point method, its traces set to 0."""
    n = away.size
    kept, more = sp.eye_array(n, format="csr"), sp.csr_array((len(away.cones), n))
    split = Program(  # |d| as columns of their own
        P=sp.csc_array((2 * n, 2 * n)),
        q=np.concatenate([away.q, away.l1]),
        l1=np.zeros(2 * n),
        A=sp.csr_array(
            sp.vstack(
                [
                    sp.hstack([away.A, sp.csr_array((len(away.lower), n))]),
                    sp.hstack([kept, kept]),
                    sp.hstack([-kept, kept]),
                ]
            )
        ),
        lower=np.concatenate([away.lower, np.zeros(2 * n)]),
        upper=np.concatenate([away.upper, np.full(2 * n, np.inf)]),
        lb=np.concatenate([away.lb, np.zeros(n)]),
        ub=np.concatenate([away.ub, np.ones(n)]),
        cones=replace(away.cones, matrix=sp.csr_array(sp.hstack([away.cones.matrix, more]))),
    )
    try:
        found = interior.solve(split)
    except OutOfMemoryError:
        return np.zeros(n)
    d = found.x[:n] if found.status in ("optimal", "inaccurate") else np.zeros(n)
    return np.where(np.abs(d) > _TRACE * np.abs(d).max(initial=0.0), d, 0.0)


def _solved(program: Program) -> MasterSolution:
    solver = registry.make("highs")
    solver.start(SimpleNamespace(program=program))
    return solver.solve(tolerance=1e-9)
