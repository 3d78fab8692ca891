r"""Our own first-order method: linear and quadratic masters without a factorisation.

The method of :mod:`structopt.backends.extragradient.solver`, certified by the masters' own judge
(:mod:`.judge`), or, with ``promise="residuals"``, by what CVXPY's solvers promise. A round starts
from the last point, the new multipliers 0, with the scaling, the primal weight and the singular
vector (and so the step) of the round before. Work and memory are those of the rows themselves: two
products with A a step. A presolve would change the rows from round to round and is left out, and
that there is a point need not be asked of a master: its slacks make one.

``variant="paper"`` hands on the iterate itself (lines 2 and 11 of Algorithm 2), raises the slacks
to the rows that are new (line 5), gives those multipliers 0 (line 6) and starts the first round at
w = 1 (line 2 of Algorithm 1). Where the first cuts come from is not a backend's to say.

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

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from structopt.arrays import Floats
from structopt.backends.base import Compiled, Status
from structopt.backends.extragradient.judge import Judge
from structopt.backends.extragradient.outcome import Callback, Memory, Solution
from structopt.backends.extragradient.recipe import Variant
from structopt.backends.extragradient.solver import EVERY, solve
from structopt.backends.rebuilt import Outcome, RebuiltBackend, Start
from structopt.errors import InvalidInputError
from structopt.master.program import Program
from structopt.master.slacks import Slacks

_STATUS: dict[str, Status] = {
    "optimal": "optimal",
    "max_iter": "inaccurate",
    "time_limit": "inaccurate",
    "callback": "inaccurate",
    "stopped": "optimal",  # by the paper's own rule: rounds go on as printed, at tighter eps
    "infeasible": "infeasible",
    "unbounded": "unbounded",
}
Promise = Literal["gap", "residuals"]

_FLOOR = 1e-6
"""Objective below which the gap counts as absolute: masters are judged by their relative gap."""


class ExtragradientBackend(RebuiltBackend):
    """Linear and quadratic masters by the extragradient method.

    Parameters
    ----------
    variant : {"alternating", "korpelevich", "paper"}
        See :mod:`structopt.backends.extragradient.solver`. "paper" is Algorithm 2 as printed, with
        a stopping rule that may end too early; the certificate judges.
    without : sequence of str
        Ingredients to leave out (:class:`~structopt.backends.extragradient.recipe.Recipe`).
    max_iter : int
        Steps of one solve; one that needs more is "inaccurate".
    eps1, eps2 : float, optional
        Tolerances of the paper's rule: relative movement of both halves, difference of the
        objectives. Default: the tolerance of the solve.
    promise : {"gap", "residuals"}
        What a tolerance is a tolerance of: the certified gap of the objective, which is what a
        cutting-plane run needs and leaves x within about its root of the solution
        (:class:`~structopt.backends.extragradient.judge.Judge`); or the largest of gap, primal and
        dual residual (:class:`~structopt.backends.extragradient.certificate.Residuals`).
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
        variant: Variant = "alternating",
        without: Sequence[str] = (),
        max_iter: int = 200_000,
        eps1: float | None = None,
        eps2: float | None = None,
        promise: Promise = "gap",
        every: int = EVERY,
        callback: Callback | None = None,
    ) -> None:
        if not isinstance(promise, str) or promise not in get_args(Promise):
            raise InvalidInputError(f"promise is 'gap' or 'residuals', not {promise!r}.")
        self.variant, self.without, self.max_iter = variant, without, max_iter
        self.eps1, self.eps2, self.promise = eps1, eps2, promise
        self.every, self.callback = every, callback

    def start(self, master: Compiled) -> None:
        """Take the static rows and forget earlier scales."""
        super().start(master)
        self._memory: Memory | None = None
        self._solved: int | None = None

    def delete(self, keep: NDArray[np.bool_]) -> None:
        """Keep only the cut rows where ``keep`` is true."""
        super().delete(keep)
        static = np.ones(len(self._columns.program.lower), dtype=bool)
        every = np.concatenate([static, keep])
        if self._memory is not None:
            self._memory = self._memory.keep(every[: len(self._memory.scale.rows)])
        if self._solved is not None:
            self._solved = int(np.sum(every[: self._solved]))

    def _optimise(
        self, problem: Program, start: Start, tolerance: float, time_limit: float | None
    ) -> Outcome:
        form = replace(problem, P=sp.csr_array(problem.P))
        if self.variant == "paper":
            start = self._as_printed(form, start[0].copy()), start[1]
        try:
            found = self._solve(form, start, tolerance, time_limit)
        except InvalidInputError as error:
            nothing = np.zeros(len(form.q)), np.zeros(len(form.lower))
            return Outcome("failed", *nothing, 0, str(error))
        status: Any = _STATUS[found.status]
        if status in ("optimal", "inaccurate"):
            self._memory, self._solved = found.memory, len(form.lower)
        message = (
            f"Extragradient: {found.status.replace('_', ' ')} after {found.iterations} steps, "
            f"certified error {found.error:.1e}. {found.reason}"
        )
        return Outcome(status, found.x, found.y, found.iterations, message.strip())

    def _solve(
        self, form: Program, start: Start, tolerance: float, time_limit: float | None
    ) -> Solution:
        eps1, eps2 = (tolerance if e is None else e for e in (self.eps1, self.eps2))
        return solve(
            form,
            tolerance=tolerance,
            max_iter=self.max_iter,
            time_limit=time_limit,
            variant=self.variant,
            without=sorted({*self.without, "presolve", "feasibility"}),
            start=start,
            memory=self._memory,
            check=None if self.promise == "residuals" else lambda p: Judge(p, _FLOOR),
            eps=(eps1, eps2),
            every=self.every,
            callback=self.callback,
        )

    def _as_printed(self, form: Program, x: Floats) -> Floats:
        """Return w = 1 before anything was solved; then the slacks raised to the new rows."""
        if self._solved is None:
            program = self._columns.program
            x[self._columns.places(np.arange(program.size)[program.weights])] = 1.0
        short = np.zeros(len(x), dtype=bool)
        short[form.slacks] = True
        value = form.A @ x
        new = np.arange(len(value)) >= (self._solved or 0)
        below = np.where(new, form.lower - value, -np.inf)
        above = np.where(new, value - form.upper, -np.inf)
        Slacks.of(form.A, short).lift(x, x.copy(), below, above)
        return x
