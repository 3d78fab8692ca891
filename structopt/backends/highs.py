r"""HiGHS: linear masters on a live model.

New cuts are appended as rows, the columns they wake as columns, and the dual simplex goes on from
the last basis: an appended row leaves the basis dual feasible, so only the new violations are left
to repair (2.5 times less work than a cold solve; IPM and PDLP cannot use the old basis).

>>> import numpy as np, scipy.sparse as sp
>>> from types import SimpleNamespace
>>> from structopt.master.program import Program
>>> p = Program(P=sp.csc_array((2, 2)), q=np.array([1.0, 1.0]), l1=np.zeros(2), offset=0.0,
...             A=sp.csr_array(np.array([[1.0, 2.0]])), lower=np.array([4.0]),
...             upper=np.array([np.inf]), lb=np.zeros(2), ub=np.full(2, np.inf),
...             weights=slice(0, 2), slacks=np.zeros(0, int))
>>> backend = HiGHS()
>>> backend.start(SimpleNamespace(program=p))
>>> solution = backend.solve(tolerance=1e-6)
>>> solution.status, solution.x, solution.static_duals
('optimal', array([0., 2.]), array([0.5]))
"""

from __future__ import annotations

import logging
import time
from typing import Any

import highspy
import numpy as np
from highspy import HighsModelStatus, HighsStatus
from numpy.typing import NDArray

from structopt.arrays import Floats
from structopt.backends.base import Backend, Compiled, MasterSolution, Status
from structopt.backends.columns import Columns
from structopt.errors import InvalidInputError
from structopt.master.cuts import Cuts
from structopt.master.program import one_sided

logger = logging.getLogger(__name__)

_Highs: Any = highspy.Highs  # its constructor is untyped

_STATUS: dict[Any, Status] = {
    HighsModelStatus.kOptimal: "optimal",
    HighsModelStatus.kInfeasible: "infeasible",
    HighsModelStatus.kUnbounded: "unbounded",
    HighsModelStatus.kUnboundedOrInfeasible: "unbounded",
    HighsModelStatus.kTimeLimit: "inaccurate",
    HighsModelStatus.kIterationLimit: "inaccurate",
}
_COUNTERS = (
    "simplex_iteration_count",
    "ipm_iteration_count",
    "crossover_iteration_count",
    "pdlp_iteration_count",
)


