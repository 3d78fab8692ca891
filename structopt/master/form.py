r"""The form that online and dual methods learn: a separable regulariser plus weighted hinges.

    P(w) = R(w) + sum_i c_i max(0, max_y margin_i(y) - scale_i(y) w . delta_i(y)),
    R(w) = sum_j 1/2 p_j w_j^2 + l1_j |w_j|,      lb <= w <= ub,
    or R(w) = 0 on  |w|_1 <= radius, w_J >= 0.

It is recognised in the compiled programme, whoever declared it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from structopt.arrays import Floats
from structopt.engines.dataset import DataSet
from structopt.errors import IncompatibleError
from structopt.master.ball import l1_radius
from structopt.master.cuts import Cuts
from structopt.master.declare import RestrictedMaster
from structopt.master.program import Program
from structopt.master.value import ValueAt, value_at
from structopt.structures.base.oracles import Oracle
from structopt.structures.base.shard import Answers


@dataclass(frozen=True)
class HingeForm:
    """A recognised objective.

    Attributes
    ----------
    oracle : Oracle
        Finds the y of the largest hinge.
    cost : array
        c_i, sample weights included.
    curvature, l1, lb, ub : arrays
        The regulariser and the bounds of the weights.
    radius : float
        Of the l1 ball that the weights keep to, if it is finite.
    """

    oracle: Oracle
    cost: Floats
    curvature: Floats
    l1: Floats
    lb: Floats
    ub: Floats
    radius: float = np.inf

    @classmethod
    def of(
        cls, master: RestrictedMaster, data: DataSet, method: str, *, ball: bool = False
    ) -> HingeForm:
        """Recognise the form in a compiled master, or refuse in one sentence.

        ``ball`` says whether the method also learns on an l1 ball.
        """
        learns = "a separable regulariser plus one hinge an example"
        radius, declared = None, master.program
        if ball and declared.A.shape[0]:
            radius = l1_radius(declared)
            if radius is not None and (np.any(declared.P.diagonal()) or np.any(declared.l1)):
                raise IncompatibleError(
                    f"{_lead(method, learns)}on an l1 ball the objective must be linear in the "
                    "slacks alone."
                )
        program = hinge_program(master, method, learns, static=radius is not None, joint=False)
        weights = program.weights
        return cls(
            oracle=master.families[0].oracle,
            cost=program.q[program.slacks] * data.sample_weight,
            curvature=program.P.diagonal()[weights],
            l1=program.l1[weights],
            lb=program.lb[weights],
            ub=program.ub[weights],
            radius=np.inf if radius is None else radius,
        )

    @property
    def is_ridge(self) -> bool:
        """Whether the regulariser is a pure quadratic without bounds."""
        free = np.isneginf(self.lb) & np.isposinf(self.ub)
        return bool(np.all(self.curvature > 0) and not np.any(self.l1) and np.all(free))

    def regulariser(self, weights: Floats) -> float:
        """Return R(w)."""
        return float(0.5 * self.curvature @ (weights * weights) + self.l1 @ np.abs(weights))

    def at(self, weights: Floats, answers: list[Answers]) -> ValueAt:
        """Return P(w) and the hinges from a pass over the data set."""
        return value_at(self.oracle, self.cost, answers, self.regulariser(weights))

    def value(self, weights: Floats, data: DataSet) -> float:
        """Return P(w) from one exact oracle pass; infinite where w breaks its bounds."""
        if np.any(weights < self.lb) or np.any(weights > self.ub):
            return np.inf
        return self.at(weights, data.ask(self.oracle, weights)).value


def _lead(method: str, learns: str) -> str:
    return f"The method {method!r} learns {learns}: "


def hinge_program(
    master: RestrictedMaster, method: str, learns: str, *, static: bool, joint: bool
) -> Program:
    """Return the compiled programme if it is a separable regulariser plus plain hinges, or refuse.

    ``learns`` says in the refusal what the method takes. ``static`` allows constraints that keep
    off the slacks, ``joint`` one slack for all examples.
    """
    lead, program = _lead(method, learns), master.program
    if program.is_conic or program.diagonal is None:
        raise IncompatibleError(lead + "this objective is not separable.")
    slack, others = program.slacks, np.ones(program.size, dtype=bool)
    others[slack] = others[program.weights] = False
    if not static and (program.A.shape[0] or np.any(others)):
        raise IncompatibleError(lead + "there are other variables or constraints.")
    beside = others.copy()
    beside[slack] = True
    if (
        np.any(program.l1[beside])
        or np.any(program.q[others])
        or np.any(program.q[program.weights])
    ):
        raise IncompatibleError(lead + "this objective has other terms.")
    if program.offset:
        raise IncompatibleError(
            f"{lead}this objective has the constant {program.offset:g}, which changes nothing: "
            "leave it out."
        )
    if np.any(program.diagonal[beside]):
        raise IncompatibleError(lead + "this objective has other quadratic terms.")
    own = np.all(program.lb[slack] == 0) and np.all(np.isposinf(program.ub[slack]))
    if not own or program.A[:, slack].nnz:
        raise IncompatibleError(lead + "another constraint touches the slacks.")
    if (reason := other_than_hinges(master)) is not None:
        raise IncompatibleError(f"{lead}{reason}.")
    if master.families[0].joint and not joint:
        raise IncompatibleError(lead + "this one sums several into one cut.")
    return program


def other_than_hinges(master: RestrictedMaster) -> str | None:
    """Return why a master's cuts are not one plain hinge an example, or None if they are.

    A plain family's rows read ``scale * (w . delta) + xi_i / weight_i >= margin``, with the margin
    and scale of its oracle and nothing else.
    """
    if any(family.asked is not None for family in master.families):
        return "cut.delta multiplies something else than the weights"
    if any(family.where is not None for family in master.families):
        return "a cut family is about some examples only"
    if len(master.families) > 1:
        return f"it declares {len(master.families)} cut families"
    family = master.families[0]
    owners = family.owners(master.n_examples)
    answered = family.answered
    if isinstance(answered, str):
        return answered
    if not answered.plain or len(answered.factor) < owners:
        return "the rule of its cut family is not the margin of its oracle alone"
    ones = np.ones(owners)
    who = np.arange(owners)
    extra = family.lift(Cuts(0 * who, who, ones, ones, ones)).extra
    weight = ones if family.joint else np.where(master.sample_weight > 0, master.sample_weight, 1.0)
    own = (
        len(master.slack_columns) == owners
        and np.array_equal(extra.indptr, np.arange(owners + 1))
        and np.array_equal(extra.indices, master.slack_columns)
        and np.allclose(extra.data * weight, 1.0, 1e-12, 0.0)
    )
    return None if own else "the rule of its cut family must touch the slack of its example alone"
