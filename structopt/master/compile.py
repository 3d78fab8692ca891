r"""From a CVXPY declaration to the standard form of :mod:`structopt.master.program`.

A sum of linear terms, ``sum_squares`` and ``norm1`` without static constraints, which most
formulations are, is read off: CVXPY's chain of reductions takes 5 ms, and a value of C on a path 30
to 40 in all if the data are small. CVXPY lowers every other one, to a quadratic programme or else
to cones; three things are done on top:

* ``c * norm1(w)`` and its relatives are taken out of the objective and kept as l1 weights;
* static rows that touch one column (``w >= 0``, ``w[3] == 0``) become bounds of that column;
* every declared variable gets columns, even one that only cuts mention.

>>> import cvxpy as cp
>>> w = cp.Variable(3)
>>> compiled = compile_problem(2 * cp.norm1(w) + cp.sum_squares(w) / 2, [w[0] >= 0], [w])
>>> compiled.l1, compiled.lb, compiled.A.shape
(array([2., 2., 2.]), array([  0., -inf, -inf]), (0, 3))
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import cvxpy as cp
import cvxpy.settings as names
import numpy as np
import scipy.sparse as sp
from cvxpy.atoms.affine.add_expr import AddExpression
from cvxpy.atoms.affine.binary_operators import DivExpression, MulExpression, multiply
from cvxpy.atoms.affine.sum import Sum
from cvxpy.atoms.affine.unary_operators import NegExpression
from cvxpy.cvxcore.python import canonInterface
from cvxpy.lin_ops import lin_op
from cvxpy.reductions.solvers.conic_solvers.clarabel_conif import CLARABEL
from cvxpy.reductions.solvers.qp_solvers.qp_solver import QpSolver

from structopt.arrays import Floats
from structopt.master.cones import Cone, Cones
from structopt.master.curvature import coupled_block, is_definite, uncoupled
from structopt.master.program import Program


class _Probe(QpSolver):  # type: ignore[misc]
    """A solver that never solves: CVXPY's chain stops at P, q, A, b, F, G and the bounds."""

    MIP_CAPABLE = False
    BOUNDED_VARIABLES = True

    def name(self) -> str:
        return "STRUCTOPT_PROBE"

    def import_solver(self) -> None:
        """Nothing to import."""

    def cite(self, data: Any) -> str:
        return ""

    def solve_via_data(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("the probe only compiles")

    def invert(self, solution: Any, inverse_data: Any) -> Any:
        return solution


class _ConicProbe(CLARABEL):  # type: ignore[misc]
    """Clarabel's forms, with the bounds of variables left as they are."""

    BOUNDED_VARIABLES = True

    def name(self) -> str:
        return "STRUCTOPT_CONIC_PROBE"


def compile_problem(
    objective: Any, constraints: Sequence[Any], variables: Sequence[Any]
) -> Program:
    """Compile ``min objective s.t. constraints``."""
    read = None if constraints else read_off(objective, variables)
    if read is None or not is_definite(coupled_block(read.P)[1]):
        read = lower(objective, constraints, variables)
    return uncoupled(read)


def read_off(objective: Any, variables: Sequence[Any]) -> Program | None:
    """Compile a sum of linear terms, ``sum_squares`` and ``norm1``; None if there is more to it.

    >>> w = cp.Variable(2)
    >>> read = read_off(3 * cp.sum_squares(w) + cp.sum(w), [w])
    >>> read.P.diagonal(), read.q
    (array([6., 6.]), array([1., 1.]))
    """
    columns, size, lb = {}, 0, []
    for variable in {v.id: v for v in [*variables, *objective.variables()]}.values():
        unmarked = [k for k, v in variable.attributes.items() if v is None or v is False]
        if set(variable.attributes) - {*unmarked, "nonneg"}:
            return None
        columns[variable.id], size = size, size + variable.size
        lb.append(np.full(variable.size, 0.0 if variable.attributes["nonneg"] else -np.inf))
    P, q, l1, offset = sp.csc_array((size, size)), np.zeros(size), np.zeros(size), 0.0
    for factor, term in summands(objective):
        if not np.isfinite(factor) or term.parameters():
            return None
        if factor == 0.0:
            continue
        if term.is_affine():
            rows, constant = _rows_of(term, columns, size)
            q += factor * np.asarray(rows.sum(axis=0)).ravel()
            offset += factor * float(constant.sum())
        elif factor > 0 and (square := square_argument(term)) is not None:
            rows, constant = _rows_of(square[1], columns, size)
            twice = 2.0 * factor * square[0]
            P = P + twice * sp.csc_array(rows.T @ rows)
            q += twice * (rows.T @ constant)
            offset += 0.5 * twice * float(constant @ constant)
        elif factor > 0 and (argument := _absolute_argument(term)) is not None:
            _price(l1, factor, argument, columns)
        else:
            return None
    nothing = np.zeros(0)
    return Program(
        P=sp.csc_array(P), q=q, l1=l1, offset=offset, A=sp.csr_array((0, size)), lower=nothing,
        upper=nothing, lb=np.concatenate(lb), ub=np.full(size, np.inf), columns=columns,
    )  # fmt: skip


def lower(objective: Any, constraints: Sequence[Any], variables: Sequence[Any]) -> Program:
    """Compile by CVXPY's chain of reductions."""
    l1_terms, rest = split_l1(objective)
    # a zero multiple keeps a variable's columns in the compiled problem
    priced = [v for _, argument in l1_terms for v in argument.variables()]
    anchor = sum(0.0 * cp.sum(v) for v in {v.id: v for v in [*variables, *priced]}.values())
    problem = cp.Problem(cp.Minimize(rest + anchor), list(constraints))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how CVXPY writes a power is its own affair
        try:
            data, _, inverse = problem.get_problem_data(_Probe())
            A = sp.csr_array(sp.vstack([data[names.A], data[names.F]]))
            lower = np.concatenate([data[names.B], np.full(data["n_ineq"], -np.inf)])
            upper = np.concatenate([data[names.B], data[names.G]])
            cost, cones = data[names.Q], None
        except cp.SolverError:
            data, _, inverse = problem.get_problem_data(_ConicProbe())
            A, lower, upper, cones = _conic_rows(data)
            cost = data[names.C]
    size = len(cost)
    columns = dict(data[names.PARAM_PROB].var_id_to_col)
    l1 = np.zeros(size)
    for coefficient, argument in l1_terms:
        _price(l1, coefficient, argument, columns)
    A.eliminate_zeros()
    lb = _bound(data[names.LOWER_BOUNDS], size, -np.inf)
    ub = _bound(data[names.UPPER_BOUNDS], size, np.inf)
    A, lower, upper = _rows_to_bounds(A, lower, upper, lb, ub)
    return Program(
        P=sp.csc_array(data[names.P]) if names.P in data else sp.csc_array((size, size)),
        q=np.asarray(cost, dtype=np.float64),
        l1=l1,
        offset=float(inverse[-1][names.OFFSET]),
        A=A,
        lower=lower,
        upper=upper,
        lb=lb,
        ub=ub,
        columns=columns,
        cones=Cones.none(size) if cones is None else cones,
    )


def _conic_rows(data: Any) -> tuple[Any, Floats, Floats, Cones]:
    """Return the linear rows, their sides and the cones of ``b - A x in {0} x R+ x K``."""
    dims, rows, side = data[names.DIMS], sp.csr_array(data[names.A]), data[names.B]
    linear = dims.zero + dims.nonneg
    lower = np.concatenate([side[: dims.zero], np.full(dims.nonneg, -np.inf)])
    blocks = [Cone("soc", size) for size in dims.soc]
    blocks += [Cone("psd", size * (size + 1) // 2) for size in dims.psd]
    blocks += [Cone("exp", 3)] * dims.exp
    blocks += [Cone("pow", 3, (power, 1.0 - power)) for power in dims.p3d]
    blocks += [Cone("pow", len(powers) + 1, tuple(powers)) for powers in dims.pnd]
    cones = Cones(-rows[linear:], -side[linear:], tuple(blocks))
    return rows[:linear], lower, side[:linear], cones


def split_l1(objective: Any) -> tuple[list[tuple[float, Any]], Any]:
    """Separate ``c * norm1(a)`` terms, a a selection or scaling of variables, from the rest."""
    found: list[tuple[float, Any]] = []
    rest: list[Any] = []
    for factor, term in summands(objective):
        if factor >= 0 and (argument := _absolute_argument(term)) is not None:
            found.append((factor, argument))
        else:
            rest.append(factor * term)
    return found, sum(rest) if rest else cp.Constant(0.0)


def summands(term: Any, factor: float = 1.0) -> Iterator[tuple[float, Any]]:
    """Yield the terms of a sum, each with the number that multiplies it."""
    if isinstance(term, AddExpression):
        for argument in term.args:
            yield from summands(argument, factor)
    elif isinstance(term, MulExpression | multiply) and _scalar(term.args[0]) is not None:
        yield from summands(term.args[1], factor * float(_scalar(term.args[0]) or 0.0))
    elif isinstance(term, MulExpression | multiply) and _scalar(term.args[1]) is not None:
        yield from summands(term.args[0], factor * float(_scalar(term.args[1]) or 0.0))
    elif isinstance(term, NegExpression):
        yield from summands(term.args[0], -factor)
    elif isinstance(term, DivExpression) and _scalar(term.args[1]):
        yield from summands(term.args[0], factor / float(_scalar(term.args[1]) or 1.0))
    else:
        yield factor, term


def affine_rows(expression: Any, columns: Mapping[int, int], size: int) -> tuple[Any, Floats]:
    """Return (M, b) with ``expression == M x + b`` over the given columns, row by row."""
    count = expression.size
    tensor = canonInterface.get_problem_matrix(
        [expression.canonical_form[0]],
        size,
        columns,
        {lin_op.CONSTANT_ID: 1},
        {lin_op.CONSTANT_ID: 0},
        count,
        None,
    )
    matrix, constant = canonInterface.get_matrix_from_tensor(tensor, None, size)
    return sp.csr_array(matrix), np.atleast_1d(np.asarray(constant, dtype=np.float64)).ravel()


def _rows_of(expression: Any, columns: Mapping[int, int], size: int) -> tuple[Any, Floats]:
    """Return what `affine_rows` does, at once for a variable and the sum of one."""
    summed = isinstance(expression, Sum) and expression.axis is None
    variable = expression.args[0] if summed else expression
    if not isinstance(variable, cp.Variable):
        return affine_rows(expression, columns, size)
    place = columns[variable.id] + np.arange(variable.size)
    row = np.zeros(variable.size, dtype=np.int64) if summed else np.arange(variable.size)
    shape = (1 if summed else variable.size, size)
    rows = sp.csr_array((np.ones(variable.size), (row, place)), shape=shape)
    return rows, np.zeros(shape[0])


def _price(l1: Floats, factor: float, argument: Any, columns: Mapping[int, int]) -> None:
    """Add the l1 term ``factor * norm1(argument)`` to the weights of columns."""
    rows, _ = _rows_of(argument, columns, len(l1))
    np.add.at(l1, rows.indices, factor * np.abs(rows.data))


def square_argument(term: Any) -> tuple[float, Any] | None:
    """Return (c, a) when ``term`` is c * sum_squares(a) with a affine."""
    if not isinstance(term, cp.quad_over_lin) or term.axis is not None:
        return None
    argument, denominator = term.args[0], _scalar(term.args[1])
    return (1.0 / denominator, argument) if denominator and argument.is_affine() else None


def _absolute_argument(term: Any) -> Any:
    """Return a when ``term`` is norm1(a) or sum(abs(a)) with at most one variable entry a row."""
    if isinstance(term, Sum) and isinstance(term.args[0], cp.abs) and term.axis is None:
        argument = term.args[0].args[0]
    elif isinstance(term, cp.norm1) and term.axis is None:
        argument = term.args[0]
    else:
        return None
    if isinstance(argument, cp.Variable):
        return argument
    if not argument.is_affine() or argument.parameters():
        return None
    columns, size = {}, 0
    for variable in argument.variables():
        columns[variable.id], size = size, size + variable.size
    matrix, constant = affine_rows(argument, columns, size)
    separable = np.all(np.diff(matrix.indptr) <= 1) and not np.any(constant)
    return argument if separable else None


def _scalar(expression: Any) -> float | None:
    if expression.is_constant() and expression.is_scalar() and expression.value is not None:
        return float(np.asarray(expression.value).item())
    return None


def _bound(given: Any, size: int, default: float) -> Floats:
    return np.full(size, default) if given is None else np.array(given, dtype=np.float64)


def _rows_to_bounds(
    A: Any, lower: Floats, upper: Floats, lb: Floats, ub: Floats
) -> tuple[Any, Floats, Floats]:
    """Turn rows with one entry into bounds (in place); return the rows that remain."""
    single = np.flatnonzero(np.diff(A.indptr) == 1)
    column, value = A.indices[A.indptr[single]], A.data[A.indptr[single]]
    ends = np.sort(np.stack([lower[single] / value, upper[single] / value]), axis=0) + 0.0
    np.maximum.at(lb, column, ends[0])
    np.minimum.at(ub, column, ends[1])
    keep = np.ones(A.shape[0], dtype=bool)
    keep[single] = False
    return sp.csr_array(A[np.flatnonzero(keep)]), lower[keep], upper[keep]
