r"""The saddle-point form of margin-rescaled learning, over outputs as polytopes.

    min over w in W, max over z in Z of
    L(w, z) = sum_j 1/2 p_j w_j^2 + sum_i c_i [ (F_i'w + l_i) . z_i + d_i - w . f_i(y_i) ],

    P(w) = max_z L(w, z),    D(z) = min_w L(w, z) = sum_i c_i (l_i . z_i + d_i) + min_{w in W}
                                     [ sum_j 1/2 p_j w_j^2 + g . w ],
    g = sum_i c_i (F_i z_i - f_i(y_i)).

P comes from an exact oracle pass, D(z) from any z in Z: where Z is larger than the outputs' hull
(a relaxation that is not integral), D bounds the minimum of a larger P, and nothing is certified.

The form is recognised in the compiled programme, whoever declared it. W is what the formulation's
static constraints say: everything, bounds, or rows (then projections ask a QP solver).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.backends.clarabel import Clarabel
from structopt.engines.dataset import DataSet
from structopt.errors import BackendError, IncompatibleError
from structopt.master.ball import l1_radius
from structopt.master.declare import RestrictedMaster
from structopt.master.form import hinge_program
from structopt.master.lagrangian import Lagrangian, Priced
from structopt.master.program import Program
from structopt.master.value import ValueAt, value_at
from structopt.methods.nearest_feasible import nearest_feasible
from structopt.methods.rescue import verify
from structopt.methods.subgradient.l1_ball import project_l1_ball
from structopt.structures.base.oracles import loss_augmented


class SaddleForm:
    """A recognised saddle-point problem: the side of the weights, and exact values of P.

    Attributes
    ----------
    cost : array
        c_i, sample weights included.
    curvature : array
        p_j.
    """

    def __init__(self, master: RestrictedMaster, data: DataSet, method: str) -> None:
        self.data, self._master = data, master
        self.program = _recognise(master, method)
        p, group = self.program, master.families[0].group
        rate = p.q[p.slacks] if group is None else p.q[p.slacks][group]
        self.cost: Floats = rate * data.sample_weight
        self.curvature: Floats = np.asarray(p.P.diagonal())[p.weights]
        self._lagrangian = Lagrangian(p)
        self._slack_pull = np.zeros(p.size)
        self._slack_pull[p.slacks] = p.q[p.slacks]

    @property
    def regularised(self) -> bool:
        """Whether every weight has a quadratic term."""
        return bool(np.all(self.curvature > 0))

    @property
    def held(self) -> bool:
        """Whether a quadratic term or a constraint holds weights; D is no better than 0 else."""
        p = self.program
        bounded = np.isfinite(np.r_[p.lb[p.weights], p.ub[p.weights]])
        return self.regularised or self._polyhedral or bool(np.any(bounded))

    @cached_property
    def _polyhedral(self) -> bool:
        return bool(self.program.A.shape[0])

    @cached_property
    def _l1_radius(self) -> float | None:
        return l1_radius(self.program)

    # ------------------------------------------------------------------ the side of the weights
    def nearest(self, weights: Floats, metric: Floats | float = 1.0) -> Floats:
        """Return the point of W nearest to weights, distances measured as sum_j m_j (w - v)_j^2."""
        p = self.program
        inside = np.clip(weights, p.lb[p.weights], p.ub[p.weights])
        if not self._polyhedral:
            return inside
        if np.ndim(metric) == 0 and self._l1_radius is not None:
            return project_l1_ball(np.maximum(weights, p.lb[p.weights]), self._l1_radius).point
        scale = np.broadcast_to(np.asarray(metric, dtype=np.float64), weights.shape)
        unit = scale / scale.max()
        return self._minimise(unit, -unit * weights)[0]

    def dual(self, gradient: Floats, loss: float) -> float:
        """Return D(z), given g and sum_i c_i (l_i . z_i + d_i) at some z in Z.

        The minimum over W is itself bounded from below, by multipliers that are not trusted.
        """
        p = self.program
        none, x, pull = np.zeros(p.A.shape[0]), np.zeros(p.size), self._slack_pull.copy()
        pull[p.weights] = -gradient
        bound = self._lagrangian.value(Priced(pull, loss, none), x)
        if self._polyhedral and self.regularised:
            x[p.weights], static = self._minimise(self.curvature, gradient)
            # where no row binds, the rounding of the solver's multipliers is all they say
            bound = max(bound, self._lagrangian.value(Priced(pull, loss, static), x))
        return bound

    def _minimise(self, curvature: Floats, linear: Floats) -> tuple[Floats, Floats]:
        """Minimise a separable quadratic over W; return weights and multipliers of the rows."""
        p = self.program
        diagonal, q = np.zeros(p.size), np.zeros(p.size)
        size = max(1.0, float(np.abs(linear).max(initial=0.0)))  # far aims look like rays else
        diagonal[p.weights], q[p.weights] = curvature / size, linear / size
        solver = Clarabel()
        quadratic = replace(p, P=sp.diags_array(diagonal, format="csc"), q=q, offset=0.0)
        solver.start(SimpleNamespace(program=quadratic))
        found = solver.solve(tolerance=1e-8)
        if found.status == "infeasible":
            verify(self._master, found.status)
        if found.status not in ("optimal", "inaccurate") or found.static_duals is None:
            raise BackendError(f"Projecting the weights on their constraints: {found.message}")
        return found.x[p.weights], size * found.static_duals

    # ------------------------------------------------------------------ exact values
    def primal(self, weights: Floats) -> ValueAt:
        """Return P(w) from one pass."""
        paid = float(0.5 * self.curvature @ (weights * weights))
        return value_at(loss_augmented, self.cost, self.data.ask(loss_augmented, weights), paid)

    def inside(self, weights: Floats) -> tuple[Floats, float]:
        """Return weights moved into W, and by how much they still miss it, as a share of numbers.

        Those of iterations are as near as their solver is accurate, which is far on a small set.
        """
        p = self.program
        x = np.zeros(p.size)
        x[p.weights] = weights
        x = nearest_feasible(self._master, x)
        return x[p.weights], self._master.residual(x, alone=True)


def _recognise(master: RestrictedMaster, method: str) -> Program:
    """Return the compiled programme if it is a saddle-point form, or refuse in one sentence."""
    learns = "1/2 w'Pw with a diagonal P plus one margin-rescaled hinge an example"
    program = hinge_program(master, method, learns, static=True, joint=True)
    oracle = master.families[0].oracle
    if np.any(program.l1) or oracle is not loss_augmented:
        odd = "has an l1 term" if np.any(program.l1) else f"asks {oracle.name}, not loss_augmented"
        raise IncompatibleError(f"The method {method!r} learns {learns}: this one {odd}.")
    return program
