r"""A declared master at a point: its objective, how far constraints are broken, who completes it.

Objective and constraints are taken as they were written, at the variables that were declared: the
columns that CVXPY added (epigraphs) may hold anything.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Floats, Ints
from structopt.master.cones import Cones
from structopt.master.cuts import Cuts
from structopt.master.inner import Inner
from structopt.master.lift import Family
from structopt.master.monotone import rises
from structopt.master.program import Program
from structopt.master.retreat import Retreat


class Declared:
    """What was declared and compiled, at a point over all columns."""

    program: Program
    families: list[Family]
    columns: dict[int, int]
    size: int
    slack_columns: Ints
    _weights: Any
    _slacks: list[Any]
    _objective: Any
    _static: list[Any]

    @property
    def declared_objective(self) -> Any:
        """The objective as it was written."""
        return self._objective

    @property
    def declared_constraints(self) -> list[Any]:
        """The static constraints as they were written, and those that rules brought."""
        return list(self._static)

    @property
    def declared_variables(self) -> tuple[Any, list[Any]]:
        """The weights, and the variables of slacks."""
        return self._weights, list(self._slacks)

    def samples(self) -> list[Cuts]:
        """Return one row of each family, to judge its shape by."""
        raise NotImplementedError

    def objective(self, x: Floats) -> float:
        """Return the objective at a point, whatever the columns that CVXPY added hold there."""
        if self._all_declared:
            return self.program.objective(x)
        self._set(x)
        with np.errstate(all="ignore"):
            value = float(self._objective.value)
        return np.inf if np.isnan(value) else value  # outside its domain

    def residual(self, x: Floats, *, alone: bool = False) -> float:
        """Return the largest violation of the static constraints, as a share of their numbers.

        They count as they were written: the columns that CVXPY added do not. ``alone``: only those
        on the weights alone.
        """
        if self._all_declared and not alone:
            return self.program.residual(x)
        self._set(x)
        static = self._alone if alone else self._static
        with np.errstate(all="ignore"):
            worst = max([0.0, *(_share_of(constraint) for constraint in static)])
        bounds = replace(self.program, A=self.program.A[:0], lower=np.zeros(0), upper=np.zeros(0),
                         lb=np.where(self.declared, self.program.lb, -np.inf),
                         ub=np.where(self.declared, self.program.ub, np.inf),
                         cones=Cones.none(self.size))  # fmt: skip
        return max(np.inf if np.isnan(worst) else worst, bounds.residual(x))

    @cached_property
    def inner(self) -> Inner | None:
        """The programme of all columns but the weights; None where raising slacks solves it.

        That is so where nothing else was declared, the objective never falls as slacks rise, and
        no static constraint and no row with two of them holds them down.
        """
        mine = {xi.id for xi in self._slacks}
        alone = {v.id for v in self.variables()} == {self._weights.id, *mine}
        plain = alone and not any(mine & {v.id for v in c.variables()} for c in self._static)
        if plain and rises(self._objective, mine) and all(map(self._raised, self.samples())):
            return None
        return Inner(self.program, self.declared, self._fixed())

    @cached_property
    def retreat(self) -> Retreat:
        """How weights are moved into the static constraints that hold of them alone."""
        return Retreat(self._weights, self._alone)

    @cached_property
    def _alone(self) -> list[Any]:
        """What holds of the weights alone; where the objective is finite, too."""
        mine = {self._weights.id}
        # the domain of a power of a norm, say, is one that holds anyhow, and no convex constraint
        every = [*self._static, *(c for c in self._objective.domain if c.is_dcp())]
        return [c for c in every if {v.id for v in c.variables()} <= mine]

    def _fixed(self) -> NDArray[np.bool_]:
        """Which columns oracles are asked about."""
        fixed = np.zeros(self.size, dtype=bool)
        for number in range(len(self.families)):
            fixed[self.program.asked_about(number)] = True
        return fixed

    def _raised(self, sample: Cuts) -> bool:
        """Return whether rows of a family touch at most one slack, which relaxes them."""
        rows, of_slack = sample.extra, np.isin(sample.extra.indices, self.slack_columns)
        sign = np.where(np.isfinite(sample.lower), 1.0, -1.0)
        relaxing = np.repeat(sign, np.diff(rows.indptr)) * rows.data > 0
        single = np.all(np.add.reduceat(of_slack, rows.indptr[:-1]) <= 1) if rows.nnz else True
        return bool(single and np.all(relaxing[of_slack & (rows.data != 0)]))

    @cached_property
    def declared(self) -> NDArray[np.bool_]:
        """Which columns belong to variables of the declaration, and not to CVXPY's own."""
        mine = np.zeros(self.size, dtype=bool)
        for variable in self.variables():
            mine[self.columns[variable.id] + np.arange(variable.size)] = True
        return mine

    @cached_property
    def _all_declared(self) -> bool:
        return bool(np.all(self.declared))

    def _set(self, x: Floats) -> None:
        for variable in self.variables():
            start = self.columns[variable.id]
            given = x[start : start + variable.size].reshape(variable.shape, order="F")
            variable.save_value(given)

    def variables(self) -> list[Any]:
        """Return every variable of the declaration that has columns."""
        found = {v.id: v for v in [self._weights, *self._slacks, *self._objective.variables()]}
        found.update({v.id: v for c in self._static for v in c.variables()})
        return [v for v in found.values() if v.id in self.columns]


def _share_of(constraint: Any) -> float:
    """Return the violation of a constraint as a share of its sides, or of its variables if larger.

    Of these a millionth counts, as in `Program.residual`.
    """
    sides = [float(np.abs(side.value).max(initial=0.0)) for side in constraint.args]
    variables = [float(np.abs(v.value).max(initial=0.0)) for v in constraint.variables()]
    violation = float(np.max(constraint.violation(), initial=0.0))
    size = max([*sides, *(1e-6 * each for each in variables)])
    return violation / max(size, 1e-300) if violation > 0 else 0.0
