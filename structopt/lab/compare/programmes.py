r"""Linear and quadratic programmes from files: MPS, LP and QPS as HiGHS reads them, and .npz.

    min 1/2 x'P x + q.x + offset   s.t.   lower <= A x <= upper,   lb <= x <= ub.

A ``.npz`` holds ``q lower upper lb ub`` and the CSR arrays ``Ad Ai Ap`` and ``Pd Pi Pp`` (data,
indices, indptr; P symmetric, left out for a linear programme), and optionally ``offset``.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError, eigsh

from structopt.errors import FileFormatError, InvalidInputError
from structopt.files import read_plain_arrays
from structopt.lab.harness.isolated import isolated
from structopt.master.compile import compile_problem
from structopt.master.program import Program

SUFFIXES = (".mps", ".lp", ".qps", ".npz", ".mps.gz", ".lp.gz")
HUGE = 1e20
"""What files write for infinity."""
_READING, _SLOWEST = 2.0, 200_000  # CPU seconds for any file, and bytes a second more
_DENSE = 1500  # columns up to which all eigenvalues are computed: a second


def programme(
    P: Any, q: Any, A: Any, lower: Any, upper: Any, lb: Any, ub: Any, offset: float = 0.0
) -> Program:
    """Return a sound programme of some arrays; see :func:`sound`."""
    if any(np.iscomplexobj(v) for v in (P, q, A, lower, upper, lb, ub)):
        raise FileFormatError("There are complex numbers.")
    q, lower, upper, lb, ub = (np.asarray(v, dtype=np.float64) for v in (q, lower, upper, lb, ub))
    A, P = sp.csr_array(A, dtype=np.float64), sp.csr_array(P, dtype=np.float64)
    return sound(Program(P=P, q=q, l1=np.zeros(len(q)), A=A, lower=lower, upper=upper, lb=lb,
                         ub=ub, offset=float(offset)))  # fmt: skip


def sound(given: Program) -> Program:
    """Return a programme that can be compared; bounds of 1e20 and more are infinite.

    Raises
    ------
    FileFormatError
        No columns, sizes that do not fit, numbers that are none, an objective that is not convex.
    """
    p, P, A = given, sp.csr_array(given.P), sp.csr_array(given.A)
    if p.is_conic:
        raise FileFormatError("There are cones; linear and quadratic programmes are compared.")
    n, m = p.size, len(p.lower)
    long = (len(p.l1), len(p.lb), len(p.ub), len(p.upper))
    if A.shape != (m, n) or P.shape != (n, n) or long != (n, n, n, m):
        raise FileFormatError(
            f"Sizes do not fit: A is {A.shape}, P is {P.shape}, there are {n} costs and {m} rows."
        )
    if n == 0:
        raise FileFormatError("There are no columns.")
    finite = (A.data, P.data, p.q, p.l1, np.array([p.offset]))
    sides = {name: getattr(p, name) for name in ("lower", "upper", "lb", "ub")}
    if not all(np.all(np.isfinite(v)) for v in finite) or any(
        np.any(np.isnan(v)) for v in sides.values()
    ):
        raise FileFormatError("A cost, coefficient or bound is not a number.")
    sides = {k: np.where(np.abs(v) >= HUGE, np.copysign(np.inf, v), v) for k, v in sides.items()}
    largest = abs(P).max() if P.nnz else 0.0
    if (abs(P - P.T) > 1e-12 * (1.0 + largest)).nnz:
        raise FileFormatError("P is not symmetric.")
    if (least := _least_eigenvalue(P)) < -1e-8 * max(1.0, largest) or np.any(p.l1 < 0):
        why = f"P has the eigenvalue {least:.3g}" if least < 0 else "an l1 term is negative"
        raise FileFormatError(
            f"The objective is not convex: {why}. Only convex programmes can be compared."
        )
    return replace(p, P=P, A=A, **sides)


def read(path: str | os.PathLike[str]) -> Program:
    """Read a programme from a file.

    Raises
    ------
    FileFormatError
        It is no programme, or not a convex one.
    """
    path = Path(path)
    try:
        found = _read_npz(path) if path.suffix.lower() == ".npz" else _read_apart(path)
    except FileFormatError as error:
        raise FileFormatError(f"{path}: {error}") from None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise FileFormatError(f"{path} is no programme: {error}.") from None
    return found


def of_cvxpy(problem: Any) -> Program:
    """Return a CVXPY problem as a programme; a maximum is the minimum of the opposite.

    >>> import cvxpy as cp
    >>> x = cp.Variable(2)
    >>> of_cvxpy(cp.Problem(cp.Maximize(-cp.sum(x)), [x >= 1])).q
    array([1., 1.])
    """
    import cvxpy as cp

    if not isinstance(problem, cp.Problem):
        raise InvalidInputError(f"{problem!r} is no problem of CVXPY and no Program.")
    if not problem.variables():
        raise InvalidInputError("The problem has no variables.")
    if problem.parameters():
        raise InvalidInputError("The problem has parameters: give it with constants.")
    if not problem.is_dcp() or problem.is_mixed_integer():
        raise InvalidInputError("The problem is not convex by CVXPY's rules, or has integers.")
    sign = -1.0 if isinstance(problem.objective, cp.Maximize) else 1.0
    cost = sign * problem.objective.expr
    found = compile_problem(cost, problem.constraints, problem.variables())
    if found is None or found.is_conic:
        raise InvalidInputError("The problem has cones; linear and quadratic ones are compared.")
    return replace(found, P=sp.csr_array(found.P))


def digest(program: Program) -> str:
    """Return a name for the numbers of a programme: equal programmes have equal names."""
    content = hashlib.sha256()
    P, A = (sp.csr_array(m) for m in (program.P, program.A))
    arrays = (P.data, P.indices, P.indptr, A.data, A.indices, A.indptr, program.q, program.l1,
              program.lower, program.upper, program.lb, program.ub)  # fmt: skip
    for array in arrays:
        whole = np.issubdtype(array.dtype, np.integer)
        content.update(np.ascontiguousarray(array, dtype="<i8" if whole else "<f8").tobytes())
    return content.hexdigest()[:16]


def _read_npz(path: Path) -> Program:
    arrays = read_plain_arrays(path)
    n, m = len(arrays["q"]), len(arrays["lower"])

    def matrix(letter: str, shape: tuple[int, int]) -> Any:
        if f"{letter}d" not in arrays:
            return sp.csr_array(shape)
        made = sp.csr_array(tuple(arrays[letter + part] for part in "dip"), shape=shape)
        made.check_format()
        return made

    sides = {name: arrays[name] for name in ("lower", "upper", "lb", "ub")}
    offset = float(arrays.get("offset", 0.0))
    P, A = matrix("P", (n, n)), matrix("A", (m, n))
    return programme(P, arrays["q"], A, **sides, offset=offset)


def _read_apart(path: Path) -> Program:
    """Read a model in a process of its own: HiGHS never returns from some files that are damaged.

    One is a fixed-format MPS without its line ENDATA (HiGHS 1.15).
    """
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path.name}")
    ended = isolated(partial(_read_model, path), seconds=_READING + path.stat().st_size / _SLOWEST)
    if ended.how == "error":
        raise FileFormatError(ended.message.removeprefix(f"{FileFormatError.__name__}: "))
    if ended.how != "done":
        raise FileFormatError(f"HiGHS does not come to its end: {ended.message}.")
    found: Program = ended.value
    return found


def _read_model(path: Path) -> Program:
    import highspy

    make: Any = highspy.Highs  # untyped
    model = make()
    model.setOptionValue("output_flag", False)
    with tempfile.TemporaryDirectory() as folder:
        source = path
        if path.suffix.lower() == ".qps":  # HiGHS reads quadratic MPS, but goes by the ending
            source = Path(folder, "model.mps")
            shutil.copyfile(path, source)
        if model.readModel(str(source)) == highspy.HighsStatus.kError:
            raise FileFormatError("HiGHS cannot read it.")
    found = model.getModel()
    lp = found.lp_
    if any(kind != highspy.HighsVarType.kContinuous for kind in lp.integrality_):
        raise FileFormatError("It has integer columns; only continuous programmes are compared.")
    if lp.num_col_ == 0:
        raise FileFormatError("It has no columns.")
    sign = -1.0 if lp.sense_ == highspy.ObjSense.kMaximize else 1.0
    A = _matrix(lp.a_matrix_, (lp.num_row_, lp.num_col_))
    P = sp.csr_array((lp.num_col_, lp.num_col_))
    if found.hessian_.dim_:
        h = found.hessian_
        shape = (lp.num_col_, lp.num_col_)
        half = sp.csc_array((np.array(h.value_), np.array(h.index_), np.array(h.start_)), shape)
        P = half + half.T - sp.diags_array(half.diagonal())  # the lower triangle is stored
    return programme(
        sign * P, sign * np.array(lp.col_cost_), A, lower=lp.row_lower_, upper=lp.row_upper_,
        lb=lp.col_lower_, ub=lp.col_upper_, offset=sign * lp.offset_,
    )  # fmt: skip


def _matrix(given: Any, shape: tuple[int, int]) -> Any:
    import highspy

    arrays = (np.array(given.value_), np.array(given.index_), np.array(given.start_))
    by_column = given.format_ == highspy.MatrixFormat.kColwise
    return sp.csc_array(arrays, shape) if by_column else sp.csr_array(arrays, shape)


def _least_eigenvalue(P: Any) -> float:
    """Return the least eigenvalue of a symmetric matrix, 0 if there is none below it."""
    touched = np.unique(np.concatenate(sp.coo_array(P).coords))
    if not len(touched):
        return 0.0
    small = sp.csc_array(P)[touched][:, touched]
    if sp.coo_array(small).nnz == np.count_nonzero(small.diagonal()):
        return float(small.diagonal().min())
    if len(touched) <= _DENSE:
        return float(np.linalg.eigvalsh(small.toarray())[0])
    try:
        found = eigsh(small, k=1, which="SA", return_eigenvectors=False, tol=1e-6)
    except ArpackError:  # not settled: the solvers will say so themselves if it is not convex
        return 0.0
    return float(found[0])
