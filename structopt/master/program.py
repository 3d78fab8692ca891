r"""The compiled master problem: one standard form that every backend reads.

    min  1/2 x'P x + q.x + l1.|x| + offset
    s.t. lower <= A x <= upper,      lb <= x <= ub,      C x - d in K,      and one row per cut.

The l1 term stays a term of its own instead of being lowered to epigraph rows: a simplex backend
splits those columns (752 iterations where CVXPY's epigraph form took 9,461), a dual ascent
soft-thresholds them. K is a product of cones (:mod:`structopt.master.cones`), of none for linear
and quadratic programmes. Cuts arrive as :class:`~structopt.master.cuts.Cuts`, whose weight part is
kept as directions.

>>> import numpy as np, scipy.sparse as sp
>>> p = Program(P=sp.csc_array((2, 2)), q=np.zeros(2), l1=np.array([1.0, 0.0]), offset=0.0,
...             A=sp.csr_array((0, 2)), lower=np.zeros(0), upper=np.zeros(0),
...             lb=np.full(2, -np.inf), ub=np.full(2, np.inf), weights=slice(0, 2),
...             slacks=np.zeros(0, int))
>>> p.objective(np.array([-3.0, 5.0])), p.is_linear
(3.0, True)
>>> p.dormant  # nothing pulls either column away from 0 until a cut touches it
array([ True,  True])
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from structopt.arrays import Floats, Ints
from structopt.master.cones import Cones

if TYPE_CHECKING:
    from structopt.master.split import Split

Status = Literal["optimal", "inaccurate", "infeasible", "unbounded", "failed"]
"""What a solver may say of a programme."""

ROUNDING = 1e-12
"""What counts as zero among reduced costs: some thousand roundings of numbers near 1."""


@dataclass(frozen=True)
class Program:
    """The standard form: the static part of a master, or all of it as a solver is given it.

    Attributes
    ----------
    P, q, l1, offset : the objective; P is symmetric
    A, lower, upper : the rows (CSR)
    lb, ub : bounds of the columns
    weights : slice
        The columns of the weight vector.
    slacks : array of int
        The columns of the slacks: raised far enough they make every point satisfy their rows.
    columns : mapping of int to int
        Where the columns of each CVXPY variable begin, by its id.
    cones : Cones
        C, d and K.
    split : Split or None
        The same programme over the same columns without rows, if its terms are known.
    asked : mapping of int to int
        Where the columns begin that ``delta`` of a cut family multiplies, of families whose are not
        the weights.
    """

    P: Any
    q: Floats
    l1: Floats
    A: Any
    lower: Floats
    upper: Floats
    lb: Floats
    ub: Floats
    offset: float = 0.0
    weights: slice = field(default_factory=lambda: slice(0, 0))
    slacks: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    columns: Mapping[int, int] = field(default_factory=dict)
    cones: Cones = field(default_factory=lambda: Cones.none(0))
    split: Split | None = None
    asked: Mapping[int, int] = field(default_factory=dict)

    def asked_about(self, family: int) -> slice:
        """Return the columns that ``delta`` of a cut family multiplies."""
        start = self.asked.get(family, self.weights.start)
        return slice(start, start + self.weights.stop - self.weights.start)

    def at(self, weights: Floats) -> Floats:
        """Return the point over all columns with these weights, and 0 elsewhere."""
        x = np.zeros(self.size)
        x[self.weights] = weights
        for family in self.asked:
            x[self.asked_about(family)] = weights
        return x

    @property
    def is_conic(self) -> bool:
        """Whether there are cones beyond linear rows."""
        return len(self.cones) > 0

    @cached_property
    def static(self) -> Any:
        """The rows whose multipliers are the static ones: A, then C."""
        return sp.csr_array(sp.vstack([self.A, self.cones.matrix])) if self.is_conic else self.A

    @property
    def size(self) -> int:
        """Number of columns."""
        return len(self.q)

    @cached_property
    def is_linear(self) -> bool:
        """Whether there is no quadratic term."""
        return bool(self.P.nnz == 0)

    @cached_property
    def diagonal(self) -> Floats | None:
        """The diagonal of P when P is diagonal, else None."""
        coo = sp.coo_array(self.P)
        return np.asarray(self.P.diagonal()) if np.all(coo.row == coo.col) else None

    @cached_property
    def dormant(self) -> NDArray[np.bool_]:
        """Columns that stay 0 until a cut touches them, and so need not exist before."""
        coupled = np.zeros(self.size, dtype=bool)
        coupled[self.static.indices] = True
        coo = sp.coo_array(self.P)
        coupled[coo.row[coo.row != coo.col]] = True
        rests_above = (self.q + self.l1 >= 0) | (self.ub == 0)
        rests_below = (self.q - self.l1 <= 0) | (self.lb == 0)
        rests = rests_above & rests_below & (self.lb <= 0) & (self.ub >= 0)
        return np.asarray(~coupled & rests)

    def objective(self, x: Floats) -> float:
        """Return the objective at x."""
        return float(0.5 * x @ (self.P @ x) + self.q @ x + self.l1 @ np.abs(x) + self.offset)

    @cached_property
    def _blocks(self) -> Ints:
        """Where the columns of each variable begin."""
        return np.unique([0, *self.columns.values()])

    def residual(self, x: Floats) -> float:
        """Return the largest violation of the static rows and bounds at x, as a share of numbers.

        A row is measured by the largest of its side, the sum of its terms' sizes, and a millionth
        of what that sum would be with every entry as large as the largest of its variable: a ball
        of radius 1e-10 is kept as well as one of 1, and roundings of entries near 0 do not count.
        """
        size = np.abs(x)
        if self.size:
            lengths = np.diff(self._blocks, append=self.size)
            largest = np.repeat(np.maximum.reduceat(size, self._blocks), lengths)
            size = np.maximum(size, 1e-6 * largest)
        value, summed = self.A @ x, abs(self.A) @ size
        parts = (
            (self.lower - value, self.lower, summed),
            (value - self.upper, self.upper, summed),
            (self.lb - x, self.lb, size),
            (x - self.ub, self.ub, size),
        )
        outside = 0.0
        if self.is_conic:
            C, d = self.cones.matrix, self.cones.side
            sizes = max(float(np.max(abs(C) @ size)), float(np.abs(d).max()), ROUNDING)
            outside = -self.cones.depth(C @ x - d) / sizes
        return max(0.0, outside, *(_share(*part) for part in parts))

    def sides(self, y: Floats) -> float:
        """Return ``lower.y+ - upper.y- + d.z``, what multipliers (y, z) of the rows gain."""
        rows = len(self.lower)
        return sided(y[:rows], self.lower, self.upper) + float(self.cones.side @ y[rows:])

    def signed(self, y: Floats) -> Floats:
        """Return static multipliers, those of linear rows without what pushes from no side."""
        rows = len(self.lower)
        return np.concatenate([one_sided(y[:rows], self.lower, self.upper), y[rows:]])


def _share(over: Floats, side: Floats, summed: Floats) -> float:
    """Return the largest violation as a share of its row's numbers."""
    broken = np.flatnonzero(over > 0)
    of = np.maximum(np.abs(side[broken]), summed[broken])
    return float(np.max(over[broken] / of, initial=0.0))


def sided(y: Floats, lower: Floats, upper: Floats) -> float:
    """Return ``lower.y+ - upper.y-`` with 0 * inf read as 0."""
    active: NDArray[np.bool_] = y != 0
    ends = np.where(y > 0, lower, upper)[active]
    return float(ends @ y[active])


def one_sided(multipliers: Floats, lower: Floats, upper: Floats) -> Floats:
    """Return the multipliers without what pushes from a side that a row does not have.

    Solvers miss the sign by their tolerance; dropped here, so that no reader has to.
    """
    y = np.where(np.isneginf(lower), np.minimum(multipliers, 0.0), multipliers)
    return np.where(np.isposinf(upper), np.maximum(y, 0.0), y)
