r"""The best 0/1 point of a set given by rows, by HiGHS on a live model.

    max  s . z    s.t.  z in rows,  z not among the forbidden.

The linear relaxation comes first, from the last basis: if its vertex is whole, that is the answer,
and a bound recomputed from its multipliers says how far off it can be. Only else does branch and
bound start, from the last answer. A forbidden point is cut off by

    sum_{j: f_j = 1} (1 - z_j) + sum_{j: f_j = 0} z_j >= 1.

>>> import numpy as np, cvxpy as cp
>>> from structopt.structures.base.integer.rows import compile_rows
>>> z = cp.Variable(3, boolean=True)
>>> program = IntegerProgram(compile_rows([cp.sum(z) <= 1], z))
>>> best = program.maximize(np.array([1.0, 3.0, 2.0]))
>>> best.point, best.excess
(array([0., 1., 0.]), 0.0)
>>> program.maximize(np.array([1.0, 3.0, 2.0]), forbidden=[best.point]).point
array([0., 0., 1.])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
import scipy.sparse as sp
from highspy import HighsModelStatus, HighsStatus

from structopt.arrays import Floats
from structopt.errors import OracleError
from structopt.structures.base.integer.rows import TOLERANCE, Rows

_Highs: Any = highspy.Highs  # its constructor is untyped
_INFEASIBLE = (HighsModelStatus.kInfeasible, HighsModelStatus.kUnboundedOrInfeasible)
_STOPPED = (HighsModelStatus.kOptimal, HighsModelStatus.kTimeLimit)


@dataclass(frozen=True)
class Best:
    """A 0/1 point, and how far the true optimum may lie above its score."""

    point: Floats
    excess: float


@dataclass(frozen=True)
class Relaxed:
    """The linear relaxation's solution: all columns, and an upper bound on the scores."""

    values: Floats
    bound: float


class IntegerProgram:
    """A set of 0/1 points that is asked for its best point again and again.

    Parameters
    ----------
    rows : Rows
    gap : float
        Relative gap at which branch and bound may stop; what is left open is in `Best.excess`.
    time_limit : float, optional
        Seconds that one question may take in branch and bound.
    """

    def __init__(self, rows: Rows, *, gap: float = 0.0, time_limit: float | None = None) -> None:
        self.rows, self.gap, self.time_limit = rows, gap, time_limit
        self._transposed = sp.csr_array(rows.A.T)
        self._lp: Any = None
        self._mip: Any = None
        self._last: Floats | None = None

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_lp": None, "_mip": None}  # live models stay in their process

    def maximize(self, scores: Floats, *, forbidden: Sequence[Floats] = ()) -> Best | None:
        """Return the best point that is not forbidden; None if there is none."""
        costs, scale = self._scaled(scores)
        if not forbidden:
            relaxed = self._relax(costs)
            if relaxed is None:
                return None
            if self._whole(relaxed.values):
                self._last = relaxed.values
                return self._best(relaxed.values, scores, relaxed.bound * scale)
        return self._branch(costs, scores, scale, forbidden)

    def relax(self, scores: Floats) -> Relaxed | None:
        """Return the solution of the linear relaxation; None if it is empty."""
        costs, scale = self._scaled(scores)
        found = self._relax(costs)
        return None if found is None else Relaxed(found.values, found.bound * scale)

    def contains(self, point: Floats) -> bool:
        """Return whether a 0/1 point is in the set."""
        rows = self.rows
        if rows.alone:
            return bool(rows.satisfied(point[None, :])[0])
        if np.any(point < rows.lb[: len(point)]) or np.any(point > rows.ub[: len(point)]):
            return False
        ub, lb = rows.ub.copy(), rows.lb.copy()
        lb[: len(point)] = ub[: len(point)] = point
        fixed = Rows(rows.A, rows.lower, rows.upper, lb, ub, rows.integer, rows.parts)
        return IntegerProgram(fixed).maximize(np.zeros(rows.parts)) is not None

    def release(self) -> None:
        """Let go of the live models; the next question builds them anew."""
        self._lp = self._mip = None

    # ------------------------------------------------------------------ inside
    def _scaled(self, scores: Floats) -> tuple[Floats, float]:
        """Return costs to minimise, the largest 1: HiGHS' tolerances are absolute."""
        scale = float(np.abs(scores).max(initial=0.0)) or 1.0
        costs = np.zeros(self.rows.A.shape[1])
        costs[: len(scores)] = -scores / scale
        return costs, scale

    def _relax(self, costs: Floats) -> Relaxed | None:
        if self._lp is None:
            self._lp = _model(self.rows, integer=False)
        status = _run(self._lp, costs)
        if status == HighsModelStatus.kNotset:  # another instance changed the scheduler's threads
            self._lp = _model(self.rows, integer=False)
            status = _run(self._lp, costs)
        if status in _INFEASIBLE:
            return None
        if status != HighsModelStatus.kOptimal:
            raise OracleError(f"HiGHS: {self._lp.modelStatusToString(status)}, on a relaxation.")
        found = self._lp.getSolution()
        duals = np.array(found.row_dual)
        bound = -self._lower_bound(costs, duals)
        if not np.isfinite(bound):  # helpers without bounds: the solver's own value stands
            bound = -float(self._lp.getInfo().objective_function_value)
        return Relaxed(np.array(found.col_value), bound)

    def _lower_bound(self, costs: Floats, duals: Floats) -> float:
        """Return what the multipliers prove about ``min costs . v``: weak duality."""
        rows = self.rows
        y = np.where(duals > 0, np.where(np.isfinite(rows.lower), duals, 0.0), duals)
        y = np.where(y < 0, np.where(np.isfinite(rows.upper), y, 0.0), y)
        reduced = costs - self._transposed @ y
        reduced[np.abs(reduced) <= 1e-12] = 0.0
        return _least(y, rows.lower, rows.upper) + _least(reduced, rows.lb, rows.ub)

    def _branch(
        self, costs: Floats, scores: Floats, scale: float, forbidden: Sequence[Floats]
    ) -> Best | None:
        if self._mip is None:
            self._mip = _model(self.rows, integer=True)
        status = self._search(costs, forbidden)
        if status == HighsModelStatus.kNotset:  # as above
            self._mip = _model(self.rows, integer=True)
            status = self._search(costs, forbidden)
        model, kept = self._mip, len(self.rows.lower)
        values = np.array(model.getSolution().col_value)
        bound = -float(model.getInfo().mip_dual_bound)
        found = bool(model.getSolution().value_valid)
        if forbidden:
            gone = np.arange(kept, kept + len(forbidden), dtype=np.int32)
            model.deleteRows(len(gone), gone)
        if status in _INFEASIBLE:
            return None
        if status not in _STOPPED or not found or not self._whole(values):
            raise OracleError(
                f"HiGHS: {model.modelStatusToString(status)}, without a 0/1 point. Raise "
                "time_limit, or simplify the constraints."
            )
        self._last = values
        return self._best(values, scores, bound * scale)

    def _search(self, costs: Floats, forbidden: Sequence[Floats]) -> Any:
        """Run branch and bound, forbidden points cut off, from the last answer if it is allowed."""
        model = self._mip
        for point in forbidden:
            sign = np.where(point > 0.5, -1.0, 1.0)
            places = np.arange(len(point), dtype=np.int32)
            model.addRow(1.0 - float(point.sum()), highspy.kHighsInf, len(point), places, sign)
        last = self._last
        if last is not None and not any(
            np.array_equal(last[: len(p)] > 0.5, p > 0.5) for p in forbidden
        ):
            start = highspy.HighsSolution()
            start.col_value = last.tolist()
            model.setSolution(start)
        model.setOptionValue("mip_rel_gap", self.gap)
        if self.time_limit is not None:  # counts from the birth of the instance (HiGHS 1.15)
            model.setOptionValue("time_limit", model.getRunTime() + self.time_limit)
        return _run(model, costs)

    def _whole(self, values: Floats) -> bool:
        whole = values[self.rows.integer]
        return bool(np.all(np.abs(whole - np.round(whole)) <= TOLERANCE))

    def _best(self, values: Floats, scores: Floats, bound: float) -> Best:
        point = np.round(values[: self.rows.parts]) + 0.0
        short = bound - float(scores @ point)
        # below the rounding of the sums there is nothing left to gain
        noise = 1e-12 * float(np.abs(scores).sum())
        return Best(point, 0.0 if short <= noise else short)


