r"""What is compared on: programmes, sequences of masters, and whole training runs.

* :class:`Single`: one programme, solved from nothing.
* :class:`Masters`: the growing masters of a cutting-plane run, recorded once. A backend keeps its
  model and gets the new rows; a bare solver starts each master from nothing. The time is that of
  the whole sequence, and every master is checked.
* :class:`Training`: a formulation on a data set, trained by cutting planes until the gap is
  certified; only backends can do that.

Each knows how a solver attempts it, in the process where that happens.
"""

from __future__ import annotations

import hashlib
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.backends import registry
from structopt.errors import IncompatibleError
from structopt.lab.compare.answers import Answer
from structopt.lab.compare.cases import Data
from structopt.lab.compare.check import Verdict, judged
from structopt.lab.compare.programmes import digest
from structopt.lab.compare.solvers import OfBackend, Solver, answer
from structopt.lab.harness.measure import PATIENCE, CpuLimit
from structopt.master.cuts import Cuts
from structopt.master.program import Program
from structopt.methods.cutting_plane import CuttingPlane
from structopt.report.series import TimeSplit

Numbers = dict[str, Any]


class Problem(ABC):
    """A named problem of a set."""

    name: str
    group: str

    @abstractmethod
    def facts(self) -> Numbers:
        """Return what it is: kind, sizes, and a digest of its numbers."""

    @abstractmethod
    def refusal(self, solver: Solver) -> str:
        """Return why a solver does not take it, "" if it does."""

    @abstractmethod
    def attempt(self, solver: Solver, tolerance: float, limit: float) -> Numbers:
        """Solve it once and return status, times, residuals."""


@dataclass(frozen=True)
class Single(Problem):
    """One programme."""

    name: str
    group: str
    program: Program

    def facts(self) -> Numbers:
        """Return its kind, sizes and digest."""
        kind = "LP" if self.program.is_linear else "QP"
        return {"kind": kind, **_sizes(self.program), "digest": digest(self.program)}

    def refusal(self, solver: Solver) -> str:
        """Ask the solver."""
        return solver.refusal(self.program)

    def attempt(self, solver: Solver, tolerance: float, limit: float) -> Numbers:
        """Solve once, from nothing."""
        warm_up(solver)
        found, cpu = _timed(solver, self.program, tolerance, limit)
        verdict = judged(self.program, found, tolerance)
        return _numbers(found, verdict, cpu, limit)


@dataclass(frozen=True)
class Masters(Problem):
    """The masters of a run: a static part, and the cuts that came before each."""

    name: str
    group: str
    static: Program
    batches: Sequence[Sequence[Cuts]]

    def facts(self) -> Numbers:
        """Return the sizes of the last master, and a digest of it."""
        last = self.programs()[-1]
        kind = "LP sequence" if last.is_linear else "QP sequence"
        return {"kind": kind, **_sizes(last), "masters": len(self.batches), "digest": digest(last)}

    def programs(self) -> list[Program]:
        """Return every master as a programme of its own."""
        p, found = self.static, []
        for batch in self.batches:
            rows = [p.A, *(cuts.matrix(self.static) for cuts in batch)]
            lower = np.concatenate([p.lower, *(cuts.lower for cuts in batch)])
            upper = np.concatenate([p.upper, *(cuts.upper for cuts in batch)])
            p = replace(p, A=sp.csr_array(sp.vstack(rows)), lower=lower, upper=upper)
            found.append(p)
        return found

    def refusal(self, solver: Solver) -> str:
        """Ask the solver."""
        return solver.refusal(self.static)

    def attempt(self, solver: Solver, tolerance: float, limit: float) -> Numbers:
        """Solve the sequence; the worst master counts."""
        warm_up(solver)
        programs, total, worst = self.programs(), 0.0, None
        live = registry.make(solver.own) if isinstance(solver, OfBackend) else None
        if live is not None:
            live.start(_Bare(self.static))
        iterations = 0
        for program, batch in zip(programs, self.batches, strict=True):
            left = max(limit - total, 1e-3)
            if live is None:
                found, cpu = _timed(solver, program, tolerance, left)
            else:
                began = time.process_time()
                for cuts in batch:
                    live.append(cuts)
                solved = live.solve(tolerance=tolerance, time_limit=left)
                cpu = time.process_time() - began
                static = np.zeros(0) if solved.static_duals is None else solved.static_duals
                found = answer(solved, np.concatenate([static, solved.cut_duals]))
            total, iterations = total + cpu, iterations + found.iterations
            verdict = judged(program, found, tolerance)
            if worst is None or verdict.error > worst[1].error or not verdict.verified:
                worst = found, verdict
            if total > limit or not verdict.verified:
                break
        assert worst is not None, "a sequence has a master"
        last = {"objective": verdict.objective, "lower_bound": verdict.bound}
        return _numbers(*worst, total, limit) | last | {
            "iterations": iterations, "products": None,
        }  # fmt: skip


