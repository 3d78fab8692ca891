r"""The objective at weights w, from what exact oracles answer there.

    P(w) = R(w) + sum_i c_i max(0, short_i),      short = side - factor (w . delta - excess).

A row ``factor * (w . delta) + gamma * xi >= side`` is short by that at the most violated output,
whose score may be lower than the answer's by its excess (:class:`~.shard.Answers`). One plain hinge
an example asks for no more (:func:`value_at`); slacks of any other rows are raised until these hold
(:func:`raise_slacks`), and the objective is taken there.

>>> import structopt as so
>>> answers = Answers(outputs=None, loss=np.array([1.0, 2.0]), score=np.array([0.25, np.inf]))
>>> found = value_at(so.loss_augmented, np.array([4.0, 4.0]), [answers], regulariser=0.5)
>>> found.hinges, found.value, found.exact
(array([0.75, 0.  ]), 3.5, True)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.errors import IncompatibleError
from structopt.master.cuts import Cuts
from structopt.master.declare import RestrictedMaster
from structopt.master.slacks import Slacks
from structopt.structures.base.oracles import Oracle
from structopt.structures.base.shard import Answers, excess_of


@dataclass(frozen=True)
class ValueAt:
    """An objective at some weights.

    Attributes
    ----------
    value : float
        P(w), from above.
    hinges : array
        (An upper bound on) every example's hinge.
    exact : bool
        Whether every oracle proved its answers; if not, `value` may be too low.
    """

    value: float
    hinges: Floats
    exact: bool


def value_at(oracle: Oracle, cost: Floats, answers: list[Answers], regulariser: float) -> ValueAt:
    """Return R(w) plus the weighted hinges of a pass over the data set at w."""
    loss = np.concatenate([a.loss for a in answers])
    score = np.concatenate([a.score for a in answers])
    with np.errstate(invalid="ignore"):
        short = shortfall(oracle.margin(loss), oracle.scale(loss), score, excess_of(answers))
    hinges = np.maximum(np.where(np.isfinite(score), short, 0.0), 0.0)
    exact = all(a.exact for a in answers)
    return ValueAt(regulariser + float(cost @ hinges), hinges, exact)


def shortfall(side: Any, factor: Any, score: Any, excess: Any) -> Any:
    """Return by how much ``factor * score`` stays below a side, for the true answers too."""
    return side - factor * score + np.abs(factor) * excess


def raise_slacks(
    master: RestrictedMaster, cuts: Cuts, excess: Floats, bare: Floats, raised: Floats
) -> float:
    """Raise slacks in ``raised`` until the rows hold, for the true answers too.

    ``bare`` is the point without slacks. Return the largest signed violation of rows without a
    slack, -inf if there are none.
    """
    is_slack = np.zeros(master.size, dtype=bool)
    is_slack[master.slack_columns] = True
    slacks = Slacks.of(cuts.extra, is_slack)
    tight = np.ones(len(cuts), dtype=bool)
    tight[slacks.row] = False
    if np.sum(~tight) < len(slacks.row):
        raise IncompatibleError("A cut may touch one slack; this rule touches several.")
    rest = cuts.extra @ bare
    below = shortfall(cuts.lower - rest, cuts.factor, cuts.score, excess)
    above = shortfall(rest - cuts.upper, -cuts.factor, cuts.score, excess)
    slacks.lift(raised, bare, below, above)
    return float(np.maximum(below, above)[tight].max(initial=-np.inf))
