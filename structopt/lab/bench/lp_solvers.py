"""Other solvers of a master, from nothing: HiGHS in this process, OR-tools' PDLP in its own."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.lab.harness.process import alone
from structopt.master.program import Program

Claim = Literal["optimal", "infeasible", "unbounded", "not converged", "failed"]
"""What a solver says of its answer: it is checked."""

_WALL = 3.0  # wall seconds for a CPU second, on a busy machine


@dataclass(frozen=True)
class Pair:
    """A point, its multipliers, and what they cost in CPU seconds and iterations.

    Also the products with A and A', where they are counted, and what the solver claims.
    """

    x: Floats
    y: Floats
    seconds: float
    iterations: int
    products: int | None = None
    claim: Claim = "optimal"


def highs_pdlp(master: Program, limit: float, eps: float) -> Pair:
    """Solve by HiGHS' PDLP, all its tolerances at ``eps``."""
    tolerances = ("pdlp_optimality_tolerance", "primal_feasibility_tolerance",
                  "dual_feasibility_tolerance")  # fmt: skip
    return highs(master, limit, {"solver": "pdlp"} | dict.fromkeys(tolerances, eps))


def highs(master: Program, limit: float, options: dict[str, Any]) -> Pair:
    """Solve by HiGHS with some options, one thread, from nothing."""
    import highspy

    q, A, lb, ub = _split(master)
    make: Any = highspy.Highs  # untyped
    make.resetGlobalScheduler(True)  # HiGHS 1.15: `threads` must match the process's scheduler
    model, lp = make(), highspy.HighsLp()
    given = {"output_flag": False, "threads": 1, "parallel": "off"} | options
    given["time_limit"] = _WALL * limit
    for option, value in given.items():
        model.setOptionValue(option, value)
    lp.num_row_, lp.num_col_ = A.shape
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = q, lb, ub
    lp.row_lower_, lp.row_upper_ = master.lower, master.upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = A.indptr, A.indices, A.data
    model.passModel(lp)
    began = time.process_time()
    model.run()
    seconds = time.process_time() - began
    solution, info = model.getSolution(), model.getInfo()
    counters = ("simplex", "ipm", "pdlp")
    iterations = sum(max(0, getattr(info, f"{c}_iteration_count")) for c in counters)
    if not solution.value_valid or not solution.dual_valid:
        return Pair(np.zeros(len(master.q)), np.zeros(len(master.lower)), limit, iterations)
    x, y = np.array(solution.col_value), np.array(solution.row_dual)
    return Pair(_joined(master, x), y, seconds, iterations)


def ortools_pdlp(master: Program, limit: float, eps: float) -> Pair:
    """Solve by OR-tools' PDLP at a relative tolerance, in a process of its own."""
    q, A, lb, ub = _split(master)
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "problem.npz"), Path(folder, "answer.npz")
        np.savez(
            source, q=q, data=A.data, indices=A.indices, indptr=A.indptr, lower=master.lower,
            upper=master.upper, lb=lb, ub=ub,
        )  # fmt: skip
        given = str(source), str(target), str(eps), str(limit)
        answer = alone("structopt.lab.bench.pdlp_run", *given)
        with np.load(target) as found:
            x, y = found["x"], found["y"]
    counted = answer["iterations"], answer["products"]
    return Pair(_joined(master, x), y, answer["seconds"], *counted, answer["claim"])


def _split(master: Program) -> tuple[Floats, Any, Floats, Floats]:
    """Return cost, rows and bounds with every column that has an l1 term as u - v."""
    open_sign = np.flatnonzero(master.l1 > 0)
    lb = master.lb.copy()
    lb[open_sign] = 0.0
    A = sp.csr_array(sp.hstack([master.A, -master.A[:, open_sign]], format="csr"))
    q = np.concatenate([master.q + master.l1, (master.l1 - master.q)[open_sign]])
    zeros = np.zeros(len(open_sign))
    return q, A, np.append(lb, zeros), np.append(master.ub, -master.lb[open_sign])


def _joined(master: Program, x: Floats) -> Floats:
    n = len(master.q)
    whole = x[:n].copy()
    whole[master.l1 > 0] -= x[n:]
    return whole
