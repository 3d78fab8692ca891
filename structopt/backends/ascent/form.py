"""The form of masters that a dual ascent takes: see :mod:`structopt.backends.ascent.backend`."""

from __future__ import annotations

import numpy as np

from structopt.master.cuts import Cuts
from structopt.master.program import Program


def odd_program(program: Program) -> str | None:
    """Return what in a programme is not of the form, or None."""
    if program.diagonal is None:
        return "the quadratic term couples weights."
    if program.A.shape[0]:
        return f"there are {program.A.shape[0]} constraints beyond bounds."
    slack = np.zeros(program.size, dtype=bool)
    slack[program.slacks] = True
    inside = np.zeros(program.size, dtype=bool)
    inside[program.weights] = True
    if not np.all(slack | inside):
        return "there are variables besides weights and slacks."
    if not np.all((program.diagonal > 0)[inside] | (program.lb == program.ub)[inside]):
        return "some weights have no quadratic term."
    plain = (program.l1 == 0) & (program.lb == 0) & np.isposinf(program.ub)
    if not np.all((plain & ((program.diagonal > 0) | (program.q > 0)))[slack]):
        return "slacks must be >= 0 with a linear cost > 0 or a square."
    return None


def odd_rows(program: Program, rows: Cuts) -> str | None:
    """Return what in cut rows is not of the form, or None."""
    slack = np.zeros(program.size, dtype=bool)
    slack[program.slacks] = True
    if np.any(np.diff(rows.extra.indptr) > 1) or not np.all(slack[rows.extra.indices]):
        return "a cut may touch one slack besides the weights."
    return odd_slacks(program, rows)


def odd_slacks(program: Program, rows: Cuts) -> str | None:
    """Return what about the slacks in cut rows is not of the form, or None."""
    column = np.full(program.size, -1)
    column[program.slacks] = np.arange(len(program.slacks))
    mine = column[rows.extra.indices] >= 0
    row = np.repeat(np.arange(len(rows)), np.diff(rows.extra.indptr))[mine]
    if len(np.unique(row)) < len(row):
        return "a cut may touch one slack."
    touched = rows.extra.indices[mine]
    if np.any(program.lb[touched] != 0) or not np.all(np.isposinf(program.ub[touched])):
        return "slacks must be >= 0 without another bound."
    value = np.zeros(len(rows))
    value[row] = rows.extra.data[mine]
    lower, upper = np.isfinite(rows.lower), np.isfinite(rows.upper)
    if np.any((value != 0) & (lower == upper)) or np.any(value[lower] < 0):
        return "a slack must loosen its cut."
    return "a slack must loosen its cut." if np.any(value[upper] > 0) else None
