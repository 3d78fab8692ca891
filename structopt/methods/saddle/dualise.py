r"""The saddle-point problem as one quadratic programme: inference dualised into it.

With ``Z = {z >= 0 : A z <= b}``, linear programming duality turns the inner maximum into a minimum,

    max_{z in Z} (F'w + l) . z  =  min { b . u :  A'u >= F'w + l,  u >= 0 }

(u is free on equalities), so all of it is one QP in w and u of polynomial size (Taskar, Guestrin
and Koller 2003, section 4).
F is written out, which only small data allow: this is for lessons and as a second opinion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.errors import IncompatibleError
from structopt.structures.base.relaxation import Relaxation

MAX_ENTRIES = 20_000_000
"""Parts times features up to which F is written out: 160 MB while it is being read off."""


@dataclass(frozen=True)
class Inference:
    """The inner maximum of some examples, dualised.

    Attributes
    ----------
    value : CVXPY expression
        ``sum_i c_i [b_i . u_i + d_i - w . f_i(y_i)]``, to be minimised.
    constraints : list
        The first is ``A'u >= F'w + l``; its multipliers are z.
    """

    value: Any
    constraints: list[Any]


def feature_matrix(relaxation: Relaxation, n_features: int) -> Any:
    """Return F' (a row for each part), read off ``scores`` one weight at a time."""
    entries = len(relaxation.gold) * n_features
    if entries > MAX_ENTRIES:
        raise IncompatibleError(
            f"The compact QP writes out {len(relaxation.gold)} parts x {n_features} features, more "
            f"than {MAX_ENTRIES:.0e}: use the method 'extragradient' or 'cutting-plane'."
        )
    columns = [sp.csc_array(relaxation.scores(unit)[:, None]) for unit in np.eye(n_features)]
    return sp.csr_array(sp.hstack(columns))


def dualise(relaxation: Relaxation, cost: Floats, weights: Any) -> Inference:
    """Declare the inner maximum of a shard as a minimum over dual variables.

    Parameters
    ----------
    relaxation : Relaxation
    cost : array
        c_i of each example.
    weights : CVXPY variable
        w.
    """
    polytope = relaxation.polytope()
    F = feature_matrix(relaxation, weights.size)
    rate = cost[relaxation.owner]
    u = cp.Variable(len(polytope.b))
    signs = [u[np.flatnonzero(~polytope.equality)] >= 0] if not np.all(polytope.equality) else []
    scaled = sp.diags_array(rate) @ F
    inner = sp.csr_array(polytope.A).T @ u >= scaled @ weights + rate * relaxation.loss
    constant = float(cost @ relaxation.loss_constant)
    at_gold = np.asarray(scaled.T @ relaxation.gold)
    return Inference(polytope.b @ u + constant - at_gold @ weights, [inner, *signs])
