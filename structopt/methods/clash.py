"""Which constraints clash, in the words in which they were declared.

The constraints of a declaration, and the cuts of a family, may each be broken at a price; those
that are paid for are tried one by one: what is left has no solution, and has one without any of
them.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import cvxpy as cp
import numpy as np

from structopt.master.declare import RestrictedMaster

_SHOWN = 120
"""Characters of a constraint that are shown."""


def clashing(master: RestrictedMaster) -> list[str]:
    """Return constraints of a master that cannot hold together, none if none are found.

    >>> m = RestrictedMaster(n_examples=2, n_features=2)
    >>> w, xi = m.weights(), m.slacks()
    >>> m.minimize(cp.norm1(w) + cp.sum(xi))
    >>> m.subject_to(cp.sum(w) <= 1, w >= 1, w[0] <= 9)
    >>> m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
    >>> _ = m.compile()
    >>> clashing(m)
    ['Sum(w, None, False) <= 1.0', '1.0 <= w']
    """
    problem, blocks = master.problem()
    cuts = {id(c): number for number, (_, block) in enumerate(blocks) for c in block}
    movable = [c for c in problem.constraints if _elastic(c) is not None]
    paid = _paid(movable, [c for c in problem.constraints if _elastic(c) is None])
    for candidate in list(paid):
        others = [c for c in paid if c is not candidate]
        if _status(cp.Problem(cp.Minimize(0.0), others)) == "infeasible":
            paid = others
    if _status(cp.Problem(cp.Minimize(0.0), paid)) != "infeasible":
        return []
    named = []
    for constraint in paid:
        if id(constraint) not in cuts:
            named.append(_shortened(str(constraint)))
            continue
        mine, _ = blocks[cuts[id(constraint)]]
        some = master.pool.cuts.take(np.flatnonzero(mine))
        oracle = master.families[int(some.family[0])].oracle
        examples = ", ".join(map(str, np.unique(some.example)[:5].tolist()))
        named.append(f"the cuts of {oracle.name!r} ({len(some)}, of examples {examples}, ...)")
    return named


def _elastic(constraint: Any) -> Any:
    """Return what must be <= 0 of a constraint, None where it cannot be broken at a price."""
    if isinstance(constraint, cp.constraints.Equality):
        return cp.abs(constraint.expr)
    if isinstance(constraint, cp.constraints.Inequality):
        return constraint.expr
    return None


def _paid(movable: Sequence[Any], kept: Sequence[Any]) -> list[Any]:
    """Return the constraints that have a price where all are broken as little as possible."""
    by = [cp.Variable(c.shape, nonneg=True) for c in movable]
    bent = [_elastic(c) <= s for c, s in zip(movable, by, strict=True)]
    problem = cp.Problem(cp.Minimize(sum(cp.sum(s) for s in by)), [*bent, *kept])
    if not movable or _status(problem) != "optimal":
        return list(movable)
    prices = [float(np.max(np.abs(c.dual_value), initial=0.0)) for c in bent]
    return [c for c, price in zip(movable, prices, strict=True) if price > 1e-6 * max(prices)]


def _status(problem: Any) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem.solve(solver=cp.HIGHS if problem.is_lp() else cp.CLARABEL)
    except (cp.SolverError, ValueError, ArithmeticError) as error:
        return str(error)
    return str(problem.status)


def _shortened(said: str) -> str:
    said = " ".join(said.split())
    return said if len(said) <= _SHOWN else said[: _SHOWN - 3] + "..."
