r"""One oracle pass at a master's solution: which rows are violated, and the true objective there.

The objective at weights w is a minimum over the slacks, so the slacks are raised to what the exact
oracles ask for (:mod:`structopt.master.value`). That value is an upper bound on the optimum,
whatever the master's own slacks were.

Families without slacks are hard: where they are violated, the point moves towards a point that
satisfies them strictly, just far enough. Violations and objective are convex, so with v the largest
violation of a family at either end, ``(1 - t) v_inside + t v <= 0`` at the point
``(1 - t) inside + t x``, slacks included. The slacks there are then lowered to what the oracles ask
for at that point: interpolated ones charge ``1 - t`` of an inside slack to every example, even to
those whose margin is met with room to spare. (StructRMM on digits, C = 1000, weights that break a
bound by 0.0115: 3.0% above the optimum interpolated, and 0.5% in another run, lowered.)

Where slacks stand in other rows (a budget of all of them, say), master solutions may break these by
what the oracles find until the end. A point inside is then looked for where the master's own rows
have the most room, and the cuts that it breaks are found too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints
from structopt.engines.dataset import DataSet
from structopt.master.cuts import Cuts
from structopt.master.declare import RestrictedMaster
from structopt.master.inner import Inner, roomiest
from structopt.master.lift import Family
from structopt.master.value import raise_slacks, shortfall
from structopt.run.certificate import FEASIBLE
from structopt.structures.base.oracles import Oracle
from structopt.structures.base.parts import Directions
from structopt.structures.base.shard import Answers, excess_of

_DEEP = 1e-7
"""Room in every row from which a point counts as inside: a hundred times what rows may miss."""

_NEAR = 0.1
"""Share of the rows' sides by which a master's solution may break them where a point inside is
looked for: that is a programme of the master's size, and its cuts say little before."""


@dataclass(frozen=True)
class Inside:
    """A feasible point and its largest (negative) violation in each family without slacks.

    Where other columns are solved for, family -1 stands for all rows.
    """

    point: Floats
    violations: dict[int, float]


@dataclass(frozen=True)
class Separation:
    """What one pass found.

    Attributes
    ----------
    point : array
        The feasible point that was evaluated, over all columns.
    value : float
        The objective there; infinite if families without slacks are violated and no point that
        satisfies them is known.
    residual : float
        Violation of the static constraints there.
    violation : float
        The largest violation of a row at the master's own solution.
    violated : list of (Cuts, callable)
        The cuts whose rows are violated, by family, and who knows their directions.
    inside : Inside or None
        The point, if it satisfies all families without slacks strictly.
    exact : bool
        Whether every oracle proved its answers; if not, `value` may be too low.
    answered : tuple of Cuts
        All answers of the first pass, by family, with their rows.
    """

    point: Floats
    value: float
    residual: float
    violation: float
    violated: list[tuple[Cuts, Callable[[Cuts], Cuts]]]
    inside: Inside | None
    exact: bool
    rounding: float = 0.0
    """How much of `value` covers what oracles leave open (`Answers.excess`)."""
    answered: tuple[Cuts, ...] = ()
    asked: Mapping[int, list[Answers]] = field(default_factory=dict)
    """The oracles' answers that `answered` was made of, by family."""

    @cached_property
    def found(self) -> list[Cuts]:
        """The violated cuts, each family's in a batch, with rows and directions."""
        return [directed(cuts) for cuts, directed in self.violated]


def separate(
    master: RestrictedMaster,
    data: DataSet,
    x: Floats,
    inside: Inside | None = None,
    objective: Callable[[Floats], float] | None = None,
) -> Separation:
    """Ask every family's oracle at the weights in ``x``; ``inside`` is a point to retreat to.

    ``objective`` takes the place of the master's own, for a master that stands for another problem.
    """
    objective = master.objective if objective is None else objective
    if master.inner is not None:
        return _solved_for(master, master.inner, data, x, inside, objective)
    ask = _Asking(master, data, x)
    raised = x.copy()
    raised[master.slack_columns] = 0.0
    bare = raised.copy()
    found, lifted, worst = [], [], 0.0
    hard: dict[int, float] = {}
    for number in range(len(master.families)):
        cuts, directed = ask.rows(number)
        signed = raise_slacks(master, cuts, cuts.excess, bare, raised)
        lifted.append(cuts)
        if signed > -np.inf:
            hard[number] = signed
        violation, which = _violated(cuts, x)
        worst = max(worst, violation)
        if len(which):
            found.append((cuts.take(which), directed))
    exact = ask.exact()
    violated = {k: v for k, v in hard.items() if v > 0}
    if violated and inside is None:
        return Separation(
            raised,
            np.inf,
            max(violated.values()),
            worst,
            found,
            None,
            exact,
            answered=tuple(lifted),
            asked=ask.by_family(),
        )
    if violated and inside is not None:
        t = min(inside.violations[k] / (inside.violations[k] - v) for k, v in violated.items())
        raised = (1.0 - t) * inside.point + t * raised
        soft = [k for k, cuts in enumerate(lifted) if touches_slack(master, cuts)]
        raised, proven = _lowered(master, data, raised, soft)
        exact = exact and proven
    residual = master.residual(raised)
    here = Inside(raised, hard) if all(v < 0 for v in hard.values()) else None
    value = objective(raised)
    rounding = 0.0
    if not violated and any(np.any(cuts.excess > 0) for cuts in lifted):
        least = bare.copy()
        for cuts in lifted:
            raise_slacks(master, cuts, 0.0 * cuts.excess, bare, least)
        rounding = max(0.0, value - objective(least))
    every = tuple(lifted)
    return Separation(
        raised, value, residual, worst, found, here, exact, rounding, every, ask.by_family()
    )


