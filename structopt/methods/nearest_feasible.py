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
    """Return the point of the static constraints nearest to x: bounds must hold there.

    Where other columns are solved for, or were added by CVXPY, it is the nearest weights that are
    looked for, and only if these break what holds of weights alone.
    """
    program = master.program
    x = np.clip(x, program.lb, program.ub)
    alone = master.inner is not None or not np.all(master.declared)
    best, least = x, master.residual(x, alone=alone)
    if least <= 1e-9:
        return x
    moved = x.copy()
    moved[program.weights] = master.retreat.moved(x[program.weights])
    if master.residual(moved, alone=True) <= 1e-12:
        return moved
    kept = master.declared.copy()
    kept[program.slacks] = False  # they are raised later
    if alone:
        kept[:] = False
        kept[program.weights] = True
    held = kept.astype(np.float64)
    for unit in _units(program, x[kept]):
        # what solvers call near is a number, whatever the size of weights: they get sizes of 1
        small = _divided(program, unit)
        nearest = replace(
            small, P=sp.diags_array(held, format="csc"), q=-held * x / unit, l1=0.0 * x, offset=0.0
        )
        found = _solved(nearest)
        # what CVXPY introduced (epigraphs) takes the values that cost least
        completed = unit * _solved(
            replace(small, lb=np.where(kept, found, small.lb), ub=np.where(kept, found, small.ub))
        )
        if (left := master.residual(completed, alone=alone)) < least:
            best, least = completed, left
        if least <= 1e-9:
            break
    return best


def _units(program: Program, declared: Floats) -> list[float]:
    """Return sizes to measure a point in: its own, then the smallest and the largest of a side."""
    sides = np.abs(np.concatenate([program.lower, program.upper, program.lb, program.ub]))
    sides = sides[np.isfinite(sides) & (sides > 0)]
    own = [float(np.abs(declared).max(initial=0.0))]
    found = [*own, *([float(sides.min()), float(sides.max())] if len(sides) else [])]
    return list(dict.fromkeys(unit for unit in found if unit > 0)) or [1.0]


def _divided(program: Program, unit: float) -> Program:
    """Return a programme over x / unit, its objective divided by the unit too."""
    return replace(
        program,
        P=program.P * unit,
        lower=program.lower / unit,
        upper=program.upper / unit,
        lb=program.lb / unit,
        ub=program.ub / unit,
        cones=replace(program.cones, side=program.cones.side / unit),
    )


def _solved(program: Program) -> Floats:
    """Return the minimiser of a programme without cuts."""
    solver = registry.make("clarabel")
    solver.start(SimpleNamespace(program=program))
    return solver.solve(tolerance=1e-12).x
