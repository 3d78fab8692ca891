r"""Scaling: rows and columns brought to comparable size, costs and sides to norm 1.

    A -> R A S,    P -> (d/p) S P S,    q -> d S q,    sides -> p R sides,    bounds -> p bounds / S

so that ``x = S x' / p`` and ``y = R y' / d``. Ruiz divides rows and columns by the square root of
their largest entry, again and again; one pass of Pock and Chambolle's then divides by the square
root of the sum of their entries. The factors p and d divide the sides and the costs by 1 + their
norm (together with the rows and columns, as one matrix, they do worse: 32 public programmes solved
in place of 34). Later solves of the same, grown problem begin at the Ruiz scales of the last one
and need few passes.

>>> import numpy as np, scipy.sparse as sp
>>> A = sp.csr_array(np.array([[1e4, 0.0], [1.0, 1e-4]]))
>>> p = Program(P=sp.csr_array((2, 2)), q=np.ones(2), l1=np.zeros(2), A=A, lower=np.zeros(2),
...             upper=np.ones(2), lb=np.zeros(2), ub=np.ones(2))
>>> abs(Scale.of(p).apply(p).A).toarray().round(1)
array([[1. , 0. ], [0.1, 1. ]])
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.backends.extragradient.problem import sizes
from structopt.backends.extragradient.product_kernels import magnitudes
from structopt.master.program import Program

PASSES, AGAIN = 10, 2
"""Ruiz passes of the first solve (as in PDLP) and of one that begins at earlier scales."""


@dataclass(frozen=True)
class Scale:
    """Factors of rows and columns; `ruiz_rows`, `ruiz_columns` are those before the last pass.

    `primal` and `dual` are p and d above.
    """

    rows: Floats
    columns: Floats
    ruiz_rows: Floats
    ruiz_columns: Floats
    primal: float = 1.0
    dual: float = 1.0

    @classmethod
    def none(cls, problem: Program) -> Scale:
        """Return factors of 1."""
        rows, columns = np.ones(len(problem.lower)), np.ones(len(problem.q))
        return cls(rows, columns, rows, columns)

    @classmethod
    def of(
        cls,
        problem: Program,
        before: Scale | None = None,
        *,
        matrix: bool = True,
        norms: bool = True,
    ) -> Scale:
        """Scale a problem, from the scales of an earlier solve with fewer rows and columns.

        ``matrix`` and ``norms`` say whether to scale rows and columns, and costs and sides.
        """
        scale, p = cls.none(problem), problem
        if matrix:
            rows, columns = scale.rows, scale.columns
            if before is not None:
                rows[: len(before.ruiz_rows)] = before.ruiz_rows
                columns[: len(before.ruiz_columns)] = before.ruiz_columns
            for _ in range(PASSES if before is None else AGAIN):
                rows, columns = _pass(p, rows, columns, largest=True)
            scale = cls(*_pass(p, rows, columns, largest=False), rows, columns)
        if not norms:
            return scale
        if before is not None:  # the primal weight that was learned belongs to these
            return replace(scale, primal=before.primal, dual=before.dual)
        right = float(np.linalg.norm(scale.rows * sizes(p.lower, p.upper)))
        cost = float(np.linalg.norm(scale.columns * (np.abs(p.q) + p.l1)))
        return replace(scale, primal=1.0 / (1.0 + right), dual=1.0 / (1.0 + cost))

    def keep(self, rows: Any) -> Scale:
        """Return the factors of the rows that stay."""
        return replace(self, rows=self.rows[rows], ruiz_rows=self.ruiz_rows[rows])

    def apply(self, problem: Program) -> Program:
        """Return the scaled problem."""
        R, S, p, d = self.rows, self.columns, self.primal, self.dual
        return Program(
            P=_scaled(problem.P, S * (d / p), S),
            q=d * S * problem.q,
            l1=d * S * problem.l1,
            A=_scaled(problem.A, R, S),
            lower=p * R * problem.lower,
            upper=p * R * problem.upper,
            lb=p * problem.lb / S,
            ub=p * problem.ub / S,
        )

    def into(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Return a pair of the problem in the scaled problem's units."""
        return self.primal * x / self.columns, self.dual * y / self.rows

    def back(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Return a pair of the scaled problem in the problem's units."""
        return x * self.columns / self.primal, y * self.rows / self.dual


def _scaled(A: Any, rows: Floats, columns: Floats) -> Any:
    data = A.data * np.repeat(rows, np.diff(A.indptr)) * columns[A.indices]
    return sp.csr_array((data, A.indices, A.indptr), shape=A.shape)


def _pass(p: Program, rows: Floats, columns: Floats, *, largest: bool) -> tuple[Floats, Floats]:
    of_row, of_column = np.zeros(len(rows)), np.zeros(len(columns))
    magnitudes(parts(p.A), rows, columns, largest, of_row, of_column)
    if p.P.nnz:
        magnitudes(parts(p.P), columns, columns, largest, np.zeros(len(columns)), of_column)
    return rows / _root(of_row), columns / _root(of_column)


def _root(of: Floats) -> Floats:
    return np.asarray(np.sqrt(np.where(of > 0, of, 1.0)))


def parts(matrix: Any) -> tuple[Any, Any, Any]:
    """Return the arrays of a CSR matrix, as compiled code takes them."""
    indptr = matrix.indptr.astype(np.int64, copy=False)
    return indptr, matrix.indices.astype(np.int32, copy=False), matrix.data
