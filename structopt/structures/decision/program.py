r"""Any linear or 0-1 programme that CVXPY constraints describe, solved by HiGHS.

    min  c . y    s.t.  constraints(y),    y boolean, or real (then a linear programme).

>>> import cvxpy as cp, numpy as np
>>> budget = LinearProgram(lambda y: [cp.sum(y) == 2, y[0] + y[1] <= 1], 4)
>>> budget.minimize(np.array([[1.0, 2.0, 4.0, 3.0]])).points
array([[1., 0., 0., 1.]])
>>> mix = LinearProgram(lambda y: [cp.sum(y) == 1, y >= 0, y <= 0.6], 3, boolean=False)
>>> mix.minimize(np.array([[1.0, 2.0, 3.0]])).points
array([[0.6, 0.4, 0. ]])
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Floats
from structopt.errors import InfeasibleError, InvalidInputError, OracleError, StructoptError
from structopt.parameters import Count, NonNegative
from structopt.structures.base.integer.rows import TOLERANCE, Rows, compile_rows
from structopt.structures.base.integer.solver import IntegerProgram
from structopt.structures.decision.base import Decided, DecisionSet


class LinearProgram(DecisionSet, trusted=True):
    """Decisions that satisfy constraints.

    Parameters
    ----------
    constraints : callable y -> list of CVXPY constraints
        Linear in the ``cvxpy.Variable`` y of ``n_parts`` entries, and in any further variables.
    n_parts : int
    boolean : bool
        Whether y is 0/1; else it is real and needs bounds, or the costs that are asked for may have
        no minimum.
    gap : float
        Relative gap at which branch and bound may stop; certificates count what it leaves open.
    time_limit : float, optional
        Seconds that branch and bound may take for one question; again certificates count it.
    """

    checked_in = "check"

    def __init__(
        self,
        constraints: Callable[[Any], Any],
        n_parts: Count,
        *,
        boolean: bool = True,
        gap: NonNegative = 0.0,
        time_limit: NonNegative | None = None,
    ) -> None:
        self.constraints, self._parts, self.boolean = constraints, n_parts, boolean
        self.gap, self.time_limit = gap, time_limit

    _stored = {"n_parts": "_parts"}  # noqa: RUF012  that of Parameters is typed

    @property
    def n_parts(self) -> int:
        """How many numbers a decision has."""
        return self._parts

    def check(self) -> None:
        """Refuse constraints that nothing satisfies."""
        program = self._program
        nothing = np.zeros(self.n_parts)
        found = program.maximize(nothing) if self.boolean else program.relax(nothing)
        if found is None:
            raise InfeasibleError(
                "No decision satisfies the programme: its constraints contradict each other."
            )

    def note(self) -> str:
        """Return that answers may stop short of the best, if they may."""
        if not self.boolean or (self.gap == 0 and self.time_limit is None):
            return ""
        return "branch and bound may stop early; the primal value counts what it leaves open"

    def minimize(self, costs: Floats, start: int = 0) -> Decided:
        """Return the cheapest decision of each row of costs."""
        points, excess = np.zeros_like(costs), np.zeros(len(costs))
        for i, own in enumerate(costs):
            points[i], excess[i] = self._one(own, start + i)
        return Decided(points, excess)

    def others(self, costs: Floats, known: Floats, start: int = 0) -> Decided:
        """Return the cheapest decisions with the known ones forbidden."""
        points, excess = known.copy(), np.full(len(costs), -1.0)
        for i, own in enumerate(costs):
            best = self._program.maximize(-own, forbidden=[known[i]])
            if best is not None:
                points[i], excess[i] = best.point, best.excess
        return Decided(points, excess)

    def contains(self, points: Floats) -> NDArray[np.bool_]:
        """Return whether each point satisfies the constraints."""
        if self.boolean:
            whole = np.all((points == 0) | (points == 1), axis=1)
            own = self._program.contains
            pairs = zip(whole, points, strict=True)
            return np.array([bool(w) and own(point) for w, point in pairs])
        return np.array([self._feasible(point) for point in points])

    # ------------------------------------------------------------------ inside
    @cached_property
    def _program(self) -> IntegerProgram:
        import cvxpy as cp

        y = cp.Variable(self.n_parts, boolean=self.boolean, name="y")
        try:
            given = self.constraints(y)
        except (StructoptError, KeyboardInterrupt):
            raise
        except Exception as error:
            raise InvalidInputError(
                f"constraints(y) of the programme failed: {type(error).__name__}: {error}"
            ) from error
        given = list(given) if isinstance(given, list | tuple) else [given]
        if not self.boolean and not given:
            raise InvalidInputError("A linear programme without constraints has no minimum.")
        rows = compile_rows(given, y)
        if not self.boolean and rows.integer.any():
            raise InvalidInputError(
                "boolean=False, but the constraints bring variables that are whole numbers: such "
                "programmes are 0-1 in y, or not at all."
            )
        return IntegerProgram(rows, gap=self.gap, time_limit=self.time_limit)

    def _one(self, costs: Floats, example: int) -> tuple[Floats, float]:
        try:
            if self.boolean:
                best = self._program.maximize(-costs)
                if best is not None:
                    return best.point, best.excess
            else:
                relaxed = self._program.relax(-costs)
                if relaxed is not None:
                    point = relaxed.values[: self.n_parts] + 0.0
                    short = relaxed.bound + float(costs @ point)
                    return point, short if short > 1e-12 * float(np.abs(costs).sum()) else 0.0
        except OracleError as error:
            raise OracleError(
                f"Example {example}: {error} A programme without bounds on every part may have no "
                "minimum at some costs.",
                example=example,
            ) from error
        raise InfeasibleError(
            f"No decision satisfies the constraints (example {example}).", example=example
        )

    def _feasible(self, point: Floats) -> bool:
        rows = self._program.rows
        if rows.alone:
            return bool(rows.satisfied(point[None, :])[0])
        lb, ub = rows.lb.copy(), rows.ub.copy()
        own = slice(len(point))
        if np.any((point < lb[own] - TOLERANCE) | (point > ub[own] + TOLERANCE)):
            return False
        lb[own] = ub[own] = point
        fixed = Rows(rows.A, rows.lower, rows.upper, lb, ub, rows.integer, rows.parts)
        return IntegerProgram(fixed).relax(np.zeros(len(point))) is not None