class HiGHS(Backend):
    """Linear masters by HiGHS, rows appended live.

    Parameters
    ----------
    threads : int
        More than one asks for HiGHS' parallel simplex, which was slower on every master measured.
    solver : {"simplex", "ipm", "pdlp"}
        "ipm" and "pdlp" start every solve from nothing; "pdlp" is a first-order method.
    """

    name = "highs"
    keeps_time = True

    def __init__(self, threads: int = 1, solver: str = "simplex") -> None:
        self.threads = threads
        self.solver = solver

    def settings(self, tolerance: float) -> dict[str, object]:
        """Return HiGHS' feasibility tolerances, and what its other solvers aim at."""
        tight = float(np.clip(1e-2 * tolerance, 1e-9, 1e-7))
        told = dict.fromkeys(("primal_feasibility_tolerance", "dual_feasibility_tolerance"), tight)
        # a first-order method pays for every digit
        aims = {"ipm": tight, "pdlp": max(tight, 1e-3 * tolerance)}
        return {**told, **{f"{k}_optimality_tolerance": v for k, v in aims.items()}}

    def start(self, master: Compiled) -> None:
        """Set up the static rows over the columns that are awake."""
        if self.solver not in ("simplex", "ipm", "pdlp"):
            raise InvalidInputError(
                f"HiGHS has the solvers 'simplex', 'ipm' and 'pdlp', not {self.solver!r}."
            )
        program = master.program
        self._columns = Columns(program)
        self._lower = self._upper = np.zeros(0)
        self._refused, self._repriced = "", False
        self._model = self._fresh()
        self._add_columns(slice(0, self._columns.size))
        self._add_rows(program.A, program.lower, program.upper)

    def resume(self, master: Compiled) -> bool:
        """Change the costs and go on from the last basis, which is still primal feasible."""
        if self._refused or self.solver != "simplex" or not self._columns.reprice(master.program):
            return False
        count = self._columns.size
        if count:
            order = np.arange(count, dtype=np.int32)
            self._check(self._model.changeColsCost(count, order, self._columns.cost), "costs")
        self._repriced = True
        return True

    def append(self, rows: Cuts) -> None:
        """Add cut rows, and the columns that they are the first to touch."""
        matrix = rows.matrix(self._columns.program)
        self._add_columns(self._columns.wake(matrix))
        self._add_rows(matrix, rows.lower, rows.upper)

    def delete(self, keep: NDArray[np.bool_]) -> None:
        """Keep only the cut rows where ``keep`` is true; columns stay awake."""
        n_static = len(self._columns.program.lower)
        gone = n_static + np.flatnonzero(~keep)
        if len(gone):
            self._check(self._model.deleteRows(len(gone), gone.astype(np.int32)), "deleteRows")
            self._lower = np.delete(self._lower, gone)
            self._upper = np.delete(self._upper, gone)

    def solve(self, *, tolerance: float, time_limit: float | None = None) -> MasterSolution:
        r"""Solve from the last basis.

        Notes
        -----
        The simplex method ends at a vertex, exact up to its feasibility tolerances, so
        ``tolerance`` only tightens those, from HiGHS' default 1e-7 down to 1e-9: looser ones would
        save nothing and leave cuts violated that the oracle then finds again.
        """
        columns = self._columns
        if not columns.size and not self._refused:
            return columns.without_columns(self._lower, self._upper)
        deadline = np.inf if time_limit is None else time.monotonic() + time_limit
        found = self._run(self._model, tolerance, deadline)
        if found not in _STATUS and not self._refused:
            # Another HiGHS instance in the process may have changed the scheduler's threads, or
            # the basis be numerically worn: once more from nothing, with the same rows.
            logger.warning("HiGHS ended with %s; solving again from a fresh instance.", found)
            model = self._fresh()
            model.passModel(self._model.getLp())
            self._model = model
            found = self._run(model, tolerance, deadline)
        status = _STATUS.get(found, "inaccurate")
        if status == "unbounded" and not self._feasible(tolerance, deadline):
            status = "infeasible"
        if status == "inaccurate" and not self._model.getSolution().value_valid:
            status = "failed"
        message = self._refused or f"HiGHS: {self._model.modelStatusToString(found)}."
        return self._solution("failed" if self._refused else status, message)

    def _fresh(self) -> Any:
        # HiGHS (1.15) keeps one scheduler per thread of the process, and every run whose `threads`
        # differs from it fails; an instance that ran before us decides unless it is reset.
        _Highs.resetGlobalScheduler(True)
        model = _Highs()
        model.setOptionValue("output_flag", False)
        model.setOptionValue("threads", self.threads)
        model.setOptionValue("parallel", "on" if self.threads > 1 else "off")
        model.setOptionValue("solver", self.solver)
        return model

    def _add_columns(self, new: slice) -> None:
        columns, count = self._columns, new.stop - new.start
        if count:
            empty = np.zeros(0)
            outcome = self._model.addCols(
                count, columns.cost[new], columns.lower[new], columns.upper[new],
                0, np.zeros(count, np.int32), empty.astype(np.int32), empty,
            )  # fmt: skip
            self._check(outcome, "addCols")

    def _add_rows(self, matrix: Any, lower: Floats, upper: Floats) -> None:
        if not len(lower):
            return
        lifted = self._columns.lift(matrix)
        outcome = self._model.addRows(
            len(lower), lower, upper, lifted.nnz, lifted.indptr[:-1].astype(np.int32),
            lifted.indices.astype(np.int32), lifted.data,
        )  # fmt: skip
        self._check(outcome, "addRows")
        if not np.all(np.isfinite(lifted.data)):  # HiGHS (1.15) drops a NaN without a word
            self._refused = "A cut has a coefficient that is not finite."
        self._lower = np.concatenate([self._lower, lower])
        self._upper = np.concatenate([self._upper, upper])

    def _check(self, outcome: Any, call: str) -> None:
        if outcome == HighsStatus.kError:  # a warning is a dropped tiny coefficient
            self._refused = f"HiGHS refused {call}: NaN, or a number beyond 1e15."

    def _run(self, model: Any, tolerance: float, deadline: float) -> Any:
        """Run and return the model status; kNotset stands for a run that was refused."""
        if self._refused:
            return HighsModelStatus.kNotset
        for option, value in self.settings(tolerance).items():
            model.setOptionValue(option, value)
        # The limit counts from the birth of the instance, not from this call (HiGHS 1.15).
        left = max(0.0, deadline - time.monotonic())
        model.setOptionValue("time_limit", model.getRunTime() + left)
        # The primal simplex goes on from a basis that new costs have left primal feasible.
        model.setOptionValue("simplex_strategy", 4 if self._repriced else 1)
        self._repriced = False
        # A run that is refused leaves the model status of the run before it (HiGHS 1.15).
        refused = model.run() == HighsStatus.kError
        return HighsModelStatus.kNotset if refused else model.getModelStatus()

    def _feasible(self, tolerance: float, deadline: float) -> bool:
        """Tell an unbounded master from an infeasible one: without costs it has a solution."""
        lp = self._model.getLp()
        lp.col_cost_ = np.zeros(lp.num_col_)
        model = self._fresh()
        model.passModel(lp)
        return bool(self._run(model, tolerance, deadline) != HighsModelStatus.kInfeasible)

    def _solution(self, status: Status, message: str) -> MasterSolution:
        program, model = self._columns.program, self._model
        n_static = len(program.lower)
        x, duals = np.zeros(program.size), np.zeros(len(self._lower))
        if status in ("optimal", "inaccurate"):
            found = model.getSolution()
            x = self._columns.restore(np.array(found.col_value))
            if found.dual_valid:
                duals = one_sided(np.array(found.row_dual), self._lower, self._upper)
        elif status == "infeasible":
            outcome, there, ray = model.getDualRay()
            if outcome != HighsStatus.kError and there:
                duals = one_sided(np.array(ray), self._lower, self._upper)
        elif status == "unbounded":
            outcome, there, ray = model.getPrimalRay()
            if outcome != HighsStatus.kError and there:
                x = self._columns.spread(np.array(ray))
        info = model.getInfo()
        return MasterSolution(
            status=status,
            x=x,
            cut_duals=duals[n_static:],
            static_duals=duals[:n_static],
            iterations=sum(max(0, getattr(info, counter)) for counter in _COUNTERS),
            message=message,
        )
