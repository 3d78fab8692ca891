r"""Presolve: a smaller problem with the same solutions, and the exact way back.

Rules, again and again until nothing changes:

* a row that the bounds keep within a side loses that side; without sides, or empty, it goes;
* a row of one column is a bound of it (*singleton*);
* a row that the bounds just let hold leaves its columns one value each (*forcing*);
* a column with one value left is put into the sides (*fixed*); so is one that nothing holds back on
  the way to its bound, or whose reduced cost has one sign for all multipliers (*dominated*);
* a column of one row without cost, or of an equation, widens the sides of its row (*slack*);
* an equation of two columns replaces one of them (:mod:`.doubletons`);
* of rows that are multiples of each other one is kept (:mod:`.duplicates`).

Each leaves a record, and records are undone from the last to the first: a column that comes back
has the value on record or the one its row asks for, a row that comes back gets the multiplier that
makes the reduced costs of its columns admissible. Rays are brought back by the same rules, as pairs
of the homogeneous problem (no costs, 0 for every finite bound). Bounds are tightened by singleton
rows only: a bound derived from a longer row would leave its multiplier to many rows.

>>> import scipy.sparse as sp
>>> p = Program(P=sp.csr_array((2, 2)), q=np.ones(2), l1=np.zeros(2),
...             A=sp.csr_array([[0.0, 2.0], [1.0, 1.0]]), lower=np.array([2.0, 3.0]),
...             upper=np.full(2, np.inf), lb=np.zeros(2), ub=np.full(2, np.inf))
>>> reduction = presolve(p)
>>> reduction.problem.A.shape, reduction.problem.lb  # the first row is a bound of x1
((1, 2), array([0., 1.]))
>>> reduction.back(np.array([2.0, 1.0]), np.array([1.0]))
(array([2., 1.]), array([0., 1.]))
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.backends.extragradient import doubletons, duplicates
from structopt.backends.extragradient.presolve_kernels import SLACK, WIDTH, reduce_all, undo_all
from structopt.backends.extragradient.scaling import parts
from structopt.master.program import Program

Pair = tuple[Floats, Floats]


class Pass(Protocol):
    """One reduction: the problem after it, and the way back."""

    @property
    def problem(self) -> Program:
        """What is left."""

    def into(self, x: Floats, y: Floats) -> Pair:
        """Return a pair of the problem before as one of the problem left."""

    def undo(self, x: Floats, y: Floats, ray: bool) -> Pair:
        """Return a pair (or ray) of the problem before."""


@dataclass(frozen=True)
class Reduction:
    """A sequence of passes.

    Attributes
    ----------
    problem : Program
        What is left of the problem.
    passes : tuple of Pass
    proof : array or None
        Multipliers of the given problem that are to prove it infeasible: the presolve met a row
        that cannot hold.
    """

    problem: Program
    passes: tuple[Pass, ...] = ()
    proof: Floats | None = None

    def into(self, x: Floats, y: Floats) -> Pair:
        """Return a pair of the problem given as one of the problem left, to start from."""
        for step in self.passes:
            x, y = step.into(x, y)
        return x, y

    def back(self, x: Floats, y: Floats, *, ray: bool = False) -> Pair:
        """Return a pair of the problem left as one of the problem given."""
        for step in reversed(self.passes):
            x, y = step.undo(x, y, ray)
        return x, y


def presolve(problem: Program) -> Reduction:
    """Reduce a problem; only what holds for its columns without l1 terms is used."""
    A = sp.csr_array(problem.A, copy=True)  # what is given stays as it is
    A.eliminate_zeros()
    current = replace(problem, A=A, P=sp.csr_array(problem.P))
    passes: list[Pass] = []
    for _ in range(3):
        rules = Rules(current)
        if rules.conflict is not None:
            row, sign = rules.conflict
            y = np.zeros(len(current.lower))
            y[row] = sign
            y = rules.undo_conflict(y)
            return Reduction(
                current,
                proof=Reduction(current, tuple(passes)).back(np.zeros(len(current.q)), y, ray=True)[
                    1
                ],
            )
        found: list[Pass] = [rules] if rules.changed else []
        current = rules.problem
        for find in (doubletons.Doubletons.of, duplicates.Duplicates.of):
            step: Pass | None = find(current)
            if step is not None:
                found.append(step)
                current = step.problem
        passes += found
        if not found or found == [rules]:
            break
    return Reduction(current, tuple(passes))


class Rules:
    """The compiled rules, applied until nothing changes."""

    def __init__(self, problem: Program) -> None:
        p = problem
        m, n = p.A.shape
        self._matrices = parts(p.A), parts(sp.csr_array(p.A.T)), parts(p.P)
        q, lower, upper, lb, ub = (v.copy() for v in (p.q, p.lower, p.upper, p.lb, p.ub))
        rows, columns = np.ones(m, dtype=bool), np.ones(n, dtype=bool)
        self._records, info = np.zeros((m + n, WIDTH)), np.zeros(4)
        self._count = reduce_all(
            *self._matrices, q, lower, upper, lb, ub, p.l1, rows, columns, self._records, info
        )
        self.conflict = None if info[1] < 0 else (int(info[1]), float(info[2]))
        self._rows, self._columns = np.flatnonzero(rows), np.flatnonzero(columns)
        self._q, self._alive, self._shape = q, columns, (m, n)
        r, c = self._rows, self._columns
        self.changed = self._count > 0 or len(r) < m
        self.problem = Program(
            P=p.P[c][:, c], q=q[c], l1=p.l1[c], A=p.A[r][:, c], lower=lower[r], upper=upper[r],
            lb=lb[c], ub=ub[c], offset=p.offset + float(info[3]),
        )  # fmt: skip

    def into(self, x: Floats, y: Floats) -> Pair:
        """Return a pair of the problem before as one of the problem left."""
        y = y.copy()
        records = self._records[: self._count]
        slacks = records[records[:, 0] == SLACK]
        np.subtract.at(y, slacks[:, 1].astype(np.int64), slacks[:, 4])
        return x[self._columns], y[self._rows]

    def undo(self, x: Floats, y: Floats, ray: bool) -> Pair:
        """Return a pair (or ray) of the problem before."""
        whole_x, whole_y = np.zeros(self._shape[1]), np.zeros(self._shape[0])
        whole_x[self._columns], whole_y[self._rows] = x, y
        self._undo(whole_x, whole_y, ray)
        return whole_x, whole_y

    def undo_conflict(self, y: Floats) -> Floats:
        """Return what multipliers of all rows as they stood at the conflict become."""
        self._undo(np.zeros(self._shape[1]), y, True)
        return y

    def _undo(self, x: Floats, y: Floats, ray: bool) -> None:
        alive = self._alive.copy()
        undo_all(*self._matrices, self._q.copy(), alive, self._records, self._count, x, y, ray)
