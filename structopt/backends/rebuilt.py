r"""Base of the backends that set their model up again for every solve.

    min  1/2 z'P z + q.z + l1.|z|    s.t.  lower <= A z <= upper,    lb <= z <= ub

over the solver columns z of :class:`~structopt.backends.columns.Columns`, the static rows first and
the cuts after them; l1 is 0 unless the backend takes the term as it is. The rows are lifted once,
when they arrive; a subclass writes one method.
"""

from __future__ import annotations

import logging
import time
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from structopt.arrays import Floats
from structopt.backends.base import Backend, Compiled, MasterSolution, Status
from structopt.backends.columns import Columns
from structopt.master.cuts import Cuts
from structopt.master.program import Program, one_sided

logger = logging.getLogger(__name__)


Start = tuple[Floats, Floats]
"""A point and multipliers of the rows to start from."""


@dataclass(frozen=True)
class Outcome:
    """What the solver said; ``duals`` as in `MasterSolution`, of the rows and then of the cones."""

    status: Status
    point: Floats
    duals: Floats
    iterations: int
    message: str


class RebuiltBackend(Backend):
    """Accumulates lifted rows and multipliers; `_optimise` hands them to the solver."""

    takes_quadratic = True
    splits: ClassVar[bool] = True
    """Whether columns with an l1 term are split in two, or the solver takes the term as it is."""

    @abstractmethod
    def _optimise(
        self, problem: Program, start: Start, tolerance: float, time_limit: float | None
    ) -> Outcome:
        """Solve ``problem``, which has at least one column."""

    def start(self, master: Compiled) -> None:
        """Take the static rows."""
        program = master.program
        self._columns = Columns(program, split=self.splits)
        self._blocks = [self._columns.lift(program.A)]
        self._lower, self._upper = program.lower, program.upper
        self._point = np.zeros(self._columns.size)
        self._duals = np.zeros(len(program.lower))

    def append(self, rows: Cuts) -> None:
        """Add cut rows; their multipliers start at 0, and so do the columns that they wake."""
        matrix = rows.matrix(self._columns.program)
        new = self._columns.wake(matrix)
        self._blocks.append(self._columns.lift(matrix))
        self._lower = np.concatenate([self._lower, rows.lower])
        self._upper = np.concatenate([self._upper, rows.upper])
        self._point = np.concatenate([self._point, np.zeros(new.stop - new.start)])
        self._duals = np.concatenate([self._duals, np.zeros(len(rows))])

    def delete(self, keep: NDArray[np.bool_]) -> None:
        """Keep only the cut rows where ``keep`` is true; columns stay awake."""
        keep = np.concatenate([np.ones(len(self._columns.program.lower), dtype=bool), keep])
        self._blocks = [self._matrix()[keep]]
        self._lower, self._upper = self._lower[keep], self._upper[keep]
        self._duals = self._duals[keep]

    def warm(self, cut_duals: Floats, weights: Floats | None = None) -> None:
        """Start the next solve from given multipliers of all cuts."""
        self._duals = np.concatenate([self._duals[: len(self._columns.program.lower)], cut_duals])

    def solve(self, *, tolerance: float, time_limit: float | None = None) -> MasterSolution:
        """Set the solver up with every row and solve."""
        columns = self._columns
        if not columns.size:
            return columns.without_columns(self._lower, self._upper)
        problem = self.problem()
        began = time.monotonic()
        outcome = self._attempt(problem, tolerance, time_limit)
        if outcome.status == "unbounded":
            # A ray of descent proves nothing where no point is feasible: asked without costs.
            left = None if time_limit is None else max(0.0, time_limit + began - time.monotonic())
            bare = replace(problem, P=sp.csc_array(problem.P.shape), q=np.zeros(columns.size))
            if self._attempt(bare, tolerance, left).status == "infeasible":
                outcome = replace(outcome, status="infeasible")
        return self._solution(outcome)

    def problem(self) -> Program:
        """Return the master as it stands, as the solver is given it."""
        columns = self._columns
        return Program(
            P=columns.quadratic(),
            q=columns.cost,
            l1=columns.l1,
            A=self._matrix(),
            lower=self._lower,
            upper=self._upper,
            lb=columns.lower,
            ub=columns.upper,
            slacks=columns.places(columns.program.slacks),
            cones=columns.cones(),
        )

    def _matrix(self) -> Any:
        """Join the blocks, which were lifted when there were fewer columns, to one CSR matrix."""
        if len(self._blocks) > 1 or self._blocks[0].shape[1] != self._columns.size:
            starts = np.concatenate([[0], np.cumsum([b.nnz for b in self._blocks])])
            ends = [b.indptr[1:] + s for b, s in zip(self._blocks, starts[:-1], strict=True)]
            joined = sp.csr_array(
                (
                    np.concatenate([b.data for b in self._blocks]),
                    np.concatenate([b.indices for b in self._blocks]),
                    np.concatenate([[0], *ends]),
                ),
                shape=(len(self._lower), self._columns.size),
            )
            self._blocks = [joined]
        return self._blocks[0]

    def _attempt(self, problem: Program, tolerance: float, time_limit: float | None) -> Outcome:
        nothing = np.zeros(problem.size), np.zeros(len(problem.lower) + len(problem.cones))
        crossed = np.any(problem.lower > problem.upper) or np.any(problem.lb > problem.ub)
        if crossed:  # OSQP takes this for a user's mistake and raises
            return Outcome("infeasible", *nothing, 0, "A lower bound exceeds its upper bound.")
        try:
            start = self._point, self._duals
            outcome = self._optimise(problem, start, tolerance, time_limit)
        except (KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except BaseException as error:  # Clarabel's panics (pyo3) are no subclass of Exception
            logger.warning("The %r backend failed.", self.name, exc_info=True)
            return Outcome("failed", *nothing, 0, f"{type(error).__name__}: {error}")
        if outcome.status in ("optimal", "inaccurate"):
            if np.all(np.isfinite(outcome.point)) and np.all(np.isfinite(outcome.duals)):
                return outcome
            outcome = replace(outcome, status="failed")
        return replace(outcome, point=nothing[0], duals=nothing[1])

    def _solution(self, outcome: Outcome) -> MasterSolution:
        n_static, n_rows = len(self._columns.program.lower), len(self._lower)
        duals = one_sided(outcome.duals[:n_rows], self._lower, self._upper)
        if outcome.status in ("optimal", "inaccurate"):
            self._point, self._duals = outcome.point, duals
        return MasterSolution(
            status=outcome.status,
            x=self._columns.restore(outcome.point),
            cut_duals=duals[n_static:],
            static_duals=np.concatenate([duals[:n_static], outcome.duals[n_rows:]]),
            iterations=outcome.iterations,
            message=outcome.message,
        )
