"""OR-tools' PDLP in a process of its own: it cannot be imported beside highspy (1.15, 9.15).

Called as ``python -m structopt.lab.bench.pdlp_run problem.npz answer.npz eps seconds``; prints one
line of JSON with CPU seconds, iterations, products with A and A', and what it claims ("optimal",
"infeasible", "unbounded" or "not converged"), or with what is missing. Of an infeasible or
unbounded programme, the answer is what it gives for a ray.

It only knows limits of wall time and of passes (a product with A and one with A'). On a busy
machine wall time is not what was meant, so that a first, short run tells the CPU seconds of a pass,
and the limit is given as the passes that fit.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from typing import Any

import numpy as np
import scipy.sparse as sp

FIRST, PROBE = 100.0, 0.5
"""Passes of the first run; CPU seconds from which on their cost is known."""


def main(source: str, target: str, eps: float, limit: float) -> dict[str, float | str]:
    """Solve the linear programme in ``source`` and write x and y to ``target``."""
    # the short runs come on top of what a limit on the process counts; a second before its end a
    # process is told that it is out of time, at its end it is only killed
    most = resource.getrlimit(resource.RLIMIT_CPU)[1]
    if most != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_CPU, (most - 1, most))
    try:
        from ortools.pdlp import solve_log_pb2, solvers_pb2
        from ortools.pdlp.python import pdlp
    except ImportError as error:
        how = "pip install 'structopt-margin[ortools]'"
        message = f"OR-tools is not installed ({error}); {how}."
        return {"error": "MissingDependencyError", "message": message}
    given = np.load(source)
    shape = len(given["lower"]), len(given["q"])
    program = pdlp.QuadraticProgram()
    program.resize_and_initialize(shape[1], shape[0])
    program.objective_vector = given["q"]
    program.constraint_matrix = sp.csc_matrix(
        sp.csr_array((given["data"], given["indices"], given["indptr"]), shape=shape)
    )
    program.constraint_lower_bounds, program.constraint_upper_bounds = (
        given["lower"],
        given["upper"],
    )
    program.variable_lower_bounds, program.variable_upper_bounds = given["lb"], given["ub"]
    options = solvers_pb2.PrimalDualHybridGradientParams()
    options.num_threads = 1
    ending = options.termination_criteria
    criteria = ending.simple_optimality_criteria
    criteria.eps_optimal_absolute, criteria.eps_optimal_relative = 0.0, eps

    def run(passes: float) -> tuple[Any, float, bool]:
        ending.kkt_matrix_pass_limit = passes
        began = time.process_time()
        found = pdlp.primal_dual_hybrid_gradient(program, options)
        cut = solve_log_pb2.TERMINATION_REASON_KKT_MATRIX_PASS_LIMIT
        reason = found.solve_log.termination_reason
        return found, time.process_time() - began, reason == cut

    passes = FIRST
    found, seconds, cut = run(passes)
    while cut and seconds < min(PROBE, limit):
        passes *= 2.0
        found, seconds, cut = run(passes)
    if cut and seconds < limit:
        found, seconds, _ = run(passes * limit / seconds)
    log = found.solve_log
    np.savez(target, x=found.primal_solution, y=found.dual_solution)
    claims = {
        solve_log_pb2.TERMINATION_REASON_OPTIMAL: "optimal",
        solve_log_pb2.TERMINATION_REASON_PRIMAL_INFEASIBLE: "infeasible",
        solve_log_pb2.TERMINATION_REASON_DUAL_INFEASIBLE: "unbounded",
    }
    done = log.solution_stats.cumulative_kkt_matrix_passes
    return {
        "seconds": seconds, "iterations": int(log.iteration_count), "products": int(2 * done),
        "claim": claims.get(log.termination_reason, "not converged"),
    }  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4]))))
