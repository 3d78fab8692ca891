r"""Presolve: of rows that are multiples of each other, one is kept.

Row a = s row b: their sides are intersected, and the multiplier goes back to the row whose side it
is. Candidates are found by one product with a random vector and compared entry by entry.

>>> import scipy.sparse as sp
>>> p = Program(P=sp.csr_array((2, 2)), q=np.ones(2), l1=np.zeros(2),
...             A=sp.csr_array([[1.0, 2.0], [2.0, 4.0]]), lower=np.array([1.0, 6.0]),
...             upper=np.full(2, np.inf), lb=np.zeros(2), ub=np.full(2, np.inf))
>>> step = Duplicates.of(p)
>>> step.problem.A.shape, step.problem.lower
((1, 2), array([6.]))
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Floats
from structopt.master.program import Program


@dataclass(frozen=True)
class Merge:
    """Row `gone` = `factor` row `kept`; whether the sides of `kept` came from `gone`."""

    gone: int
    kept: int
    factor: float
    lower: bool
    upper: bool


@dataclass(frozen=True)
class Duplicates:
    """One pass."""

    problem: Program
    kept: NDArray[np.bool_]
    merges: tuple[Merge, ...]

    @classmethod
    def of(cls, problem: Program) -> Duplicates | None:
        """Find and merge multiples; None if there are none."""
        p, A = problem, problem.A
        if not A.nnz or A.shape[0] < 2:
            return None
        length = np.diff(A.indptr)
        first = A.data[np.minimum(A.indptr[:-1], A.nnz - 1)]
        first = np.where(length > 0, first, 1.0)
        seen = (A @ np.random.default_rng(0).standard_normal(A.shape[1])) / first
        order = np.lexsort((seen, length))
        close = np.abs(np.diff(seen[order])) <= 1e-12 * np.abs(seen[order[:-1]])
        close &= (np.diff(length[order]) == 0) & (length[order[:-1]] > 0)
        lower, upper, merges = p.lower.copy(), p.upper.copy(), []
        kept = np.ones(len(lower), dtype=bool)
        for place in np.flatnonzero(close).tolist():
            a, b = int(order[place]), int(order[place + 1])
            s = float(first[a] / first[b])
            ra, rb = (slice(A.indptr[k], A.indptr[k + 1]) for k in (a, b))
            same = np.array_equal(A.indices[ra], A.indices[rb])
            if not same or np.max(np.abs(A.data[ra] - s * A.data[rb])) > 1e-14 * abs(first[a]):
                continue
            ends = lower[a] / s, upper[a] / s
            low, high = ends if s > 0 else ends[::-1]
            if max(low, lower[b]) > min(high, upper[b]):
                continue  # they exclude each other: left to the proof of that
            merges.append(Merge(a, b, s, low > lower[b], high < upper[b]))
            kept[a] = False
            lower[b], upper[b] = max(lower[b], low), min(upper[b], high)
        if not merges:
            return None
        reduced = replace(p, A=A[kept], lower=lower[kept], upper=upper[kept])
        return cls(reduced, kept, tuple(merges))

    def into(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Return a pair of the problem before as one of the problem left."""
        y = y.copy()
        for merge in self.merges:
            y[merge.kept] += merge.factor * y[merge.gone]
        return x, y[self.kept]

    def undo(self, x: Floats, y: Floats, ray: bool) -> tuple[Floats, Floats]:
        """Return a pair (or ray) of the problem before."""
        whole = np.zeros(len(self.kept))
        whole[self.kept] = y
        for merge in reversed(self.merges):
            moved = whole[merge.kept]
            if (moved > 0 and merge.lower) or (moved < 0 and merge.upper):
                whole[merge.gone], whole[merge.kept] = moved / merge.factor, 0.0
        return x, whole
