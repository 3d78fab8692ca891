r"""The restricted master problem: declare once, compile once, lift cuts to rows, append.

A formulation receives it as ``m`` and says in CVXPY what is minimised and which rows a cut
becomes. After :meth:`RestrictedMaster.compile` the declaration is a
:class:`~structopt.master.program.Program`, and cuts that oracles find become
:class:`~structopt.master.cuts.Cuts` with rows at a cost in proportion to the new cuts.

>>> import cvxpy as cp, numpy as np, scipy.sparse as sp
>>> m = RestrictedMaster(n_examples=2, n_features=3)
>>> w, xi = m.weights(), m.slacks()
>>> m.minimize(cp.norm1(w) + cp.sum(xi))
>>> m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
>>> p = m.compile()
>>> p.l1[p.weights], p.l1[p.slacks]
(array([1., 1., 1.]), array([0., 0.]))
>>> direction = Directions.entries(sp.csr_array(np.array([[1.0, 0.0, -1.0]])))
>>> rows = m.add(Cuts(np.array([0]), np.array([1]), *np.array([[2.0], [2.0], [1.0]]),
...                   directions=direction, base=UNIT))
>>> row = rows.matrix(p).toarray()[0]
>>> row[p.weights], row[p.slacks], rows.lower
(array([ 1.,  0., -1.]), array([0., 1.]), array([2.]))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.add_expr import AddExpression
from numpy.typing import NDArray

from structopt.arrays import Floats, Ints
from structopt.errors import IncompatibleError, InfeasibleError, InvalidInputError
from structopt.formulations.base import WeightConstraints
from structopt.formulations.given_weights import Fixed
from structopt.master.compile import compile_problem
from structopt.master.cones import Cones
from structopt.master.cuts import Cuts
from structopt.master.inner import Inner
from structopt.master.lift import Family
from structopt.master.monotone import rises
from structopt.master.pool import CutPool
from structopt.master.program import Program
from structopt.master.retreat import Retreat
from structopt.master.split import Split, split
from structopt.structures.base.oracles import Oracle
from structopt.structures.base.parts import UNIT, Directions


class RestrictedMaster:
    """A master problem under declaration, then compiled, then growing.

    Parameters
    ----------
    n_examples, n_features : int
    sample_weight : array, optional
        Factor of each example's slack.
    base : sparse matrix, optional
        The data set's base matrix, when its directions come as parts.
    nonnegative : array of int, optional
        Weights that the structure wants >= 0.
    """

    program: Program
    pool: CutPool

    def __init__(
        self,
        n_examples: int,
        n_features: int,
        *,
        sample_weight: Floats | None = None,
        base: Any = None,
        nonnegative: Ints | None = None,
    ) -> None:
        self.n_examples, self.n_features = n_examples, n_features
        self.families: list[Family] = []
        self._base = base
        self.sample_weight = np.ones(n_examples) if sample_weight is None else sample_weight
        self._nonnegative = np.zeros(0, dtype=np.int64) if nonnegative is None else nonnegative
        self._weights: Any = None
        self._slacks: list[Any] = []
        self._slack_scale: dict[int, Floats] = {}
        self._objective: Any = None
        self._static: list[Any] = []

    # ------------------------------------------------------------------ declaring
    def weights(self, constraints: WeightConstraints | None = None, *, frozen: Any = None) -> Any:
        """Return the weight variable w; ``constraints(w)`` adds constraints on it.

        ``frozen`` holds some weights at given values: a :class:`~structopt.Fixed`, or what one is
        made of.
        """
        if self._weights is None:
            self._weights = cp.Variable(self.n_features, name="w")
            if len(self._nonnegative):
                self.subject_to(self._weights[self._nonnegative] >= 0)
        if constraints is not None:
            try:
                given = constraints(self._weights)
            except TypeError as error:
                raise InvalidInputError(f"constraints(w) failed: {error}") from error
            if not isinstance(given, Sequence):
                raise InvalidInputError(
                    f"constraints must return a list of CVXPY constraints on w; got {given!r}."
                )
            self.subject_to(*given)
        if frozen is not None:
            fixed = frozen if isinstance(frozen, Fixed) else Fixed(frozen)
            self.subject_to(*fixed(self._weights))
        return self._weights

    def slacks(self) -> Any:
        """Return a new variable xi >= 0 with one slack an example.

        With sample weights, xi_i stands for the weighted slack, so that ``sum(xi)`` means the
        weighted sum: ``cut.of(xi)`` divides by the weight.
        """
        xi = cp.Variable(self.n_examples, nonneg=True, name="xi")
        positive = self.sample_weight > 0  # an example of weight 0 is never separated
        if np.any(self.sample_weight != 1.0):
            scale = np.divide(1.0, self.sample_weight, where=positive, out=np.ones(self.n_examples))
            self._slack_scale[xi.id] = scale
        self._slacks.append(xi)
        return xi

    def slack(self) -> Any:
        """Return a new variable with one slack for all examples, for joint families."""
        xi = cp.Variable(1, nonneg=True, name="xi")
        self._slacks.append(xi)
        return xi

    def minimize(self, objective: Any) -> None:
        """Set the objective, a convex CVXPY expression."""
        self._objective = objective

    def subject_to(self, *constraints: Any) -> None:
        """Add constraints that hold whatever the cuts are."""
        self._static.extend(constraints)

    def cuts(self, *oracle_and_rule: Any, joint: bool = False) -> None:
        """Declare a cut family, ``m.cuts(rule)`` or ``m.cuts(oracle, rule)``.

        The rule says which rows a cut becomes, and so which output is the most violated one: the
        oracle follows from it. One that is named must be the one that maximises the rule; one of
        the user's own is trusted. A joint family has one cut a pass: the sum over all examples
        whose hinge is positive.
        """
        *oracle, rule = oracle_and_rule or (None,)
        named = all(isinstance(each, Oracle) for each in oracle)
        if len(oracle) > 1 or not named or isinstance(rule, Oracle) or not callable(rule):
            raise IncompatibleError(
                "Declare a cut family as m.cuts(rule) or m.cuts(oracle, rule), with a rule like "
                "lambda cut: cut.delta @ w >= cut.loss - cut.of(xi)."
            )
        self.families.append(Family(rule, *oracle, joint=joint))

    # ------------------------------------------------------------------ compiling
    def compile(self) -> Program:
        """Compile the declaration."""
        self._check_declared()
        variables = [self._weights, *self._slacks]
        program = compile_problem(self._objective, self._static, variables)
        columns, size = dict(program.columns), program.size
        start = columns[self._weights.id]
        self.weight_columns = slice(start, start + self.n_features)
        self.slack_columns = _columns_of(self._slacks, columns)
        program = replace(program, weights=self.weight_columns, slacks=self.slack_columns)
        self.program = replace(program, split=self._split(program))
        self._check_bounds(self.program)
        self.columns, self.size = columns, size
        self._bind(columns, size)
        joint = all(family.joint for family in self.families)
        self.pool = CutPool(None if joint else self._base, self.n_features, size)
        return self.program

    def _split(self, program: Program) -> Split | None:
        """Return the terms of a programme that are known in closed form, and the rest of it."""
        if not program.static.shape[0]:  # it is separable as it is
            return None
        variables = [self._weights, *self._slacks]
        found = split(self._objective, self._static, variables, program.columns, program.size)
        if found is None:
            return None
        return replace(
            found, plain=replace(found.plain, weights=program.weights, slacks=program.slacks)
        )

    def read(self) -> None:
        """Find out what the cut families ask, and nothing else: the objective is not compiled."""
        self._check_declared()
        columns, size = self._own_columns()
        self.slack_columns = _columns_of(self._slacks, columns)
        self._bind(columns, size)

    def _bind(self, columns: dict[int, int], size: int) -> None:
        weighted = bool(np.any(self.sample_weight != 1.0))
        given = (self._weights, self._slack_scale if weighted else None, columns, size)
        self.families = [
            bound
            for family in self.families
            for bound in family.bind(*given, 1 if family.joint else self.n_examples)
        ]

    def samples(self) -> list[Cuts]:
        """Return one row of each family, with an empty direction, to judge its shape by."""
        nothing = Directions(np.zeros(2, np.int64), *(np.zeros(0, np.int64),) * 2, np.zeros(0))
        zero, one = np.zeros(1, dtype=np.int64), np.ones(1)
        sample = Cuts(zero, zero, one, one, one, directions=nothing, base=UNIT)
        return [family.lift(sample) for family in self.families]

    # ------------------------------------------------------------------ growing
    def lift(self, cuts: Cuts) -> Cuts:
        """Return cuts of one family with their rows, without adding them."""
        return self.families[int(cuts.family[0])].lift(cuts) if len(cuts) else cuts

    def add(self, cuts: Cuts) -> Cuts:
        """Add the cuts of one family that are not in the pool yet; return these."""
        return self.pool.add(self.lift(cuts) if cuts.extra is None else cuts)

    def take_over(self, other: RestrictedMaster) -> bool:
        """Take over another master's cuts; say whether their rows are the same here.

        The other one must be for the same data, with the same families, and is used up.
        """
        pool = self.pool = other.pool
        before = pool.cuts
        order = [np.flatnonzero(before.family == number) for number in range(len(self.families))]
        lifted = [f.lift(before.take(w)) for f, w in zip(self.families, order, strict=True)]
        pool.lift_again(lifted, np.argsort(np.concatenate(order)))
        return (
            self.weight_columns == other.weight_columns
            and np.array_equal(self.slack_columns, other.slack_columns)
            and pool.cuts.same_rows(before)
        )

    def problem(self) -> tuple[Any, list[tuple[NDArray[np.bool_], list[Any]]]]:
        """Rebuild the whole CVXPY problem; also each family's cuts and their constraints."""
        cuts, blocks = self.pool.cuts, []
        for number, family in enumerate(self.families):
            mine = cuts.family == number
            if np.any(mine):
                some = cuts.take(np.flatnonzero(mine))
                blocks.append((mine, family.constraints(some, some.deltas(self.n_features))))
        constraints = self._static + [c for _, block in blocks for c in block]
        return cp.Problem(cp.Minimize(self._objective), constraints), blocks

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
        mine = {self._weights.id}
        static = [c for c in self._static if not alone or {v.id for v in c.variables()} <= mine]
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
        return Inner(self.program, self.declared)

    @cached_property
    def retreat(self) -> Retreat:
        """How weights are moved into the static constraints that hold of them alone."""
        mine = {self._weights.id}
        alone = [c for c in self._static if {v.id for v in c.variables()} <= mine]
        return Retreat(self._weights, alone)

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

    # ------------------------------------------------------------------ checks
    def _check_declared(self) -> None:
        if self._weights is None or self._objective is None or not self.families:
            raise IncompatibleError(
                "A formulation's master(m) must call m.weights(), m.minimize(...) and m.cuts(...)."
            )
        problem = cp.Problem(cp.Minimize(self._objective), self._static)
        if parameters := problem.parameters():
            raise IncompatibleError(
                f"The objective or a constraint holds the cp.Parameter {parameters[0]}: a master "
                "is compiled once, so write its number instead."
            )
        self._check_weighted()
        if not problem.is_dcp():
            raise IncompatibleError(
                "The objective or a constraint is not convex by CVXPY's rules: "
                f"{self._objective}. Write it with convex atoms."
            )

    def _check_weighted(self) -> None:
        """Refuse sample weights where they would not mean that an example is repeated."""
        if np.all(self.sample_weight == 1.0):
            return
        mine = {xi.id for xi in self._slacks}
        whole = [self._objective, *(side for c in self._static for side in c.args)]
        terms = [term for expression in whole for term in _terms(expression)]
        bent = [t for t in terms if {v.id for v in t.variables()} & mine and not t.is_affine()]
        if bent:
            raise IncompatibleError(
                f"With sample weights the slacks of m.slacks() must stand in sums: {bent[0]} is "
                "not linear in them, and a weight would not mean that an example is repeated. "
                "Repeat the examples instead."
            )

    def _check_bounds(self, program: Program) -> None:
        clash = np.flatnonzero(program.lb > program.ub)
        if len(clash):
            j = int(clash[0])
            start = program.weights.start
            what = f"weight {j - start}" if start <= j < program.weights.stop else f"column {j}"
            raise InfeasibleError(
                f"The constraints contradict each other: {what} must be >= {program.lb[j]:g} and "
                f"<= {program.ub[j]:g}. Relax one of them."
            )

    def _own_columns(self) -> tuple[dict[int, int], int]:
        self.columns = {}
        size = 0
        problem = cp.Problem(cp.Minimize(self._objective), self._static)
        for variable in [self._weights, *self._slacks, *problem.variables()]:
            if variable.id not in self.columns:
                self.columns[variable.id], size = size, size + variable.size
        return self.columns, size


def _share_of(constraint: Any) -> float:
    """Return the violation of a constraint as a share of its sides, or of its variables if larger.

    Of these a millionth counts, as in `Program.residual`.
    """
    sides = [float(np.abs(side.value).max(initial=0.0)) for side in constraint.args]
    variables = [float(np.abs(v.value).max(initial=0.0)) for v in constraint.variables()]
    violation = float(np.max(constraint.violation(), initial=0.0))
    size = max([*sides, *(1e-6 * each for each in variables)])
    return violation / max(size, 1e-300) if violation > 0 else 0.0


def _columns_of(variables: list[Any], columns: dict[int, int]) -> NDArray[np.int64]:
    spans = [np.arange(columns[v.id], columns[v.id] + v.size) for v in variables]
    return np.concatenate(spans).astype(np.int64) if spans else np.zeros(0, dtype=np.int64)


def _terms(expression: Any) -> list[Any]:
    """Return what an expression is a sum of."""
    if isinstance(expression, AddExpression):
        return [term for part in expression.args for term in _terms(part)]
    return [expression]
