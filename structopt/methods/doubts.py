"""Answers of a pass beside the cuts of earlier ones: an oracle that was better before is not exact.

Every cut of the pool is an output that its oracle once gave. At the weights of a new pass none of
them may have a larger value than the new answer, and none a larger margin than the answer at w = 0.
The first costs the scores of all cuts, so it is looked at in rounds 1, 2, 4, 8, ... and before a
run ends; the second costs nothing.
"""

from __future__ import annotations

import numpy as np

from structopt.arrays import Floats
from structopt.engines.dataset import DataSet
from structopt.engines.trust import check_known
from structopt.master.cuts import Cuts
from structopt.master.declare import RestrictedMaster
from structopt.master.separation import Separation


class Doubts:
    """Compares the answers of passes with the cuts of a master.

    Parameters
    ----------
    master : RestrictedMaster
    data : DataSet
        Whose answers claim to be exact.
    """

    def __init__(self, master: RestrictedMaster, data: DataSet) -> None:
        self._master, self._data = master, data
        self._at_zero: dict[int, Floats] = {}

    def hear(self, x: Floats, separation: Separation) -> None:
        """Remember what was answered where all columns that oracles are asked about are 0."""
        asked = [self._master.program.asked_about(k) for k in range(len(self._master.families))]
        at_zero = not any(np.any(x[about]) for about in asked)
        if not self._at_zero and separation.exact and at_zero:
            self._at_zero = dict(enumerate(map(self._answered, separation.answered)))

    def check(self, x: Floats, separation: Separation) -> None:
        """Raise an OracleError if a cut of the pool is better than an answer at this point."""
        if not (self._data.exact and separation.exact):
            return
        cuts = self._master.pool.cuts
        for number, answers in enumerate(separation.answered):
            family = self._master.families[number]
            if isinstance(family.answered, str):  # an oracle that maximises something else
                continue
            weights = np.ascontiguousarray(x[self._master.program.asked_about(number)])
            size = self._data.term_size(weights)
            mine = np.flatnonzero(cuts.family == number)
            known = cuts if len(mine) == len(cuts) else cuts.take(mine)
            many = self._data.n_examples if family.joint else 1
            score = known.directions.dot(known.base, weights) if len(known) else np.zeros(0)
            value = _value(known, score)
            given = self._answered(answers)[known.example]
            check_known(family.oracle, known.example, value, given, many * size)
            if number in self._at_zero:
                at_zero, margin = self._at_zero[number], _value(known, 0.0 * score)
                check_known(family.oracle, known.example, margin, at_zero[known.example], 0.0)

    def _answered(self, answers: Cuts) -> Floats:
        """Return the value of every example's answer, -inf where there is none."""
        value = np.full(self._data.n_examples, -np.inf)
        value[answers.example] = _value(answers, answers.score)
        value[answers.example] += np.abs(answers.factor) * answers.excess
        return value


def _value(cuts: Cuts, score: Floats) -> Floats:
    """Return what each row asks for, but for what all rows of its example have in common."""
    below = np.isfinite(cuts.lower)
    side = np.where(below, cuts.lower, -cuts.upper)
    return np.asarray(side - np.where(below, 1.0, -1.0) * cuts.factor * score)
