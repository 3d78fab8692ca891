r"""A formulation with every constraint written out in plain CVXPY: the truth about its optimum.

The formulation declares itself on this ``m`` as it does on a restricted master, and each of its
rules is called with all outputs of all examples at once.

>>> import structopt as so
>>> from structopt.structures.base.small import Small
>>> from structopt.testing.structure_case import StructureCase
>>> case = StructureCase(Small(so.Multiclass(labels="ab"), [[1.0], [-1.0]], ["a", "b"]))
>>> full = FullProblem(case, so.StructSVM(C=100.0))
>>> round(full.optimum(), 4)                                    # w = (1, -1) / 2
0.25
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cached_property
from itertools import product
from typing import Any

import cvxpy as cp
import numpy as np

from structopt.arrays import Floats, Ints
from structopt.formulations.base import Formulation, WeightConstraints, groups_of
from structopt.formulations.given_weights import Fixed
from structopt.formulations.slack_groups import SlackGroups, group_of
from structopt.structures.base.oracles import (
    Oracle,
    loss_augmented,
    nearest_reference,
    slack_rescaled,
)
from structopt.structures.references.structure import References
from structopt.testing.check import fail
from structopt.testing.structure_case import StructureCase, dense


class Written:
    """What a rule sees: all its cuts, each a row of explicit numbers."""

    def __init__(self, example: Ints, delta: Floats, loss: Floats, oracle: Oracle | None) -> None:
        self.example, self.delta, self.loss = example, delta, loss
        self.margin = loss if oracle is None else np.asarray(oracle.margin(loss))
        self.scale = np.ones(len(loss)) if oracle is None else np.asarray(oracle.scale(loss))
        self.weight = np.ones(1 + max(example, default=0))

    def of(self, variable: Any) -> Any:
        """Return the entry of each row's example; a weighted slack is divided by its weight."""
        given = cp.Expression.cast_to_const(variable)
        if given.is_constant() and given.size > 1:
            return given[self.example]
        if given.size == 1:  # of all examples, or of the only one
            weighted = len(self.weight) == 1 and not given.is_constant()
            return cp.sum(given) / (self.weight[0] if weighted else 1.0) * np.ones(len(self.loss))
        return cp.multiply(given[self.example], 1.0 / self.weight[self.example])


