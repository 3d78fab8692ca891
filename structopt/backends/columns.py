r"""From the columns of a program to the columns a solver is given.

Two things differ. Only *awake* columns exist: a dormant one (see `Program.dormant`) stays 0 until a
cut touches it, so an L1 master over a million features costs what its cuts touch. And a column with
an l1 term whose sign is open is split,

    x = u - v,    0 <= u <= ub,    0 <= v <= -lb,    cost  (q + l1) u + (l1 - q) v,

which is exact because l1 > 0 leaves no reason to raise u and v together, and which needs no rows.

>>> import numpy as np, scipy.sparse as sp
>>> p = Program(P=sp.csc_array((3, 3)), q=np.array([0.0, 0.0, 2.0]), l1=np.array([1.0, 1.0, 0.0]),
...             offset=0.0, A=sp.csr_array((0, 3)), lower=np.zeros(0), upper=np.zeros(0),
...             lb=np.array([-np.inf, -np.inf, 0.0]), ub=np.full(3, np.inf), weights=slice(0, 2),
...             slacks=np.array([2]))
>>> columns = Columns(p)
>>> columns.size  # nothing pulls any of the three away from 0
0
>>> cut = sp.csr_array(np.array([[0.0, 5.0, 1.0]]))
>>> columns.wake(cut), columns.lift(cut).toarray(), columns.cost
(slice(0, 3, None), array([[ 5., 1., -5.]]), array([1., 2., 1.]))
>>> columns.restore(np.array([0.0, 4.0, 0.5]))
array([ 0. , -0.5, 4. ])
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints
from structopt.backends.base import MasterSolution
from structopt.master.cones import Cones
from structopt.master.program import Program


class Columns:
    """The solver columns of the awake part of ``program``; their number only grows.

    Attributes
    ----------
    size : int
        Number of solver columns.
    cost, lower, upper : arrays
        Linear cost and bounds of each solver column.
    l1 : array
        Its l1 term: 0 where the column was split, and so everywhere unless ``split`` is False.
    """

    def __init__(self, program: Program, *, split: bool = True) -> None:
        self.program = program
        self.size = 0
        self.cost = self.l1 = self.lower = self.upper = self._sign = np.zeros(0)
        self._splits = split
        self._source = np.zeros(0, dtype=np.int64)
        self._first = np.full(program.size, -1)
        self._second = np.full(program.size, -1)  # the part v of a split column
        self._quadratic: Any = None
        self._create(np.flatnonzero(~program.dormant))

    def wake(self, rows: Any) -> slice:
        """Create the columns that ``rows`` touch for the first time; return where they stand."""
        touched = rows.indices[rows.data != 0]
        return self._create(np.unique(touched[self._first[touched] < 0]))

    def _create(self, new: Ints) -> slice:
        before, program = self.size, self.program
        if not len(new):
            return slice(before, before)
        q, l1, lb, ub = program.q[new], program.l1[new], program.lb[new], program.ub[new]
        open_sign = (l1 > 0) & (lb < 0) & (ub > 0)
        split = open_sign & self._splits
        whole = open_sign & ~split
        parts = new[split]
        self._first[new] = before + np.arange(len(new))
        self._second[parts] = before + len(new) + np.arange(len(parts))
        self.size = before + len(new) + len(parts)
        # Where the sign is settled, |x| is x or -x and the term is a plain cost.
        slope = np.where(whole, 0.0, np.where((lb < 0) & (ub <= 0), -l1, l1))
        self.cost = np.concatenate([self.cost, q + slope, (l1 - q)[split]])
        self.l1 = np.concatenate([self.l1, np.where(whole, l1, 0.0), np.zeros(len(parts))])
        self.lower = np.concatenate([self.lower, np.where(split, 0.0, lb), np.zeros(len(parts))])
        self.upper = np.concatenate([self.upper, ub, -lb[split]])
        self._source = np.concatenate([self._source, new, parts])
        self._sign = np.concatenate([self._sign, np.ones(len(new)), -np.ones(len(parts))])
        self._quadratic = None
        return slice(before, self.size)

    def reprice(self, program: Program) -> bool:
        """Take over the costs of a programme that differs in nothing else; False if it does."""
        old, new = self.program, program
        same = [
            (old.lb, new.lb), (old.ub, new.ub), (old.l1 > 0, new.l1 > 0),
            (old.dormant, new.dormant), (old.lower, new.lower), (old.upper, new.upper),
        ]  # fmt: skip
        conic = old.is_conic or new.is_conic
        if conic or not all(np.array_equal(a, b) for a, b in same) or (old.A != new.A).nnz:
            return False
        awake = self._source
        fresh = Columns(program, split=self._splits)
        fresh._create(np.setdiff1d(awake, fresh._source))
        first, second = fresh._first[awake], fresh._second[awake]
        place = np.where(np.arange(self.size) == self._second[awake], second, first)
        self.program, self.cost, self.l1 = program, fresh.cost[place], fresh.l1[place]
        self._quadratic = None
        return True

    def places(self, columns: Ints) -> Ints:
        """Return the solver columns of those program columns that are awake."""
        found = self._first[columns]
        return np.asarray(found[found >= 0])

    def lift(self, rows: Any) -> Any:
        """Return rows over program columns, all of them awake, as CSR rows over solver columns."""
        if not rows.has_canonical_format:  # HiGHS refuses a row that names a column twice
            rows = rows.copy()
            rows.sum_duplicates()
        stored = rows.data != 0
        indices, data = rows.indices[stored], rows.data[stored]
        second = self._second[indices]
        width = 1 + (second >= 0)
        entry = np.repeat(np.arange(len(data)), width)
        is_second = np.zeros(len(entry), dtype=bool)
        is_second[1:] = entry[1:] == entry[:-1]
        kept = np.concatenate([[0], np.cumsum(stored)])[rows.indptr]
        return sp.csr_array(
            (
                np.where(is_second, -data[entry], data[entry]),
                np.where(is_second, second[entry], self._first[indices][entry]),
                np.concatenate([[0], np.cumsum(width)])[kept],
            ),
            shape=(rows.shape[0], self.size),
        )

    def quadratic(self) -> Any:
        """Return P over solver columns, ``S'PS`` where ``x = S z``, as symmetric CSC."""
        if self._quadratic is None:
            shape = (self.program.size, self.size)
            S = sp.csc_array((self._sign, (self._source, np.arange(self.size))), shape=shape)
            self._quadratic = sp.csc_array(S.T @ (self.program.P @ S))
        return self._quadratic

    def cones(self) -> Cones:
        """Return the programme's cones over solver columns; every column in them is awake."""
        cones = self.program.cones
        return replace(cones, matrix=self.lift(cones.matrix)) if len(cones) else cones

    def restore(self, z: Floats) -> Floats:
        """Return all program columns of the solver's point ``z``, moved into their bounds."""
        return np.clip(self.spread(z), self.program.lb, self.program.ub)

    def spread(self, z: Floats) -> Floats:
        """Return all program columns of the solver's point or direction ``z``."""
        spread = np.bincount(self._source, weights=self._sign * z, minlength=self.program.size)
        return spread.astype(np.float64, copy=False)

    def without_columns(self, lower: Floats, upper: Floats) -> MasterSolution:
        """Return the solution of a master that has no solver column: every row reads 0.

        Solvers refuse such a model, or call it "empty" without a look at its rows (HiGHS 1.15).
        """
        n_static = len(self.program.lower)
        duals = (lower > 0) - 1.0 * (upper < 0)
        wrong = np.flatnonzero(duals)
        message = "" if not len(wrong) else f"{len(wrong)} rows without columns ask for 0 != 0."
        return MasterSolution(
            status="infeasible" if len(wrong) else "optimal",
            x=np.zeros(self.program.size),
            cut_duals=duals[n_static:],
            static_duals=duals[:n_static],
            iterations=0,
            message=message,
        )