def violations(cuts: Cuts, x: Floats) -> Floats:
    """Return by how much each row is violated at x, where the oracles were asked."""
    value = cuts.factor * cuts.score + cuts.extra @ x
    return np.asarray(np.maximum(cuts.lower - value, value - cuts.upper))


def _violated(cuts: Cuts, x: Floats) -> tuple[float, Ints]:
    """Return by how much rows are violated at x at most, and which of them are."""
    violation = violations(cuts, x)
    side = np.where(np.isfinite(cuts.lower), cuts.lower, cuts.upper)
    which = np.flatnonzero(violation > 1e-9 * np.maximum(1.0, np.abs(side)))
    return float(violation.max(initial=0.0)), which


def _solved_for(
    master: RestrictedMaster,
    inner: Inner,
    data: DataSet,
    x: Floats,
    inside: Inside | None,
    objective: Callable[[Floats], float],
) -> Separation:
    """Separate where the other columns must be solved for (:mod:`structopt.master.inner`)."""

    def best(x: Floats, lifted: list[Cuts]) -> tuple[Floats | None, float]:
        """Return the best point at the weights of x that keeps what was declared, and how well."""
        point = inner.best(x, lifted)
        if point is None:
            return None, np.inf
        for candidate in (point, inner.at_ends(point)):
            residual = max(master.residual(candidate), inner.broken(candidate, lifted))
            if residual <= FEASIBLE:
                return candidate, residual
        return None, residual

    ask = _Asking(master, data, x)
    lifted, found, worst = ask.all()
    every = tuple(lifted)
    (point, residual), exact, asked = best(x, lifted), ask.exact(), ask.by_family()
    if inside is None:
        inside = _inside(inner, x, lifted)
    lost = point is None and inside is None and worst <= _NEAR * _size(lifted)
    if lost and (roomy := _roomiest(master)) is not None:
        # weights at which the cuts so far leave room, and the cuts that these break
        there, more, _ = (elsewhere := _Asking(master, data, roomy)).all()
        inside, found = _inside(inner, roomy, there), [*found, *more]
        exact = exact and elsewhere.exact()
    if point is None and inside is not None:  # (1 - t) inside + t x, with violations of x itself
        deep = inner.deepest(x, lifted)  # the other columns of x are the backend's word
        near = [x] if deep is None else [x, deep[0]]
        most, end = min((inner.violation(u, lifted), k) for k, u in enumerate(near))
        t = (room := -inside.violations[-1]) / (room + most)
        mixed = (1.0 - t) * inside.point + t * near[end]
        lifted = (again := _Asking(master, data, mixed)).all()[0]
        point, residual = best(mixed, lifted)
        if point is None:
            point, residual = mixed, max(master.residual(mixed), inner.broken(mixed, lifted))
        exact = exact and again.exact()
    if point is None:
        return Separation(x, np.inf, worst, worst, found, None, exact, 0.0, every, asked)
    value = objective(point)
    return Separation(point, value, residual, worst, found, inside, exact, 0.0, every, asked)


def _size(lifted: list[Cuts]) -> float:
    """Return the largest number on the sides of rows, 1 at least."""
    sides = np.abs(np.concatenate([side for cuts in lifted for side in (cuts.lower, cuts.upper)]))
    return float(sides[np.isfinite(sides)].max(initial=1.0))


def _inside(inner: Inner, x: Floats, lifted: list[Cuts]) -> Inside | None:
    """Return a point at the weights of x with room in every row, None if there is none."""
    deep = inner.deepest(x, lifted)
    return None if deep is None or deep[1] <= _DEEP else Inside(deep[0], {-1: -deep[1]})


def _roomiest(master: RestrictedMaster) -> Floats | None:
    """Return the point at which a master's rows have the most room, None if they have none."""
    program, cuts = master.program, master.pool.cuts
    whole = replace(
        program,
        A=sp.csr_array(sp.vstack([program.A, cuts.matrix(program)])),
        lower=np.concatenate([program.lower, cuts.lower]),
        upper=np.concatenate([program.upper, cuts.upper]),
    )
    found = roomiest(whole, whole.lower == whole.upper)
    return None if found is None or found[1] <= _DEEP else found[0]


