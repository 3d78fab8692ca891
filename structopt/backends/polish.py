r"""From a rough solution of a quadratic programme to an exact one, by its active set.

    min  1/2 x'P x + q.x    s.t.  lower <= A x <= upper

A first-order method knows soon *which* rows are active and only late what their multipliers are.
With the active rows B x = b taken for equalities, both solve one linear system,

    [ P  B' ] [ x ]   [ -q ]
    [ B  0  ] [-y ] = [  b ].

OSQP has such a polish, but tries it once, at the end, and prints to stdout when no row is active
(1.1.3, even with ``verbose=False``).

>>> import numpy as np, scipy.sparse as sp
>>> exact = polish(sp.csc_array(np.eye(2)), np.zeros(2), sp.csr_array(np.array([[1.0, 1.0]])),
...                np.array([4.0]), np.array([np.inf]), np.array([1.9, 2.0]), np.array([1.5]))
>>> exact.x.round(9), exact.y.round(9), exact.residual < 1e-9
(array([2., 2.]), array([2.]), True)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from structopt.arrays import Floats
from structopt.master.program import one_sided

# The system is singular where active rows depend on each other: this much on the diagonal makes it
# solvable, the refinement takes the error back out. Both as in OSQP's paper, section 5.2.
REGULARISATION = 1e-6
REFINEMENTS = 5


@dataclass(frozen=True)
class Polished:
    """A point, its multipliers (signs as in `MasterSolution`), and how far from optimal they are.

    Attributes
    ----------
    x, y : arrays
    residual : float
        The largest of: violation of a row, of stationarity, and the duality gap over 1 + |value|.
    """

    x: Floats
    y: Floats
    residual: float


def polish(
    P: Any, q: Floats, A: Any, lower: Floats, upper: Floats, x: Floats, y: Floats
) -> Polished | None:
    """Return the solution for the active set that ``x`` and ``y`` suggest; None if singular."""
    value = np.clip(A @ x, lower, upper)
    low, up = value - lower < y, upper - value < -y
    low |= lower == upper  # an equality is active even without a multiplier
    active = np.flatnonzero(low | up)
    B, b = A[active], np.where(low, lower, upper)[active]
    n, k = len(q), len(active)
    system = sp.csc_array(sp.block_array([[P, B.T], [B, None]])) if k else sp.csc_array(P)
    damping = np.concatenate([np.full(n, REGULARISATION), np.full(k, -REGULARISATION)])
    right = np.concatenate([-q, b])
    try:
        factor = splu(
            sp.csc_array(system + sp.diags_array(damping)),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:  # exactly singular
        return None
    both = factor.solve(right)
    for _ in range(REFINEMENTS):
        both += factor.solve(right - system @ both)
    if not np.all(np.isfinite(both)):
        return None
    multipliers = np.zeros(len(lower))
    multipliers[active] = -both[n:]
    multipliers = one_sided(multipliers, lower, upper)
    return Polished(both[:n], multipliers, residual(P, q, A, lower, upper, both[:n], multipliers))


def residual(
    P: Any, q: Floats, A: Any, lower: Floats, upper: Floats, x: Floats, y: Floats
) -> float:
    """Return how far (x, y) is from optimal, recomputed: see :class:`Polished`."""
    Ax, Px = A @ x, P @ x
    violation = max(np.max(lower - Ax, initial=0.0), np.max(Ax - upper, initial=0.0))
    slope = np.max(np.abs(Px + q - A.T @ y), initial=0.0)
    side = np.where(y > 0, lower, upper)
    gap = x @ Px + q @ x - y[y != 0] @ side[y != 0]
    return float(max(violation, slope, abs(gap) / (1 + abs(0.5 * x @ Px + q @ x))))
