r"""Our own first-order method: linear and quadratic masters without a factorisation.

Algorithm 2 of Wang and Shawe-Taylor (2009), modernised (see
:mod:`structopt.backends.extragradient.solver`). A round starts from the last point, the slacks
shifted up to the new rows (line 5) and the new multipliers 0 (line 6), with the step, the primal
weight and the scaling of the round before. Work and memory are those of the rows themselves: a few
products with A a step.

>>> import numpy as np, scipy.sparse as sp
>>> from types import SimpleNamespace
>>> from structopt.master.program import Program
>>> p = Program(P=sp.csc_array((2, 2)), q=np.array([1.0, 1.0]), l1=np.zeros(2), offset=0.0,
...             A=sp.csr_array(np.array([[1.0, 2.0]])), lower=np.array([4.0]),
...             upper=np.array([np.inf]), lb=np.zeros(2), ub=np.full(2, np.inf),
...             weights=slice(0, 2), slacks=np.zeros(0, int))
>>> backend = ExtragradientBackend()
>>> backend.start(SimpleNamespace(program=p))
>>> solution = backend.solve(tolerance=1e-6)
>>> solution.status, solution.x.round(4), solution.static_duals.round(4)
('optimal', array([0., 2.]), array([0.5]))
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from structopt.backends.base import Compiled, Status
from structopt.backends.extragradient.outcome import Callback, Memory, Solution, Variant
from structopt.backends.extragradient.solver import solve
from structopt.backends.rebuilt import Outcome, RebuiltBackend, Start
from structopt.errors import InvalidInputError
from structopt.master.program import Program

_STATUS: dict[str, Status] = {
    "optimal": "optimal",
    "max_iter": "inaccurate",
    "time_limit": "inaccurate",
    "callback": "inaccurate",
    "infeasible": "infeasible",
    "unbounded": "unbounded",
}
_FLOOR = 1e-6
"""Objective below which the gap counts as absolute: masters are judged by their relative gap."""


class ExtragradientBackend(RebuiltBackend):
    """Linear and quadratic masters by the extragradient method.

    Parameters
    ----------
    variant : {"restarted", "paper"}
        "paper" is Algorithm 2 as printed: fixed step, no scaling, its own stopping rule, which may
        end too early; the certificate judges.
    max_iter : int
        Steps of one solve; one that needs more is "inaccurate".
    every : int
        Steps between two looks at the gap.
    callback : callable, optional
        Gets an :class:`~structopt.backends.extragradient.outcome.Iterate` at every look.
    """

    name = "extragradient"
    keeps_time = True
    automatic = False
    splits = False
    finisher = "clarabel"

    def __init__(
        self,
        *,
        variant: Variant = "restarted",
        max_iter: int = 200_000,
        every: int = 64,
        callback: Callback | None = None,
    ) -> None:
        self.variant, self.max_iter = variant, max_iter
        self.every, self.callback = every, callback

    def start(self, master: Compiled) -> None:
        """Take the static rows and forget earlier scales."""
        super().start(master)
        self._memory: Memory | None = None

    def delete(self, keep: NDArray[np.bool_]) -> None:
        """Keep only the cut rows where ``keep`` is true."""
        super().delete(keep)
        if self._memory is not None:
            known = len(self._memory.scale.rows)
            static = np.ones(len(self._columns.program.lower), dtype=bool)
            self._memory = self._memory.keep(np.concatenate([static, keep])[:known])

    def _optimise(
        self, problem: Program, start: Start, tolerance: float, time_limit: float | None
    ) -> Outcome:
        form = replace(problem, P=sp.csr_array(problem.P))
        try:
            found = self._solve(form, start, tolerance, time_limit)
        except InvalidInputError as error:
            nothing = np.zeros(len(form.q)), np.zeros(len(form.lower))
            return Outcome("failed", *nothing, 0, str(error))
        status: Any = _STATUS[found.status]
        if status in ("optimal", "inaccurate"):
            self._memory = found.memory
        message = (
            f"Extragradient: {found.status.replace('_', ' ')} after {found.iterations} steps, "
            f"certified gap {found.error:.1e}."
        )
        return Outcome(status, found.x, found.y, found.iterations, message)

    def _solve(
        self, form: Program, start: Start, tolerance: float, time_limit: float | None
    ) -> Solution:
        return solve(
            form,
            tolerance=tolerance,
            max_iter=self.max_iter,
            time_limit=time_limit,
            variant=self.variant,
            start=start,
            memory=self._memory,
            floor=_FLOOR,
            stationary=False,
            every=self.every,
            callback=self.callback,
        )
