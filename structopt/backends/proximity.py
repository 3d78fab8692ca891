r"""Proximal steps of what ties columns together: three ways to take them.

    u = argmin of F(u) + sum_j 1/(2 t_j) (u_j - x_j)^2

where F is everything that a programme says of its *tied* columns, those under a known term, in a
static row, in a cone, or coupled by P. A column without a step (t_j = 0) is F's own to choose.

>>> import cvxpy as cp
>>> from dataclasses import replace
>>> from structopt.master.compile import compile_problem
>>> w = cp.Variable(2)
>>> program = compile_problem(cp.quad_form(w, np.array([[2.0, 1.0], [1.0, 2.0]])), [], [w])
>>> proximity_of(replace(program, weights=slice(0, 2)))(np.array([3.0, 6.0]), np.full(2, 0.5)).x
array([0.375, 1.875])
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from structopt.arrays import Floats, Ints
from structopt.backends.base import Status
from structopt.backends.clarabel import Clarabel
from structopt.master.cones import Cones
from structopt.master.program import Program
from structopt.master.split import Split

_ACCURACY = 1e-5
"""Of a small programme's solution: the moves are not exact either, and the bounds trust nobody."""


class Step(NamedTuple):
    """Where a step ends, over all columns, and multipliers of the static rows there."""

    x: Floats
    static: Floats
    status: Status = "optimal"


class Proximity(ABC):
    """The proximal step over the ``columns`` that are tied."""

    def __init__(self, columns: Ints) -> None:
        self.columns = columns

    @abstractmethod
    def __call__(self, x: Floats, steps: Floats) -> Step:
        """Step from x with a length for each column, both over all columns."""

    def pull(self, x: Floats, which: Ints) -> Floats:
        """Return about the slope of F at x in some of the columns: what a short step gives up."""
        steps = np.zeros(len(x))
        steps[which] = 1e-3 * float(np.abs(x[which]).mean())
        return np.asarray((x - self(x, steps).x)[which] / steps[which])


class ByTerms(Proximity):
    """Each term's own step, in closed form."""

    def __init__(self, split: Split) -> None:
        super().__init__(split.columns)
        self._split, self._ridge = split, split.plain.P.diagonal()

    def __call__(self, x: Floats, steps: Floats) -> Step:
        """Step term by term; a ridge on a term's columns shortens it."""
        u, q = np.zeros(len(x)), self._split.plain.q
        for term in self._split.terms:
            j, t = term.columns, float(steps[term.columns[0]])
            shorter = 1.0 / (1.0 + t * self._ridge[j[0]])
            u[j] = term.prox(shorter * (x[j] - t * q[j]), shorter * t)
        return Step(u, np.zeros(0))


class Quadratic(Proximity):
    """A quadratic form without anything else: one factorisation for each length."""

    def __init__(self, program: Program, columns: Ints) -> None:
        super().__init__(columns)
        self._cost = program.q[columns]
        self._block = sp.csc_array(program.P[columns][:, columns])
        self._lengths = np.zeros(0)

    def __call__(self, x: Floats, steps: Floats) -> Step:
        """Solve ``(P + 1/t) u = x/t - q``."""
        lengths = steps[self.columns]
        if not np.array_equal(lengths, self._lengths):
            self._lengths = lengths
            self._factor = splu(sp.csc_array(self._block + sp.diags_array(1.0 / lengths)))
        u = np.zeros(len(x))
        u[self.columns] = self._factor.solve(x[self.columns] / lengths - self._cost)
        return Step(u, np.zeros(0))


class ByProgram(Proximity):
    """A small programme without cuts, solved by Clarabel."""

    def __init__(self, program: Program, columns: Ints) -> None:
        super().__init__(columns)
        j = columns
        self._own = replace(
            program, P=sp.csc_array(program.P[j][:, j]), q=program.q[j], l1=program.l1[j],
            A=sp.csr_array(program.A[:, j]), cones=_columns_of(program.cones, j), lb=program.lb[j],
            ub=program.ub[j], offset=0.0, weights=slice(0, 0), slacks=np.zeros(0, dtype=np.int64),
        )  # fmt: skip

    def __call__(self, x: Floats, steps: Floats) -> Step:
        """Solve the programme with the squares added."""
        lengths = steps[self.columns]
        held = lengths > 0
        weight = np.where(held, 1.0 / np.where(held, lengths, 1.0), 0.0)
        solver = Clarabel()
        nearer = replace(
            self._own,
            P=sp.csc_array(self._own.P + sp.diags_array(weight)),
            q=self._own.q - weight * x[self.columns],
        )
        solver.start(SimpleNamespace(program=nearer))
        found = solver.solve(tolerance=_ACCURACY)
        u = np.zeros(len(x))
        u[self.columns] = found.x
        none = np.zeros(self._own.static.shape[0])
        static = none if found.static_duals is None else found.static_duals
        return Step(u, static, found.status)


def _columns_of(cones: Cones, which: Ints) -> Cones:
    return replace(cones, matrix=sp.csr_array(cones.matrix[:, which])) if len(cones) else cones


def tied_columns(program: Program) -> Ints:
    """Return the columns in static rows or coupled by P."""
    tied = np.zeros(program.size, dtype=bool)
    tied[program.static.indices] = True
    coo = sp.coo_array(program.P)
    tied[coo.row[coo.row != coo.col]] = True
    return np.flatnonzero(tied)


def proximity_of(program: Program) -> Proximity:
    """Return the fastest way to step for a programme."""
    if program.split is not None:
        return ByTerms(program.split)
    j = tied_columns(program)
    free = np.isneginf(program.lb[j]) & np.isposinf(program.ub[j]) & (program.l1[j] == 0)
    if program.static.shape[0] == 0 and np.all(free):
        return Quadratic(program, j)
    return ByProgram(program, j)
