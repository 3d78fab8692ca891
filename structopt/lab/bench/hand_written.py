r"""The master as one would write it by hand for HiGHS, to measure structopt's backend against.

    min  sum u + sum v + C sum xi,    u, v, xi >= 0
    s.t. delta_r . (u - v) + xi_i(r) >= 1      for every cut r, appended to the live model.

No CVXPY, no certificates, no pruning, no other formulation: about the least code that solves it.
"""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np
from highspy import HighsModelStatus, HighsStatus

from structopt.arrays import Floats, Ints
from structopt.errors import BackendError

OPTIONS = {
    "output_flag": False,
    "threads": 1,
    "parallel": "off",
    "solver": "simplex",
    "primal_feasibility_tolerance": 1e-7,
    "dual_feasibility_tolerance": 1e-7,
}
"""What structopt's backend sets at a tolerance of 1e-5 or looser."""


class HandWritten:
    """LP-Struct with free weights on a live HiGHS model.

    Parameters
    ----------
    n_examples, n_features : int
    C : float
    eager : bool
        Create every column at once, or (as structopt does) when a cut first touches it.
    """

    def __init__(self, n_examples: int, n_features: int, C: float, *, eager: bool) -> None:
        self.C, self._eager, self._size = C, eager, 0
        make: Any = highspy.Highs  # untyped
        make.resetGlobalScheduler(True)  # HiGHS 1.15: `threads` must match the process's scheduler
        self._model = make()
        for option, value in OPTIONS.items():
            self._model.setOptionValue(option, value)
        self._up = np.full(n_features, -1)
        self._down = np.full(n_features, -1)
        self._slack = np.full(n_examples, -1)
        if eager:
            self._add_columns(np.arange(n_features), np.arange(n_examples))

    def append(self, deltas: Any, example: Ints) -> None:
        """Add one row per cut: ``deltas`` is CSR, ``example`` the owner of each row."""
        if not self._eager:
            features, examples = np.unique(deltas.indices), np.unique(example)
            self._add_columns(features[self._up[features] < 0], examples[self._slack[examples] < 0])
        count, ends = len(example), deltas.indptr.astype(np.int64)
        width = np.diff(ends)
        starts = 2 * ends + np.arange(count + 1)  # u part, v part, slack
        indices, values = np.empty(starts[-1], dtype=np.int32), np.empty(starts[-1])
        row = np.repeat(np.arange(count), width)
        place = starts[row] + np.arange(len(deltas.data)) - ends[row]
        indices[place], values[place] = self._up[deltas.indices], deltas.data
        place += width[row]
        indices[place], values[place] = self._down[deltas.indices], -deltas.data
        indices[starts[1:] - 1], values[starts[1:] - 1] = self._slack[example], 1.0
        outcome = self._model.addRows(
            count, np.ones(count), np.full(count, np.inf), len(values),
            starts[:-1].astype(np.int32), indices, values,
        )  # fmt: skip
        if outcome == HighsStatus.kError:
            raise BackendError("HiGHS refused the rows of the hand-written loop.")

    def solve(self) -> tuple[Floats, Floats, Floats, int]:
        """Run the dual simplex from the last basis; return weights, slacks, duals, iterations."""
        self._model.run()
        status = self._model.getModelStatus()
        if status != HighsModelStatus.kOptimal:
            raise BackendError(f"HiGHS ended the hand-written loop with {status}.")
        solution = self._model.getSolution()
        point, duals = np.array(solution.col_value), np.array(solution.row_dual)
        weights, slacks = np.zeros(len(self._up)), np.zeros(len(self._slack))
        weights[self._up >= 0] = point[self._up[self._up >= 0]]
        weights[self._up >= 0] -= point[self._down[self._up >= 0]]
        slacks[self._slack >= 0] = point[self._slack[self._slack >= 0]]
        return weights, slacks, duals, int(self._model.getInfo().simplex_iteration_count)

    def _add_columns(self, features: Ints, examples: Ints) -> None:
        n, k = len(features), 2 * len(features) + len(examples)
        if not k:
            return
        self._up[features] = self._size + np.arange(n)
        self._slack[examples] = self._size + n + np.arange(len(examples))
        self._down[features] = self._size + n + len(examples) + np.arange(n)
        self._size += k
        cost = np.concatenate([np.ones(n), np.full(len(examples), self.C), np.ones(n)])
        none = np.zeros(0)
        self._model.addCols(
            k, cost, np.zeros(k), np.full(k, np.inf),
            0, np.zeros(k, np.int32), none.astype(np.int32), none,
        )  # fmt: skip