def _model(rows: Rows, *, integer: bool) -> Any:
    # as the backend does: HiGHS (1.15) keeps one scheduler per thread of the process
    _Highs.resetGlobalScheduler(True)
    model = _Highs()
    for option, value in (
        ("output_flag", False), ("threads", 1), ("parallel", "off"),
        ("mip_abs_gap", 1e-10), ("primal_feasibility_tolerance", 1e-9),
        ("dual_feasibility_tolerance", 1e-9),
        ("mip_feasibility_tolerance", 1e-10),  # branches that gain less than it are cut off
    ):  # fmt: skip
        model.setOptionValue(option, value)
    matrix = sp.csc_array(rows.A)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = matrix.shape[1], matrix.shape[0]
    lp.col_cost_ = np.zeros(matrix.shape[1])
    lp.col_lower_, lp.col_upper_ = rows.lb, rows.ub
    lp.row_lower_, lp.row_upper_ = rows.lower, rows.upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = matrix.indptr.astype(np.int32)
    lp.a_matrix_.index_ = matrix.indices.astype(np.int32)
    lp.a_matrix_.value_ = matrix.data
    if integer:
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[int(whole)] for whole in rows.integer]
    if model.passModel(lp) == HighsStatus.kError:
        raise OracleError("HiGHS refused the constraints: a number in them is not finite.")
    return model


def _run(model: Any, costs: Floats) -> Any:
    model.changeColsCost(len(costs), np.arange(len(costs), dtype=np.int32), costs)
    refused = model.run() == HighsStatus.kError
    return HighsModelStatus.kNotset if refused else model.getModelStatus()


def _least(slope: Floats, lower: Floats, upper: Floats) -> float:
    """Return the least of ``slope . v`` over ``lower <= v <= upper``."""
    up, down = slope > 0, slope < 0
    return float(slope[up] @ lower[up] + slope[down] @ upper[down])
