r"""The problem, and the saddle point that the method looks for.

    min over x  1/2 x'P x + q.x + l1.|x|   s.t.  lower <= A x <= upper,   lb <= x <= ub

is, with one multiplier y a row (y > 0 pushes from the lower side, y < 0 from the upper one),

    min over lb <= x <= ub, max over y  1/2 x'P x + q.x + l1.|x| - y.(A x) + lower.y+ - upper.y-.

The form is :class:`structopt.master.program.Program`, as for every backend; here is what a solver
must know of it before it starts.

>>> import scipy.sparse as sp
>>> p = Program(P=sp.csr_array((1, 1)), q=np.ones(1), l1=np.zeros(1), A=sp.csr_array([[2.0]]),
...             lower=np.array([3.0]), upper=np.array([1e20]), lb=np.zeros(1), ub=np.ones(1))
>>> checked(p).upper  # what is written as 1e20 is no bound
array([inf])
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.errors import InvalidInputError
from structopt.master.program import Program

INFINITE = 1e20
"""From this size on a bound is none: how MPS files, HiGHS and OSQP write infinity."""


def checked(problem: Program) -> Program:
    """Return the problem with canonical matrices, bounds of 1e20 removed and settled l1 terms.

    Canonical: CSR, sorted, without duplicates and zeros; what is given stays as it is. An l1 term
    of a column that cannot change its sign is a cost.

    Raises
    ------
    InvalidInputError
        NaN anywhere; a cost or coefficient that is infinite.
    """
    p = problem
    for name, part in (("P", p.P.data), ("q", p.q), ("l1", p.l1), ("A", p.A.data)):
        if not np.all(np.isfinite(part)):
            bad = int(np.sum(~np.isfinite(part)))
            raise InvalidInputError(
                f"{bad} of the numbers in {name} are infinite or NaN; a cost or coefficient must "
                "be finite: look for NaN in the data."
            )
    sides = {name: getattr(p, name) for name in ("lower", "upper", "lb", "ub")}
    for name, side in sides.items():
        if np.any(np.isnan(side)):
            raise InvalidInputError(f"{int(np.sum(np.isnan(side)))} of {name} are NaN.")
        sides[name] = np.where(np.abs(side) >= INFINITE, np.copysign(np.inf, side), side)
    positive, negative = sides["lb"] >= 0, sides["ub"] <= 0
    cost = np.where(positive, p.l1, np.where(negative, -p.l1, 0.0))
    l1 = np.where(positive | negative, 0.0, p.l1)
    return replace(p, P=_canonical(p.P), A=_canonical(p.A), q=p.q + cost, l1=l1, **sides)


def _canonical(matrix: sp.sparray) -> sp.csr_array:
    matrix = sp.csr_array(matrix)
    if not (matrix.has_canonical_format and np.all(matrix.data)):
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    return matrix


def contradiction(problem: Program) -> str | None:
    """Return which bounds exclude each other, or None.

    >>> import scipy.sparse as sp
    >>> p = Program(P=sp.csr_array((1, 1)), q=np.ones(1), l1=np.zeros(1), A=sp.csr_array((0, 1)),
    ...             lower=np.zeros(0), upper=np.zeros(0), lb=np.full(1, 2.0), ub=np.ones(1))
    >>> contradiction(p)
    'Column 0 is to be at least 2 and at most 1.'
    """
    for what, low, high in (
        ("Row", problem.lower, problem.upper),
        ("Column", problem.lb, problem.ub),
    ):
        wrong = (low > high) | np.isposinf(low) | np.isneginf(high)
        if np.any(wrong):
            k = int(np.argmax(wrong))
            return f"{what} {k} is to be at least {low[k]:g} and at most {high[k]:g}."
    return None


def sizes(low: Floats, high: Floats) -> Floats:
    """Return the larger of the finite ends of each interval, absolute; 0 where none is finite.

    >>> sizes(np.array([-3.0, -np.inf]), np.array([2.0, np.inf]))
    array([3., 0.])
    """
    return np.maximum(_finite(low), _finite(high))


def _finite(side: Floats) -> Floats:
    return np.where(np.isfinite(side), np.abs(side), 0.0)