class _Asking:
    """The oracles' answers at one point, asked once each, and the rows that they give."""

    def __init__(self, master: RestrictedMaster, data: DataSet, x: Floats) -> None:
        self._master, self._data = master, data
        self._x = x
        self._answers: dict[tuple[Oracle, int], list[Answers]] = {}

    def by_family(self) -> dict[int, list[Answers]]:
        """Return the answers that each family asked for."""
        keys = [
            (family.oracle, self._master.program.asked_about(number).start)
            for number, family in enumerate(self._master.families)
        ]
        return {n: self._answers[key] for n, key in enumerate(keys) if key in self._answers}

    def all(self) -> tuple[list[Cuts], list[tuple[Cuts, Callable[[Cuts], Cuts]]], float]:
        """Return all families' rows, those violated with who knows directions, and the worst."""
        lifted, found, worst = [], [], 0.0
        for number in range(len(self._master.families)):
            cuts, directed = self.rows(number)
            lifted.append(cuts)
            violation, which = _violated(cuts, self._x)
            worst = max(worst, violation)
            if len(which):
                found.append((cuts.take(which), directed))
        return lifted, found, worst

    def rows(self, number: int) -> tuple[Cuts, Callable[[Cuts], Cuts]]:
        """Return the cuts of one family, one per owner, and who knows their directions."""
        family = self._master.families[number]
        about = self._master.program.asked_about(number)
        key = family.oracle, about.start
        if key not in self._answers:
            weights = np.ascontiguousarray(self._x[about])
            self._answers[key] = self._data.ask(family.oracle, weights)
        answers = self._answers[key]
        cuts, directed = _one_by_one(self._data, family.oracle, number, answers)
        if family.group is not None:
            cuts, directed = _summed(self._data, family, number, cuts, answers)
        if family.where is not None:
            cuts = cuts.take(np.flatnonzero(family.where[cuts.example]))
        if family.looks_into_delta:
            cuts, directed = directed(cuts), _as_it_is
        return family.lift(cuts), directed

    def exact(self) -> bool:
        """Return whether every oracle proved its answers."""
        return all(answer.exact for answers in self._answers.values() for answer in answers)


def _as_it_is(cuts: Cuts) -> Cuts:
    return cuts


def touches_slack(master: RestrictedMaster, cuts: Cuts) -> bool:
    """Return whether rows have slacks: they are soft then."""
    return bool(np.isin(cuts.extra.indices, master.slack_columns).any())


def _lowered(
    master: RestrictedMaster, data: DataSet, x: Floats, soft: list[int]
) -> tuple[Floats, bool]:
    """Lower the slacks of a feasible point to what the families that use them ask for there.

    Also say whether the oracles proved it.
    """
    ask = _Asking(master, data, x)
    bare = x.copy()
    bare[master.slack_columns] = 0.0
    raised = bare.copy()
    for number in soft:
        cuts, _ = ask.rows(number)
        raise_slacks(master, cuts, cuts.excess, bare, raised)
    return raised, ask.exact()


def _one_by_one(
    data: DataSet, oracle: Oracle, family: int, answers: list[Answers]
) -> tuple[Cuts, Callable[[Cuts], Cuts]]:
    loss = np.concatenate([a.loss for a in answers])
    score = np.concatenate([a.score for a in answers])
    which = np.flatnonzero(np.isfinite(score) & (data.sample_weight > 0))
    loss = loss[which]
    cuts = Cuts(
        np.full(len(which), family), which, loss, oracle.margin(loss), oracle.scale(loss),
        score=score[which], excess=excess_of(answers)[which],
    )  # fmt: skip

    def directed(some: Cuts) -> Cuts:
        directions, base = data.deltas(answers, some.example)
        return replace(some, directions=directions, base=base)

    return cuts, directed


def _summed(
    data: DataSet, family: Family, number: int, each: Cuts, answers: list[Answers]
) -> tuple[Cuts, Callable[[Cuts], Cuts]]:
    """Sum the cuts of each group of examples, those whose hinge is positive."""
    assert family.group is not None, "the family's cuts are sums"
    group, hinge = family.group, family.oracle.hinge(each.loss, each.score)
    most = np.maximum(shortfall(each.margin, each.scale, each.score, each.excess), 0.0)
    chosen = each.take(np.flatnonzero(hinge > 0))
    weight = data.sample_weight[chosen.example]
    owner, n_groups = group[chosen.example], int(group[-1]) + 1

    def total(values: Floats, of: Ints = owner) -> Floats:
        return np.bincount(of, values, minlength=n_groups).astype(np.float64, copy=False)

    everyone = data.sample_weight[each.example]
    sums = Cuts(
        np.full(n_groups, number),
        np.arange(n_groups),
        total(weight * chosen.loss),
        total(weight * chosen.margin),
        np.ones(n_groups),
        score=total(weight * chosen.scale * chosen.score),
        excess=total(everyone * (most - np.maximum(hinge, 0.0)), group[each.example]),
    )

    def summed(some: Cuts) -> Cuts:
        mine = np.isin(owner, some.example)
        edges = np.searchsorted(owner[mine], np.append(some.example, n_groups))
        multipliers = (weight * chosen.scale)[mine]
        rows = data.combined(answers, chosen.example[mine], multipliers, edges)
        return replace(some, directions=Directions.rows(0, len(some)), base=rows)

    return sums, summed
