r"""The programme that the extragradient method solves, and its saddle point.

    min  1/2 x'P x + q.x + l1.|x|    s.t.  lower <= A x <= upper,    lb <= x <= ub

    min over lb <= x <= ub, max over y:
        1/2 x'P x + q.x + l1.|x| - y.A x + lower.y+ - upper.y-

with the multipliers' sign of :class:`~structopt.backends.base.MasterSolution`: y >= 0 pushes from
below, y <= 0 from above.

>>> import numpy as np, scipy.sparse as sp
>>> p = Problem(P=sp.csr_array((2, 2)), q=np.ones(2), l1=np.zeros(2),
...             A=sp.csr_array([[1.0, 2.0]]), lower=np.array([4.0]), upper=np.array([np.inf]),
...             lb=np.zeros(2), ub=np.full(2, np.inf))
>>> p.objective(np.array([0.0, 2.0])), p.sides(np.array([0.5]))
(2.0, 2.0)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from structopt.arrays import Floats, Ints


@dataclass(frozen=True)
class Problem:
    """The programme above; P (symmetric) and A are CSR.

    Attributes
    ----------
    P, q, l1, A, lower, upper, lb, ub : as in the formula
    slacks : array of int
        Columns that may be raised until their rows hold, if any: they make every x feasible.
    """

    P: Any
    q: Floats
    l1: Floats
    A: Any
    lower: Floats
    upper: Floats
    lb: Floats
    ub: Floats
    slacks: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def curvature(self) -> Floats | None:
        """Return the diagonal of P if P is diagonal."""
        coo = self.P.tocoo()
        return np.asarray(self.P.diagonal()) if np.all(coo.row == coo.col) else None

    def objective(self, x: Floats) -> float:
        """Return the objective at x."""
        return float(0.5 * x @ (self.P @ x) + self.q @ x + self.l1 @ np.abs(x))

    def sides(self, y: Floats) -> float:
        """Return ``lower.y+ - upper.y-`` with 0 * inf read as 0."""
        active = y != 0
        return float(np.where(y > 0, self.lower, self.upper)[active] @ y[active])
