r"""Linear rows over 0/1 parts, written by hand or compiled from CVXPY constraints.

    { v : lower <= A v <= upper,  lb <= v <= ub,  v_j whole where integer_j },   v = (z, helpers).

The first ``parts`` columns are z, in the order of ``z.flatten("C")``; the others are whatever the
constraints brought along (other variables, or what CVXPY needs to write them as rows).

>>> import cvxpy as cp
>>> z = cp.Variable((2, 2), boolean=True)
>>> rows = compile_rows([cp.sum(z[:, 1]) <= 1], z)
>>> rows.A.toarray(), rows.upper, rows.parts
(array([[0., 1., 0., 1.]]), array([1.]), 4)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from structopt.arrays import Floats, Ints
from structopt.errors import InvalidInputError

TOLERANCE = 1e-6
"""Violation up to which a 0/1 point satisfies a row: HiGHS' own tolerance for integer points."""


@dataclass(frozen=True)
class LinearRows:
    """``lower <= A z <= upper``, A as triplets: what a ready-made constraint returns."""

    row: Ints
    column: Ints
    value: Floats
    lower: Floats
    upper: Floats


@dataclass(frozen=True)
class Rows:
    """A set of 0/1 points z and helpers: rows, bounds and which columns are whole numbers."""

    A: Any
    lower: Floats
    upper: Floats
    lb: Floats
    ub: Floats
    integer: NDArray[np.bool_]
    parts: int

    @property
    def alone(self) -> bool:
        """Whether there is nothing but z, so that a point is checked by a product."""
        return bool(self.A.shape[1] == self.parts)

    @cached_property
    def columns(self) -> Any:
        """A by columns: the rows that each part stands in."""
        columns = sp.csr_array(self.A.T)
        columns.sum_duplicates()
        return columns

    def fixed(self, held: NDArray[np.int8]) -> Rows:
        """Return the set with parts of z at 1 or 0; -1 leaves one free."""
        lb, ub, n = self.lb.copy(), self.ub.copy(), len(held)
        lb[:n] = np.where(held == 1, np.maximum(lb[:n], 1.0), lb[:n])
        ub[:n] = np.where(held == 0, np.minimum(ub[:n], 0.0), ub[:n])
        return replace(self, lb=lb, ub=ub)

    def satisfied(self, z: Floats) -> NDArray[np.bool_]:
        """Return for each row of ``z`` (points, parts) whether it satisfies the rows."""
        value = np.asarray(self.A @ z.T)
        low, high = self.lower[:, None] - TOLERANCE, self.upper[:, None] + TOLERANCE
        inside = (value >= low) & (value <= high)
        bounded = (z >= self.lb - TOLERANCE) & (z <= self.ub + TOLERANCE)
        return np.asarray(inside.all(axis=0) & bounded.all(axis=1))


def compile_rows(constraints: Any, z: Any, *, example: int | None = None) -> Rows:
    """Return constraints on the boolean CVXPY variable ``z`` (and helpers) as rows.

    Parameters
    ----------
    constraints : iterable of CVXPY constraints and `LinearRows`
    z : cvxpy.Variable
        Boolean.
    example : int, optional
        For messages.

    Raises
    ------
    InvalidInputError
        A constraint is not linear, or is no constraint at all.
    """
    given = list(constraints) if isinstance(constraints, Iterable) else [constraints]
    linear = [c for c in given if isinstance(c, LinearRows)]
    rows = _from_cvxpy([c for c in given if not isinstance(c, LinearRows)], z, example)
    return rows if not linear else _with(rows, linear)


def _from_cvxpy(constraints: list[Any], z: Any, example: int | None) -> Rows:
    parts = int(z.size)
    if not constraints:
        free = np.zeros(0)
        return Rows(
            sp.csr_array((0, parts)), free, free, np.zeros(parts), np.ones(parts),
            np.ones(parts, dtype=bool), parts,
        )  # fmt: skip
    import cvxpy as cp

    try:
        problem = cp.Problem(cp.Minimize(cp.sum(z)), constraints)
        data = problem.get_problem_data(cp.HIGHS)[0]
    except (cp.error.DCPError, cp.error.SolverError, TypeError, ValueError) as error:
        where = "" if example is None else f" of example {example}"
        reason = " ".join(str(error).split())[:300]
        raise InvalidInputError(
            f"The constraints{where} cannot be written as linear rows over booleans: {reason} "
            "Return a list of linear CVXPY constraints.",
            example=example,
        ) from error
    n_equal, total = int(data["dims"].zero), data["A"].shape[1]
    start = data["param_prob"].var_id_to_col[z.id]
    mine = start + np.arange(parts).reshape(z.shape, order="F").ravel()
    order = np.concatenate([mine, np.setdiff1d(np.arange(total), mine)])
    upper = np.asarray(data["b"], dtype=np.float64)
    lower = np.where(np.arange(len(upper)) < n_equal, upper, -np.inf)
    boolean, whole = np.zeros(total, dtype=bool), np.zeros(total, dtype=bool)
    boolean[list(data["bool_vars_idx"])] = True
    whole[list(data["int_vars_idx"])] = True
    lb, ub = (
        _bound(data, "lower_bounds", -np.inf, total),
        _bound(data, "upper_bounds", np.inf, total),
    )
    lb, ub = np.where(boolean, np.maximum(lb, 0.0), lb), np.where(boolean, np.minimum(ub, 1.0), ub)
    return Rows(
        sp.csr_array(sp.csc_array(data["A"])[:, order]), lower, upper, lb[order], ub[order],
        (boolean | whole)[order], parts,
    )  # fmt: skip


def _bound(data: dict[str, Any], name: str, default: float, total: int) -> Floats:
    found = data.get(name)
    return np.full(total, default) if found is None else np.asarray(found, dtype=np.float64)


def _with(rows: Rows, linear: list[LinearRows]) -> Rows:
    counts = [len(m.lower) for m in linear]
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
    row = np.concatenate([m.row + start for m, start in zip(linear, starts, strict=True)])
    column = np.concatenate([m.column for m in linear])
    value = np.concatenate([m.value for m in linear])
    more = sp.csr_array((value, (row, column)), shape=(sum(counts), rows.A.shape[1]))
    return Rows(
        sp.csr_array(sp.vstack([rows.A, more])) if rows.A.shape[0] else more,
        np.concatenate([rows.lower, *(m.lower for m in linear)]),
        np.concatenate([rows.upper, *(m.upper for m in linear)]),
        rows.lb, rows.ub, rows.integer, rows.parts,
    )  # fmt: skip
