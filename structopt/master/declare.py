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

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Floats, Ints
from structopt.errors import IncompatibleError, InvalidInputError, StructoptError
from structopt.formulations.base import Formulation, WeightConstraints, groups_of
from structopt.formulations.given_weights import Fixed
from structopt.formulations.slack_groups import SlackGroups, group_of
from structopt.master.compile import compile_problem
from structopt.master.cuts import Cuts
from structopt.master.declared_checks import check_bounds, check_declared, check_places, check_rows
from structopt.master.evaluated import Declared
from structopt.master.lift import Family
from structopt.master.pool import CutPool
from structopt.master.program import Program
from structopt.master.split import Split, split
from structopt.structures.base.oracles import Oracle
from structopt.structures.base.parts import UNIT, Directions


class RestrictedMaster(Declared):
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
    names : callable, optional
        Returns (feature, label) of each weight.
    starts : array of int, optional
        Where the data's shards begin, and the end of the last.
    auto : callable, optional
        Returns how many groups share slacks by "auto", where the data live in other processes or on
        disk and every cut brings a row of its own; else each example has a slack.
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
        names: Callable[[], list[tuple[str, str]] | None] = lambda: None,
        starts: Ints | None = None,
        auto: Callable[[], int] | None = None,
    ) -> None:
        self._names, self._starts, self._auto = names, starts, auto
        self.n_examples, self.n_features = n_examples, n_features
        self.families: list[Family] = []
        self._base = base
        self.sample_weight = np.ones(n_examples) if sample_weight is None else sample_weight
        self._nonnegative = np.zeros(0, dtype=np.int64) if nonnegative is None else nonnegative
        self._weights = self._objective = None
        self._slacks, self._static = [], []
        self._slack_scale: dict[int, Floats] = {}

    # ------------------------------------------------------------------ declaring
    def declare(self, formulation: Formulation) -> None:
        """Let a formulation declare itself; an error of its own is told as such."""
        try:
            formulation.master(self)
        except (StructoptError, MemoryError):
            raise
        except Exception as error:
            raise IncompatibleError(
                f"{type(formulation).__name__}.master(m) failed: {type(error).__name__}: {error} "
                f"Here are {self.n_examples} examples and {self.n_features} weights."
            ) from error

    def weights(self, constraints: WeightConstraints | None = None, *, frozen: Any = None) -> Any:
        """Return the weight variable w; ``constraints(w)`` adds constraints on it.

        ``frozen`` holds some weights at given values: a :class:`~structopt.Fixed`, or what one is
        made of.
        """
        if self._weights is None:
            self._weights = cp.Variable(self.n_features, name="w")
            if len(self._nonnegative):
                check_places(self._nonnegative, self.n_features)
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

    def groups(self, by: str = "label") -> dict[str, Ints]:
        """Return the weights of each label, or of each feature, as positions in w.

        ``sum(cp.norm2(w[of]) for of in m.groups(by="feature").values())`` is a group lasso.
        """
        return groups_of(self._names(), by)

    def slacks(self, groups: SlackGroups = "n") -> Any:
        """Return a new variable xi >= 0 with one slack an example, or one a group of examples.

        With sample weights, xi_i stands for the weighted slack, so that ``sum(xi)`` means the
        weighted sum: ``cut.of(xi)`` divides by the weight. The slack of a group is that of the
        sum of its examples, for families with the same groups, ``m.cuts(rule, joint=groups)``.
        """
        group = self._group_of(groups)
        if group is not None:
            xi = cp.Variable(int(group[-1]) + 1, nonneg=True, name="xi")
            self._slacks.append(xi)
            return xi
        xi = cp.Variable(self.n_examples, nonneg=True, name="xi")
        positive = self.sample_weight > 0  # an example of weight 0 is never separated
        if np.any(self.sample_weight != 1.0):
            scale = np.divide(1.0, self.sample_weight, where=positive, out=np.ones(self.n_examples))
            self._slack_scale[xi.id] = scale
        self._slacks.append(xi)
        return xi

    def _group_of(self, groups: SlackGroups | bool) -> Ints | None:
        if groups == "auto" and self._auto is not None:
            groups = self._auto()
        return group_of(groups, self.n_examples, self._starts)

    def slack(self) -> Any:
        """Return a new variable with one slack for all examples, for joint families."""
        return self.slacks("one")

    def minimize(self, objective: Any) -> None:
        """Set the objective, a convex CVXPY expression."""
        self._objective = objective

    def subject_to(self, *constraints: Any) -> None:
        """Add constraints that hold whatever the cuts are."""
        self._static.extend(constraints)

    def cuts(
        self, *oracle_and_rule: Any, joint: SlackGroups | bool = False, where: Any = None
    ) -> None:
        """Declare a cut family, ``m.cuts(rule)`` or ``m.cuts(oracle, rule)``.

        The rule says which rows a cut becomes, and so which output is the most violated one: the
        oracle follows from it. One that is named must be the one that maximises the rule; one of
        the user's own is trusted. A joint family has one cut a pass and group: the sum over its
        examples whose hinge is positive; ``joint=True`` is one group, other groups are named as
        in :meth:`slacks`. ``where`` is a mask of the examples that a family is about (one family
        a task, say); all by default.
        """
        *oracle, rule = oracle_and_rule or (None,)
        named = all(isinstance(each, Oracle) for each in oracle)
        if len(oracle) > 1 or not named or isinstance(rule, Oracle) or not callable(rule):
            raise IncompatibleError(
                "Declare a cut family as m.cuts(rule) or m.cuts(oracle, rule), with a rule like "
                "lambda cut: cut.delta @ w >= cut.loss - cut.of(xi)."
            )
        group = self._group_of(joint)
        family = Family(rule, *oracle, group=group)
        if where is not None:
            family.where = np.asarray(where, dtype=bool)
            if family.where.shape != (self.n_examples,) or group is not None:
                raise IncompatibleError(
                    f"where= is a mask with one entry an example ({self.n_examples}), of a family "
                    f"that is not joint; got shape {family.where.shape}."
                )
        self.families.append(family)

    # ------------------------------------------------------------------ compiling
    def compile(self) -> Program:
        """Compile the declaration."""
        check_declared(self)
        self._explore()
        variables = [self._weights, *self._slacks]
        program = compile_problem(self._objective, self._static, variables)
        columns, size = dict(program.columns), program.size
        start = columns[self._weights.id]
        self.weight_columns = slice(start, start + self.n_features)
        self.slack_columns = _columns_of(self._slacks, columns)
        program = replace(program, weights=self.weight_columns, slacks=self.slack_columns)
        self.program = replace(program, split=self._split(program))
        check_bounds(self)
        self.columns, self.size = columns, size
        self._bind(columns, size)
        starts = {
            number: columns[family.asked.id]
            for number, family in enumerate(self.families)
            if family.asked is not None
        }
        self.program = replace(self.program, asked=starts)
        check_rows(self)
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
        check_declared(self)
        self._explore()
        columns, size = self._own_columns()
        self.slack_columns = _columns_of(self._slacks, columns)
        self._bind(columns, size)

    def _explore(self) -> None:
        """Declare what rules need besides rows."""
        weighted = bool(np.any(self.sample_weight != 1.0))
        scale = self._slack_scale if weighted else None
        for family in self.families:
            self._static += family.explore(self._weights, scale, family.owners(self.n_examples))

    def _bind(self, columns: dict[int, int], size: int) -> None:
        weighted = bool(np.any(self.sample_weight != 1.0))
        given = (self._weights, self._slack_scale if weighted else None, columns, size)
        self.families = [
            bound
            for family in self.families
            for bound in family.bind(*given, family.owners(self.n_examples))
        ]

    @property
    def asks(self) -> list[tuple[str | bool, ...]]:
        """What each family asks, and of which examples together."""
        return [family.asks for family in self.families]

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

    def _own_columns(self) -> tuple[dict[int, int], int]:
        self.columns = {}
        size = 0
        problem = cp.Problem(cp.Minimize(self._objective), self._static)
        for variable in [self._weights, *self._slacks, *problem.variables()]:
            if variable.id not in self.columns:
                self.columns[variable.id], size = size, size + variable.size
        return self.columns, size


def _columns_of(variables: list[Any], columns: dict[int, int]) -> NDArray[np.int64]:
    spans = [np.arange(columns[v.id], columns[v.id] + v.size) for v in variables]
    return np.concatenate(spans).astype(np.int64) if spans else np.zeros(0, dtype=np.int64)
