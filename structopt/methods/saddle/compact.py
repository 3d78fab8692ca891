"""The compact QP as a method: one programme, one solve, one round."""

from __future__ import annotations

import time
from typing import Any, Unpack

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from structopt.engines.dataset import DataSet
from structopt.errors import BackendError
from structopt.formulations.base import Formulation
from structopt.methods.rescue import verify
from structopt.methods.saddle.dualise import dualise
from structopt.methods.saddle.method import SaddleMethod
from structopt.methods.saddle.outputs import Outputs
from structopt.run.events import Round
from structopt.run.limits import LimitOptions
from structopt.structures.base.structure import Structure


class Compact(SaddleMethod):
    r"""Inference dualised into the learning problem, and all of it solved by CVXPY.

    .. math::
        \min_{w\in W,\,u} \tfrac{1}{2C}|w|^2 + \sum_i \big[b_i\cdot u_i + d_i - w\cdot f_i(y_i)\big]
        \quad\text{s.t.}\quad A_i^\top u_i \ge F_i^\top w + \ell_i

    For small data and for lessons: nothing is iterated, and a third opinion beside cutting planes
    and the extragradient method. P is recomputed by an exact oracle pass, and D at the multipliers
    of the constraint, projected on the polytope; the solver is not trusted.

    Parameters
    ----------
    structure, formulation, data, **limits
        See :class:`~structopt.Method`. There is one round, which nothing interrupts.
    solver : str
        Any QP solver that CVXPY knows.

    Examples
    --------
    >>> import structopt as so
    >>> X, y = so.datasets.make_classes(60, seed=0)
    >>> model = so.StructuredClassifier(so.Multiclass(), so.M3N(), method="compact").fit(X, y)
    >>> model.result_.certificate.certified
    True
    """

    name = "compact"

    def __init__(
        self,
        structure: Structure,
        formulation: Formulation,
        data: DataSet,
        *,
        solver: str = "CLARABEL",
        **limits: Unpack[LimitOptions],
    ) -> None:
        super().__init__(structure, formulation, data, **limits)
        self.solver = solver
        self._outputs = Outputs(data, self._form.cost)
        self._integral = self._outputs.integral

    def step(self) -> Round:
        """Solve the programme and return its record."""
        start, form = time.perf_counter(), self._form
        w, static = self._weights_and_constraints()
        starts = self.data.starts
        pieces = [
            dualise(relaxation, form.cost[first:stop], w)
            for relaxation, first, stop in zip(
                self._outputs.relaxations, starts[:-1], starts[1:], strict=True
            )
        ]
        objective = cp.sum_squares(cp.multiply(np.sqrt(form.curvature / 2.0), w))
        value = objective + sum(piece.value for piece in pieces)
        constraints = [c for piece in pieces for c in piece.constraints] + static
        problem = cp.Problem(cp.Minimize(value), constraints)
        declared = time.perf_counter()
        self._solve(problem)
        weights = form.nearest(np.asarray(w.value, dtype=np.float64))
        z = np.concatenate([np.asarray(piece.constraints[0].dual_value) for piece in pieces])
        solved = time.perf_counter()
        reached = self._judge(weights).value
        asked = time.perf_counter()
        error = 1e-7 * float(np.sqrt(len(z)))
        point = self._outputs.project(z, error, None).z
        self._raise(self._outputs.pull(point), self._outputs.loss(point))
        return self._record(
            value=reached,
            violation=float(np.linalg.norm(point - z)),
            nonzeros=int(np.count_nonzero(weights)),
            iterations=int(problem.solver_stats.num_iters or 0),
            oracle_seconds=asked - solved,
            lift_seconds=declared - start + time.perf_counter() - asked,
            solve_seconds=solved - declared,
        )

    def _weights_and_constraints(self) -> tuple[Any, list[Any]]:
        """Declare w with the formulation's own constraints, as they were compiled."""
        p = self._form.program
        w = cp.Variable(self.data.n_features)
        inside = np.ones(p.size, dtype=bool)
        inside[p.slacks] = inside[p.weights] = False
        others = np.flatnonzero(inside)
        x, lb, ub, A = w, p.lb[p.weights], p.ub[p.weights], p.A[:, p.weights]
        if len(others):
            x = cp.hstack([w, cp.Variable(len(others))])
            lb, ub = np.append(lb, p.lb[others]), np.append(ub, p.ub[others])
            A = sp.hstack([A, p.A[:, others]], format="csr")
        constraints = []
        for rows, low, high in ((A, p.lower, p.upper), (sp.eye_array(len(lb)).tocsr(), lb, ub)):
            floor, ceiling = np.flatnonzero(np.isfinite(low)), np.flatnonzero(np.isfinite(high))
            if len(floor):
                constraints.append(rows[floor] @ x >= low[floor])
            if len(ceiling):
                constraints.append(rows[ceiling] @ x <= high[ceiling])
        return w, constraints

    def _solve(self, problem: Any) -> None:
        try:
            problem.solve(solver=self.solver)
        except cp.error.SolverError as error:
            raise BackendError(f"{self.solver} failed on the compact QP: {error}") from error
        if problem.status in ("infeasible", "infeasible_inaccurate"):
            verify(self.master, "infeasible")
        if problem.status not in ("optimal", "optimal_inaccurate"):
            raise BackendError(f"{self.solver} ended with {problem.status!r} on the compact QP.")

    def _stalled(self) -> bool:
        return True  # one round is all there is

    def _solved_by(self) -> dict[str, Any]:
        return {"backend": self.solver.lower()}
