r"""Ruiz and Pock-Chambolle scaling: rows and columns brought to comparable size.

    A -> R A S,    P -> S P S,    x = S x',    y = R y'

Ruiz divides rows and columns by the square root of their largest entry, again and again; one pass
of Pock and Chambolle's then divides by the square root of the sum of their entries. Later solves of
the same, grown problem begin at the Ruiz scales of the last one and need few passes.

>>> import numpy as np, scipy.sparse as sp
>>> A = sp.csr_array(np.array([[1e4, 0.0], [1.0, 1e-4]]))
>>> nothing = sp.csr_array((2, 2))
>>> scale = Scale.of(A, nothing, None)
>>> abs(sp.diags_array(scale.rows) @ A @ sp.diags_array(scale.columns)).toarray().round(1)
array([[1. , 0. ], [0.1, 1. ]])
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.backends.extragradient.step_kernels import magnitudes
from structopt.master.program import Program

PASSES, AGAIN = 10, 2
"""Ruiz passes of the first solve (as in PDLP) and of one that begins at earlier scales."""


@dataclass(frozen=True)
class Scale:
    """Factors of rows and columns; `ruiz_rows`, `ruiz_columns` are those before the last pass."""

    rows: Floats
    columns: Floats
    ruiz_rows: Floats
    ruiz_columns: Floats

    @classmethod
    def none(cls, problem: Program) -> Scale:
        """Return factors of 1."""
        rows, columns = np.ones(len(problem.lower)), np.ones(len(problem.q))
        return cls(rows, columns, rows, columns)

    @classmethod
    def of(cls, A: Any, P: Any, before: Scale | None) -> Scale:
        """Scale A and P, from the scales of an earlier solve with fewer rows and columns."""
        m, n = A.shape
        rows, columns = np.ones(m), np.ones(n)
        if before is not None:
            rows[: len(before.ruiz_rows)] = before.ruiz_rows
            columns[: len(before.ruiz_columns)] = before.ruiz_columns
        for _ in range(PASSES if before is None else AGAIN):
            rows, columns = _pass(A, P, rows, columns, largest=True)
        return cls(*_pass(A, P, rows, columns, largest=False), rows, columns)

    def keep(self, rows: Any) -> Scale:
        """Return the factors of the rows that stay."""
        return replace(self, rows=self.rows[rows], ruiz_rows=self.ruiz_rows[rows])

    def apply(self, problem: Program) -> Program:
        """Return the scaled problem."""
        R, S = self.rows, self.columns
        return Program(
            P=sp.csr_array(sp.diags_array(S) @ problem.P @ sp.diags_array(S)),
            q=S * problem.q,
            l1=S * problem.l1,
            A=_scaled(problem.A, R, S),
            lower=R * problem.lower,
            upper=R * problem.upper,
            lb=problem.lb / S,
            ub=problem.ub / S,
        )


def _scaled(A: Any, rows: Floats, columns: Floats) -> Any:
    data = A.data * np.repeat(rows, np.diff(A.indptr)) * columns[A.indices]
    return sp.csr_array((data, A.indices, A.indptr), shape=A.shape)


def _pass(A: Any, P: Any, rows: Floats, columns: Floats, *, largest: bool) -> tuple[Floats, Floats]:
    of_row, of_column = np.zeros(len(rows)), np.zeros(len(columns))
    magnitudes(parts(A), rows, columns, largest, of_row, of_column)
    if P.nnz:
        magnitudes(parts(P), columns, columns, largest, np.zeros(len(columns)), of_column)
    return rows / _root(of_row), columns / _root(of_column)


def _root(of: Floats) -> Floats:
    return np.asarray(np.sqrt(np.where(of > 0, of, 1.0)))


def parts(matrix: Any) -> tuple[Any, Any, Any]:
    """Return the arrays of a CSR matrix, as compiled code takes them."""
    indptr = matrix.indptr.astype(np.int64, copy=False)
    return indptr, matrix.indices.astype(np.int32, copy=False), matrix.data
