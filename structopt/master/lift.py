r"""From cuts to rows: a cut family's rule, canonicalised once, then applied to numbers.

A formulation writes a family as a rule over one cut,

    lambda cut: cut.delta @ w >= cut.loss - cut.of(xi)

Whatever the rule does, its rows are linear in what a cut carries, once ``cut.delta @ w`` is taken
as a variable of its own (the *projection*). So the rule is called once with CVXPY Parameters in
place of the numbers and lowered to a linear map, and the rows of any number of cuts are that map
applied to their numbers; nothing depends on the number of features. A rule that CVXPY cannot
parametrise (it is not DPP, or calls NumPy) is canonicalised batch by batch instead, at a cost in
proportion to the new cuts. The first batch goes both ways and must agree.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from structopt.arrays import Floats, Ints
from structopt.errors import IncompatibleError
from structopt.master.compile import affine_rows
from structopt.master.cuts import Cuts
from structopt.master.epigraph import Epigraphs
from structopt.master.question import (
    BUILT_IN,
    Answered,
    Lines,
    check,
    derive,
    multiples,
    numbers_of,
)
from structopt.master.rule import (
    CutNumber,
    CutView,
    DeltaView,
    FailedRuleError,
    MapSeen,
    NeedsBatchError,
    said,
    sides_of,
)
from structopt.master.template import MOVING, Template, assemble
from structopt.structures.base.oracles import Oracle, loss_augmented, slack_rescaled

logger = logging.getLogger(__name__)

_NUMBERS = ("loss", "margin", "scale")
_MOST_MULTIPLES = 16
_SAME = 1e-9
"""Share of the largest number up to which rows that are lowered in two ways count as equal."""


class Family:
    """One cut family of a master: its rule, the oracle that maximises it, and its linear map.

    Parameters
    ----------
    rule : callable
        Takes a :class:`~structopt.master.rule.CutView`, returns a constraint, or two that bound one
        expression from both sides.
    oracle : Oracle, optional
        By default the one whose question the rule asks.
    group : array of int, optional
        The group of every example, if a cut sums the answers of a group instead of belonging to one
        example (:mod:`structopt.formulations.slack_groups`).
    side : int, optional
        Which side of a rule with two sides this is.
    """

    oracle: Oracle
    answered: Answered | str
    """Factor and shift of the rule beside its oracle; what does not fit an oracle of the user's."""

    def __init__(self, rule: Callable[[CutView], Any], oracle: Oracle | None = None, *,
                 group: Ints | None = None, side: int | None = None) -> None:  # fmt: skip
        self.rule, self.group, self.named, self._side = rule, group, oracle, side
        self.numbers = ("loss",) if oracle is None else _NUMBERS
        self.where: NDArray[np.bool_] | None = None
        self.epigraphs, self._map = Epigraphs(), ""
        self.asked: Any = None

    @property
    def joint(self) -> bool:
        """Whether cuts are sums over groups of examples."""
        return self.group is not None

    @property
    def summed(self) -> bool | str:
        """What cuts are sums over: one example (False), all (True), or the groups of a digest."""
        if self.group is None or not self.group[-1]:
            return self.joint
        return _digest(self.group)

    @property
    def asks(self) -> tuple[str | bool, ...]:
        """What is asked, what cuts are sums over, and of which examples, if not of all."""
        some = () if self.where is None else (_digest(self.where),)
        return self.oracle.name, self.summed, *some

    def owners(self, n_examples: int) -> int:
        """Return how many things cuts belong to: examples, or groups of them."""
        return n_examples if self.group is None else int(self.group[-1]) + 1

    @property
    def margin_is_loss(self) -> bool:
        """Whether the rule was found to ask for the loss of each output: of gold too, then."""
        return self.named is None and self.oracle.base in (loss_augmented, slack_rescaled)

    def explore(
        self, weights: Any, slack_scale: Mapping[int, Floats] | None, n_owners: int
    ) -> list[Any]:
        """Look at what the rule holds besides rows; return the static constraints that it needs.

        These are of terms that are not affine, and of what ``cut.delta`` multiplies if that is not
        the weights but an affine map of the variables: `asked` is then equal to it.
        """
        self._weights, self._slack_scale, self._n_owners = weights, slack_scale, n_owners
        probe = self._probe(*numbers_of(self.named, joint=self.joint))
        projection = cp.Variable(len(probe), name="cut.delta @ w")
        delta = MapSeen(weights, projection)
        try:
            sides = sides_of(said(self.rule, self._view(delta, probe)))
        except NeedsBatchError:
            return []
        for expression, _ in sides:
            self.epigraphs.replaced(expression, projection)
        found = list(self.epigraphs.constraints)
        if len(delta.seen) > 1:
            raise IncompatibleError(
                f"In one rule cut.delta multiplies {len(delta.seen)} different things "
                f"({', '.join(str(each) for each in delta.seen.values())}): write "
                "cut.delta @ (their sum), or declare two families."
            )
        trusted = self.named is not None and self.named not in BUILT_IN  # is asked at w
        for name, expression in delta.seen.items() if not trusted else ():
            if name:
                self._map, self.asked = name, cp.Variable(weights.size, name="asked")
                found.append(self.asked == expression)
        return found

    def bind(
        self, weights: Any, slack_scale: Mapping[int, Floats] | None,
        columns: Mapping[int, int], size: int, n_owners: int,
    ) -> list[Family]:  # fmt: skip
        """Fix the columns, lower the rule to its linear map where CVXPY can, find its oracle.

        Return the family, or one for each side of a rule that names no oracle.
        """
        self._weights, self._slack_scale = weights, slack_scale
        self._columns, self._size, self._n_owners = columns, size, n_owners
        probe = self._probe(*numbers_of(self.named, joint=self.joint))
        if self.named is None and self._side is None and self._n_sides(probe) == 2:
            sides = [copy(self), copy(self)]
            for side, family in enumerate(sides):
                family._side = side
            given = (weights, slack_scale, columns, size, n_owners)
            return [bound for family in sides for bound in family.bind(*given)]
        self._template = self._make_template()
        if self._template is not None:
            free = replace(probe, margin=1.5 + 0.5 * probe.loss, scale=1.0 / probe.loss)
            if not _same_rows(self._template.rows(free), self._batch(free)):
                logger.info("template and batch disagree, using the batch")
                self._template = None
        if self.named is None:
            return self._derived(self._lines(probe)[0])
        self.oracle, self.answered = self.named, check(self._lines(probe), self.named)
        return [self]

    def _derived(self, line: Lines) -> list[Family]:
        """Find the oracle; return a family for each multiple of the loss that examples ask for."""
        kappa = np.asarray([f"{k:.9g}" for k in multiples(line)]).astype(float)
        mine = np.ones(len(kappa), dtype=bool) if self.where is None else self.where
        values = np.unique(kappa[mine])
        if len(values) <= 1 or line.odd:
            self.oracle, self.answered = derive(line, joint=self.joint)
            return [self]
        if len(values) > _MOST_MULTIPLES:
            raise IncompatibleError(
                f"The rule of a cut family asks for {len(values)} different multiples of the loss "
                f"(from {values[0]:g} to {values[-1]:g}), each a pass of its own over the data: "
                f"give examples at most {_MOST_MULTIPLES} of them."
            )
        found = []
        for value in values:
            part = copy(self)
            part.where = mine & (kappa == value)
            part.oracle, part.answered = derive(line.of(part.where), joint=False)
            found.append(part)
        return found

    def lift(self, cuts: Cuts) -> Cuts:
        """Return cuts with their rows."""
        return self._batch(cuts) if self._template is None else self._template.rows(cuts)

    def constraints(self, cuts: Cuts, deltas: Any) -> list[Any]:
        """Return the rule's own CVXPY constraints for a batch, for the reference backend."""
        cut = self._view(DeltaView(None, None, lambda: deltas), cuts)
        if self._side is not None:
            return [expression >= 0 for expression, _ in self._sides(cut)]
        rule = said(self.rule, cut)
        return list(rule) if isinstance(rule, list | tuple) else [rule]

    def _view(self, delta: DeltaView, cuts: Cuts) -> CutView:
        def of(variable: Any) -> Any:
            return self._per_owner(variable)[cuts.example]

        return CutView(delta, {name: getattr(cuts, name) for name in self.numbers}, of)

    def _sides(self, cut: CutView) -> list[tuple[Any, bool]]:
        """Return the rule's sides, all or the one that this family is."""
        self.epigraphs.begin()
        sides = [(self.epigraphs.replaced(e), same) for e, same in sides_of(said(self.rule, cut))]
        if self._side is None:
            return sides
        if len(sides) == 1:  # an equality
            sides = [(sides[0][0], False), (-sides[0][0], False)]
        return [sides[self._side]]

    def _n_sides(self, probe: Cuts) -> int:
        nothing = sp.csr_array((len(probe), self._weights.size))
        delta = DeltaView(self._weights, cp.Variable(len(probe)), lambda: nothing, self._map)
        cut = self._view(delta, probe)
        sides = self._sides(cut)
        return 2 if sides[0][1] else len(sides)

    # ------------------------------------------------------------------ reading
    def _probe(self, loss: Floats, margin: Floats, scale: Floats, of: Ints | None = None) -> Cuts:
        """Return cuts of some examples with sample numbers, those of an example together."""
        some = np.unique([0, self._n_owners // 2, self._n_owners - 1]) if of is None else of
        example, count = np.repeat(some, len(loss)), len(some)
        each = np.tile(loss, count), np.tile(margin, count), np.tile(scale, count)
        return Cuts(np.zeros_like(example), example, *each)

    def _lines(self, probe: Cuts) -> list[Lines]:
        """Return the rule's sides at sample losses, of every example."""
        count = int(np.sum(probe.example == probe.example[0]))
        sample = probe.take(np.arange(count))
        numbers = (sample.loss, sample.margin, sample.scale)
        if self._template is not None:
            sides = self._template.sides
            return [
                Lines(*numbers, *side.read(sample))
                for side in sides
                for _ in range(1 + side.equality)
            ]
        if self.looks_into_delta:
            odd = "cut.delta multiplies something else than the weights of m.weights()"
            return [Lines(*numbers, *(np.zeros((count, 1)),) * 2, odd)]
        everyone = np.arange(self._n_owners)
        lowered = self._lower_batch(self._probe(*numbers, of=everyone))
        first = np.repeat(count * everyone, count)  # the row of each example's first loss
        found = []
        for factor, extra, constant, equality in lowered:
            shape = (-1, count)
            moving = abs(extra - extra[first])
            odd = MOVING if moving.nnz and moving.max() > 0 else ""
            lines = factor.reshape(shape).T, -constant.reshape(shape).T, odd
            found += [Lines(*numbers, *lines)] * (2 if equality else 1)
        return found

    def _make_template(self) -> Template | None:
        self.looks_into_delta = False
        parameters = {name: CutNumber(1, name=name) for name in self.numbers}
        pick = CutNumber((1, self._n_owners), name="pick")
        projection = cp.Variable(1)

        def of(variable: Any) -> Any:
            return pick @ self._per_owner(variable)

        delta = DeltaView(self._weights, projection, None, self._map)
        cut = CutView(delta, parameters, of)
        try:
            sides = self._known(self._sides(cut), projection)
            if any(e.size != 1 or not e.is_dpp() or not e.is_affine() for e, _ in sides):
                return None
            return Template(
                sides, {**parameters, "pick": pick}, projection, self._columns, self._size
            )
        except NeedsBatchError:
            self.looks_into_delta = True
            return None
        except Exception as error:  # a rule may do anything NumPy can; the batch decides
            if isinstance(error, IncompatibleError) and not isinstance(error, FailedRuleError):
                raise
            logger.debug("no template for a rule: %s", error)
            return None

    def _batch(self, cuts: Cuts) -> Cuts:
        return assemble(cuts, self._lower_batch(cuts))

    def _lower_batch(self, cuts: Cuts) -> list[tuple[Floats, Any, Floats, bool]]:
        """Lower the rule for a batch; for each side factor, other columns, constant, equality."""
        count = len(cuts)
        projection = cp.Variable(count)
        deltas = partial(cuts.deltas, self._weights.size)
        cut = self._view(DeltaView(self._weights, projection, deltas, self._map), cuts)
        columns = {**self._columns, projection.id: self._size}
        lowered = []
        for expression, equality in self._known(self._sides(cut), projection):
            if expression.size != count or not expression.is_affine():
                raise IncompatibleError(
                    f"A cut family's rule must be affine and give one row per cut; this one gives "
                    f"{expression.size} rows for {count} cuts: {expression}."
                )
            coefficients, constant = affine_rows(expression, columns, self._size + count)
            own = coefficients[:, self._size :]
            if sp.coo_array(own).nnz and np.any(sp.coo_array(own).row != sp.coo_array(own).col):
                raise IncompatibleError("A cut family's rule may not mix the deltas of cuts.")
            lowered.append(
                (own.diagonal(), sp.csr_array(coefficients[:, : self._size]), constant, equality)
            )
        return lowered

    def _known(self, sides: list[tuple[Any, bool]], projection: Any) -> list[tuple[Any, bool]]:
        """Refuse rules over variables that the master does not have."""
        for expression, _ in sides:
            for variable in expression.variables():
                if variable is not projection and variable.id not in self._columns:
                    raise IncompatibleError(
                        f"A cut family uses the variable {variable.name()}, which is neither in "
                        "the objective nor in a constraint of the master; put it into one."
                    )
        return sides

    def _per_owner(self, given: Any) -> Any:
        """Return a per-example expression, slacks divided by the weight of their example."""
        expression = cp.Expression.cast_to_const(given)
        if expression.size == 1 < self._n_owners:
            expression = cp.sum(expression) * np.ones(self._n_owners)
        if expression.size != self._n_owners:
            raise IncompatibleError(
                f"cut.of() takes numbers or a variable with one entry per "
                f"{'group of a joint cut' if self.joint else 'example (m.slacks())'}; got size "
                f"{expression.size} instead of {self._n_owners}."
            )
        flat = cp.reshape(expression, (self._n_owners,), order="F")
        flat = expression if expression.ndim == 1 else flat
        if self._slack_scale is None or self.joint or expression.is_constant():
            return flat
        scale = self._slack_scale.get(expression.id if isinstance(given, cp.Variable) else -1)
        if scale is None:
            raise IncompatibleError(
                f"With sample weights cut.of() takes what m.slacks() returned, not {given}: the "
                "weights act on those slacks and would not reach a variable of your own."
            )
        return cp.multiply(scale, flat)


def _same_rows(a: Cuts, b: Cuts) -> bool:
    """Return whether rows agree, numbers of each kind to a share of the largest of it."""
    off = abs(a.extra - b.extra)
    if off.nnz and off.max() > _SAME * abs(b.extra).max():
        return False
    return all(_near(getattr(a, name), getattr(b, name)) for name in ("factor", "lower", "upper"))


def _near(one: Floats, other: Floats) -> bool:
    size = np.abs(other[np.isfinite(other)]).max(initial=0.0)
    return bool(np.allclose(one, other, 0.0, _SAME * size))


def _digest(numbers: NDArray[Any]) -> str:
    return hashlib.blake2b(numbers.tobytes(), digest_size=8).hexdigest()