@dataclass(frozen=True)
class _Bare:
    program: Program


@dataclass(frozen=True)
class Training(Problem):
    """A formulation on a data set."""

    name: str
    group: str
    formulation: Any
    given: Data

    def facts(self) -> Numbers:
        """Return the size of the data, and a digest of data and parameters."""
        content = f"{self.formulation!r} {self.given.structure!r} {self.given.encoded.fingerprint}"
        return {
            "kind": "training",
            "rows": len(self.given.Y),
            "columns": self.given.fitted.n_features_,
            "digest": hashlib.sha256(content.encode()).hexdigest()[:16],
        }

    def refusal(self, solver: Solver) -> str:
        """Ask the backend; a bare solver cannot train."""
        if not isinstance(solver, OfBackend):
            return "Only a backend can train."
        try:
            self._run(solver, 1e-1)
        except IncompatibleError as error:
            return str(error).partition(" Backends that take it")[0]
        return ""

    def attempt(self, solver: Solver, tolerance: float, limit: float) -> Numbers:
        """Train once."""
        self._run(solver, tolerance, max_iter=2, time_limit=limit).solve()  # loops are compiled
        began = time.process_time()
        options = {"time_limit": PATIENCE * limit, "callbacks": [CpuLimit(limit)]}
        result = self._run(solver, tolerance, **options).solve()
        cpu = time.process_time() - began
        c, split = result.certificate, TimeSplit.of(result)
        status = "solved" if c.certified else "not converged"
        if cpu > limit or result.status in ("callback", "time_limit"):
            status = "out of time"
        parts = {f"{what}_cpu": cpu * s / max(split.total, 1e-12) for what, s in split.items()}
        return {
            "status": status, "claim": result.status, "cpu": cpu, "error": c.relative_gap,
            "gap": c.relative_gap, "objective": c.primal, "lower_bound": c.dual,
            "iterations": len(result.history), "message": "", **parts,
        }  # fmt: skip

    def _run(self, solver: Solver, tolerance: float, **options: Any) -> CuttingPlane:
        given = self.given
        return CuttingPlane(
            given.fitted, self.formulation, given.encoded, backend=solver.own, tol=tolerance,
            **options,
        )  # fmt: skip


# ---------------------------------------------------------------------- inside
def _sizes(program: Program) -> Numbers:
    nonzeros = int(program.A.nnz + program.P.nnz)
    return {"rows": len(program.lower), "columns": program.size, "nonzeros": nonzeros}


def _timed(
    solver: Solver, program: Program, tolerance: float, limit: float
) -> tuple[Answer, float]:
    began = time.process_time()
    found = solver.solve(program, tolerance, limit)
    cpu = time.process_time() - began if found.cpu is None else found.cpu
    return found, cpu


_TINY = Program(
    P=sp.csr_array((2, 2)), q=np.ones(2), l1=np.zeros(2), A=sp.csr_array([[1.0, 2.0]]),
    lower=np.array([4.0]), upper=np.array([np.inf]), lb=np.zeros(2), ub=np.full(2, np.inf),
)  # fmt: skip


def warm_up(solver: Solver) -> None:
    """Load what is compiled on first use, before time is taken."""
    if isinstance(solver, OfBackend):
        for quadratic in (sp.csr_array((2, 2)), sp.eye_array(2, format="csr")):
            tiny = replace(_TINY, P=quadratic)
            if not solver.refusal(tiny):
                solver.solve(tiny, 1e-3, 5.0)


def _numbers(found: Answer, verdict: Verdict, cpu: float, limit: float) -> Numbers:
    return {
        "status": "out of time" if cpu > limit else verdict.status,
        "claim": found.claim, "cpu": cpu, "error": verdict.error,
        "primal_residual": verdict.primal_residual, "dual_residual": verdict.dual_residual,
        "gap": verdict.gap, "objective": verdict.objective, "lower_bound": verdict.bound,
        "iterations": found.iterations, "products": found.products, "message": found.message,
    }  # fmt: skip