class FullProblem:
    """The ``m`` of a formulation that writes everything out.

    Parameters
    ----------
    case : StructureCase
        Small examples, all their outputs.
    formulation : Formulation
    sample_weight : array, optional
    """

    def __init__(
        self, case: StructureCase, formulation: Formulation, sample_weight: Any = None
    ) -> None:
        self.case, self.formulation = case, formulation
        self.n_examples, self.n_features = len(case.X), case.structure.n_features_
        given = np.ones(self.n_examples) if sample_weight is None else sample_weight
        self.sample_weight = np.asarray(given, dtype=np.float64)
        self.families: list[tuple[Written, Any]] = []
        self._constraints: list[Any] = []
        self._objective: Any = None
        formulation.master(self)

    # ------------------------------------------------------------------ what m offers
    @cached_property
    def w(self) -> Any:
        """The weight variable."""
        w = cp.Variable(self.n_features)
        kept = self.case.structure.nonnegative_weights()
        if len(kept):
            self._constraints.append(w[kept] >= 0)
        return w

    def weights(self, constraints: WeightConstraints | None = None, *, frozen: Any = None) -> Any:
        """Return the weight variable; ``constraints(w)`` adds constraints, `frozen` fixes some."""
        if constraints is not None:
            self._constraints.extend(constraints(self.w))
        if frozen is not None:
            fixed = frozen if isinstance(frozen, Fixed) else Fixed(frozen)
            self._constraints.extend(fixed(self.w))
        return self.w

    def groups(self, by: str = "label") -> dict[str, Ints]:
        """Return the weights of each label, or of each feature."""
        return groups_of(self.case.structure.feature_names(), by)

    def slacks(self, groups: SlackGroups = "n") -> Any:
        """Return a variable with one weighted slack an example, or one a group."""
        group = group_of(groups, self.n_examples)
        owners = self.n_examples if group is None else int(group[-1]) + 1
        return cp.Variable(owners, nonneg=True)

    def slack(self) -> Any:
        """Return one slack for all examples."""
        return self.slacks("one")

    def minimize(self, objective: Any) -> None:
        """Set the objective."""
        self._objective = objective

    def subject_to(self, *constraints: Any) -> None:
        """Add constraints."""
        self._constraints.extend(constraints)

    def cuts(self, *given: Any, joint: SlackGroups | bool = False, where: Any = None) -> None:
        """Write out a family: ``cuts(rule)``, or ``cuts(oracle, rule)``."""
        oracle: Oracle | None = given[0] if len(given) > 1 else None
        written = self._written(oracle)
        if where is not None:
            kept = np.asarray(where)[written.example]
            which = (written.example[kept], written.delta[kept], written.loss[kept])
            written = Written(*which, oracle)
        group = group_of(joint, self.n_examples)
        if group is not None:
            written = _combined(written, self.sample_weight, group)
        else:
            written.weight = np.where(self.sample_weight > 0, self.sample_weight, 1.0)
        rule = given[-1](written)
        self.families.append((written, rule))
        self._constraints.extend(rule if isinstance(rule, list | tuple) else [rule])

    # ------------------------------------------------------------------ the truth
    def optimum(self) -> float:
        """Return the least objective."""
        return self._solved([])

    def value(self, weights: Floats) -> float:
        """Return the least objective at given weights."""
        return self._solved([self.w == weights])

    def _solved(self, more: list[Any]) -> float:
        problem = cp.Problem(cp.Minimize(self._objective), [*self._constraints, *more])
        with warnings.catch_warnings():  # given weights may leave a ball no inside
            warnings.filterwarnings("ignore", "Solution may be inaccurate")
            problem.solve(solver=cp.CLARABEL)
        if problem.status not in ("optimal", "optimal_inaccurate"):
            fail(f"the full problem of {self.formulation!r} is {problem.status}")
        return float(problem.value)

    def _written(self, oracle: Oracle | None) -> Written:
        """Return a row for every output that is not gold, of every example that counts.

        Of gold too, where an oracle is named that is asked about all outputs.
        """
        example, delta, loss = [], [], []
        every = oracle in (loss_augmented, slack_rescaled)
        for i in np.flatnonzero(self.sample_weight > 0).tolist():
            for k in range(len(self.case.losses[i])) if every else self._others(i):
                for good in self._good(oracle, i, k):
                    example.append(i)
                    delta.append(good - self.case.phi[i][k])
                    loss.append(self.case.losses[i][k])
        shape = (len(loss), self.n_features)
        return Written(
            np.array(example, np.int64), np.reshape(delta, shape), np.array(loss), oracle
        )

    def _others(self, i: int) -> list[int]:
        """Return the outputs of example i that are not gold, whether they cost something or not."""
        if isinstance(self.case.structure, References):
            return np.flatnonzero(self.case.losses[i] > 0).tolist()
        return [k for k in range(len(self.case.outputs[i])) if k != self.case.gold[i]]

    def _good(self, oracle: Oracle | None, i: int, k: int) -> list[Floats]:
        """Return the features of the right outputs that output k is compared with."""
        structure = self.case.structure
        if not isinstance(structure, References):
            return [self.case.phi[i][self.case.gold[i]]]
        good, y = self.case.Y[i], self.case.outputs[i][k]
        if oracle is nearest_reference:
            distance: Callable[[Any, Any], float] = structure.distance or structure.structure.loss
            good = [min(good, key=lambda g: distance(g, y))]
        return [dense(structure.joint_features(self.case.X[i], g)) for g in good]


def _combined(each: Written, sample_weight: Floats, group: Ints) -> Written:
    """Return every sum that takes at most one row of each example of a group: one slack's rows."""
    owner, delta, loss, margin = [], [], [], []
    for g in np.unique(group).tolist():
        owned = [np.flatnonzero(each.example == i) for i in np.flatnonzero(group == g)]
        choices = [[None, *rows.tolist()] for rows in owned if len(rows)]
        for chosen in product(*choices):
            which = np.array([r for r in chosen if r is not None], dtype=np.int64)
            weight = sample_weight[each.example[which]]
            owner.append(g)
            delta.append((weight * each.scale[which]) @ each.delta[which])
            loss.append(weight @ each.loss[which])
            margin.append(weight @ each.margin[which])
    total = Written(np.array(owner, np.int64), np.array(delta), np.array(loss), None)
    total.margin, total.weight = np.array(margin), np.ones(int(group[-1]) + 1)
    return total
