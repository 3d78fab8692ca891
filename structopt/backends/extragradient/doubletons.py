r"""Presolve: equations of two columns, each of which replaces one.

    a u + b v = c     =>     u = (c - b v) / a,     bounds of u become bounds of v.

All pairs of one pass are disjoint, so that the pass is one product, x = S x' + s, and

    A -> A S,     P -> S'P S,     q -> S'(q + P s),     sides -> sides - A s.

On the way back the equation's multiplier makes one reduced cost 0: that of v where v is held by a
bound that came from u, that of u otherwise.

>>> p = Program(P=sp.csr_array((2, 2)), q=np.array([1.0, 3.0]), l1=np.zeros(2),
...             A=sp.csr_array([[1.0, 1.0]]), lower=np.ones(1), upper=np.ones(1), lb=np.zeros(2),
...             ub=np.full(2, np.inf))
>>> step = Doubletons.of(p)
>>> step.problem.q, step.problem.lb, step.problem.ub  # x0 = 1 - x1
(array([2.]), array([0.]), array([1.]))
>>> step.undo(np.zeros(1), np.zeros(0), ray=False)
(array([1., 0.]), array([1.]))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints
from structopt.master.program import Program

ENTRIES = 3
"""Most entries of a column that is replaced: more would fill the matrix."""
RATIO = 1e3
"""Largest |b / a|, and its inverse: beyond, rounding is enlarged."""


@dataclass(frozen=True)
class Doubletons:
    """One pass: equations `row`, replaced columns `gone`, the others `kept`."""

    problem: Program
    before: Program
    row: Ints
    gone: Ints
    kept: Ints
    a: Floats
    b: Floats
    from_gone: tuple[Any, Any]
    """Whether the lower and the upper bound of `kept` came from `gone`."""

    @classmethod
    def of(cls, problem: Program) -> Doubletons | None:
        """Find disjoint pairs and replace them; None if there are none."""
        p = problem
        chosen = _choose(p)
        if not chosen:
            return None
        row, gone, kept = np.array(chosen, dtype=np.int64).T
        a, b = _entries(p.A, row, gone), _entries(p.A, row, kept)
        c = p.lower[row]
        m, n = p.A.shape
        stays = np.ones(n, dtype=bool)
        stays[gone] = False
        place = np.cumsum(stays) - 1
        columns = np.flatnonzero(stays)
        S = sp.csr_array(
            (
                np.concatenate([np.ones(len(columns)), -b / a]),
                (np.concatenate([columns, gone]), np.concatenate([place[columns], place[kept]])),
            ),
            shape=(n, len(columns)),
        )
        s = np.zeros(n)
        s[gone] = c / a
        rows = np.ones(m, dtype=bool)
        rows[row] = False
        shift, pushed = p.A @ s, p.P @ s
        A = sp.csr_array(p.A[rows] @ S)
        A.data[np.abs(A.data) < 1e-14] = 0.0  # what cancels
        A.eliminate_zeros()
        ends = (c - a * p.lb[gone]) / b, (c - a * p.ub[gone]) / b
        low, high = np.minimum(*ends), np.maximum(*ends)
        lb, ub = p.lb.copy(), p.ub.copy()
        if np.any(np.maximum(lb[kept], low) > np.minimum(ub[kept], high)):
            return None  # a pair that excludes itself: left to the proof of that
        from_gone = low > lb[kept], high < ub[kept]
        lb[kept], ub[kept] = np.maximum(lb[kept], low), np.minimum(ub[kept], high)
        reduced = Program(
            P=sp.csr_array(S.T @ p.P @ S), q=S.T @ (p.q + pushed), l1=p.l1[columns], A=A,
            lower=p.lower[rows] - shift[rows], upper=p.upper[rows] - shift[rows],
            lb=lb[columns], ub=ub[columns], offset=p.offset + float(p.q @ s + 0.5 * s @ pushed),
        )  # fmt: skip
        return cls(reduced, p, row, gone, kept, a, b, from_gone)

    def into(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Return a pair of the problem before as one of the problem left."""
        return np.delete(x, self.gone), np.delete(y, self.row)

    def undo(self, x: Floats, y: Floats, ray: bool) -> tuple[Floats, Floats]:
        """Return a pair (or ray) of the problem before."""
        p, gone, kept = self.before, self.gone, self.kept
        m, n = p.A.shape
        stays, rows = np.ones(n, dtype=bool), np.ones(m, dtype=bool)
        stays[gone], rows[self.row] = False, False
        whole_x, whole_y = np.zeros(n), np.zeros(m)
        whole_x[stays], whole_y[rows] = x, y
        right = 0.0 if ray else p.lower[self.row]
        whole_x[gone] = (right - self.b * whole_x[kept]) / self.a
        if not ray:
            whole_x[gone] = np.clip(whole_x[gone], p.lb[gone], p.ub[gone])
        reduced = -(p.A.T @ whole_y)
        if not ray:
            reduced = reduced + p.q + p.P @ whole_x
        of_gone, of_kept = reduced[gone], reduced[kept]
        left = of_kept - self.b / self.a * of_gone
        held = np.where(left > 0, self.from_gone[0], self.from_gone[1] & (left < 0))
        whole_y[self.row] = np.where(held, of_kept / self.b, of_gone / self.a)
        return whole_x, whole_y


def _choose(p: Program) -> list[tuple[int, int, int]]:
    """Return disjoint (row, column replaced, column kept)."""
    A = p.A
    in_column = np.bincount(A.indices, minlength=len(p.q))
    bent = (np.diff(sp.csr_array(p.P).indptr) > 0) | (p.l1 > 0)
    pairs = np.flatnonzero((np.diff(A.indptr) == 2) & (p.lower == p.upper))
    used: set[int] = set()
    chosen = []
    for i in pairs.tolist():
        start = A.indptr[i]
        columns = A.indices[start], A.indices[start + 1]
        if used.intersection(map(int, columns)):
            continue
        if not 1.0 / RATIO <= abs(A.data[start] / A.data[start + 1]) <= RATIO:
            continue
        u, v = sorted(map(int, columns), key=lambda j: (bent[j], in_column[j]))
        if in_column[u] <= ENTRIES and p.l1[u] == 0 and p.l1[v] == 0:
            used |= {u, v}
            chosen.append((int(i), u, v))
    return chosen


def _entries(A: Any, rows: Ints, columns: Ints) -> Floats:
    start = A.indptr[rows]
    first = A.indices[start] == columns
    return np.asarray(np.where(first, A.data[start], A.data[start + 1]))
