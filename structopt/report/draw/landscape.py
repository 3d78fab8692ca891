r"""The objective of a problem in two weights, on a grid.

    P(w) = R(w) + sum_i c_i max(0, max over the cuts of i of side - factor (w . delta))

is a maximum over cuts, so that the cuts that oracles give at some points are all that is needed in
between; a restricted master has only its own. Where other columns than slacks must be solved for,
every point of the grid is asked.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.master.cuts import Cuts
from structopt.master.declare import RestrictedMaster
from structopt.master.separation import separate
from structopt.methods.method import Method

Limits = tuple[float, float, float, float]
"""Left, right, bottom, top."""

FINE, ASKED = 61, 13
"""Points along a side: smooth contours; oracles asked for about a tenth of a second."""


def landscape(run: Method, limits: Limits, *, whole: bool) -> tuple[Floats, Floats, Floats, Floats]:
    """Return both axes, the objective on their grid, and by how much hard constraints are broken.

    ``whole``: of the whole problem, else of the restricted master.
    """
    master = run.master
    points = FINE if master.inner is None else ASKED
    u, v = np.linspace(*limits[:2], points), np.linspace(*limits[2:], points)
    at = np.stack(np.meshgrid(u, v), axis=-1)
    if master.inner is not None:
        flat = np.array([_asked(run, w) for w in at.reshape(-1, 2)])
        return u, v, flat[:, 0].reshape(points, points), flat[:, 1].reshape(points, points)
    batches = [master.pool.cuts] if len(master.pool) else []
    if whole:
        coarse = np.meshgrid(np.linspace(*limits[:2], ASKED), np.linspace(*limits[2:], ASKED))
        for w in np.stack(coarse, axis=-1).reshape(-1, 2):
            batches += separate(master, run.data, _point(master, w)).found
    values, outside = values_at(master, batches, at.reshape(-1, 2))
    return u, v, values.reshape(points, points), outside.reshape(points, points)


def values_at(
    master: RestrictedMaster, batches: list[Cuts], points: Floats
) -> tuple[Floats, Floats]:
    """Return the objective at each point, slacks raised to the cuts, and what is still broken."""
    x = np.zeros((master.size, len(points)))
    x[master.weight_columns] = points.T
    outside = np.zeros(len(points))
    if batches:
        rows = sp.vstack([cuts.deltas(points.shape[1]) for cuts in batches])
        factor, lower, upper = (
            np.concatenate([getattr(cuts, name) for cuts in batches])[:, None]
            for name in ("factor", "lower", "upper")
        )
        value = factor * (rows @ points.T)
        short = np.maximum(lower - value, value - upper)
        slack = sp.coo_array(sp.vstack([cuts.extra for cuts in batches]))
        soft = np.isin(slack.col, master.slack_columns)
        row, column, size = slack.row[soft], slack.col[soft], np.abs(slack.data[soft])
        np.maximum.at(x, column, short[row] / size[:, None])
        hard = np.delete(short, row, axis=0)
        outside = np.maximum(hard.max(axis=0, initial=0.0), 0.0)
    if not master.declared.all() or master.program.is_conic:  # columns that CVXPY added
        values = np.array([master.objective(each) for each in x.T])
        return values, np.maximum(outside, [master.residual(each) for each in x.T])
    p = master.program
    values = 0.5 * np.sum(x * (p.P @ x), axis=0) + p.q @ x + p.l1 @ np.abs(x) + p.offset
    rows = p.A @ x
    sides = (p.lower, rows), (rows, p.upper), (p.lb, x), (x, p.ub)
    for low, high in sides:
        over = (low[:, None] if low.ndim == 1 else low) - (
            high[:, None] if high.ndim == 1 else high
        )
        outside = np.maximum(outside, over.max(axis=0, initial=0.0))
    return values, outside


def _asked(run: Method, w: Floats) -> tuple[float, float]:
    found = separate(run.master, run.data, _point(run.master, w))
    return found.value, found.residual if np.isfinite(found.value) else found.violation


def _point(master: RestrictedMaster, w: Floats) -> Floats:
    x = np.zeros(master.size)
    x[master.weight_columns] = w
    return x
