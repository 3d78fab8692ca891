"""The nearest point at which the constraints that a formulation declares hold, cuts aside."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.backends import registry
from structopt.master.declare import RestrictedMaster
from structopt.master.program import Program


def nearest_feasible(master: RestrictedMaster, x: Floats) -> Floats:
    """Return the point of the static constraints nearest to x: bounds must hold there."""
    program = master.program
    if program is None:
        return x
    x = np.clip(x, program.lb, program.ub)
    if program.residual(x) <= 1e-9:
        return x
    declared = np.zeros(program.size, dtype=bool)
    for variable in master.variables():
        start = master.columns[variable.id]
        declared[start : start + variable.size] = True
    declared[program.slacks] = False  # they are raised later
    held = declared.astype(np.float64)
    nearest = replace(
        program, P=sp.diags_array(held, format="csc"), q=-held * x, l1=0.0 * x, offset=0.0
    )
    found = _solved(nearest)
    # what CVXPY introduced (epigraphs) takes the values that cost least
    completed = _solved(
        replace(
            program,
            lb=np.where(declared, found, program.lb),
            ub=np.where(declared, found, program.ub),
        )
    )
    return completed if program.residual(completed) < program.residual(x) else x


def _solved(program: Program) -> Floats:
    """Return the minimiser of a programme without cuts."""
    solver = registry.make("clarabel")
    solver.start(SimpleNamespace(program=program))
    return solver.solve(tolerance=1e-12).x
