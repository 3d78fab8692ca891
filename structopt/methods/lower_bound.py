r"""The lower bound of a cutting-plane run: from a master's multipliers, and from means of them.

Any multipliers y of the cuts, repaired, bound the optimum from below by the Lagrangian's minimum,
:mod:`structopt.master.lagrangian`. Multipliers of a backend that only moves towards its master's
solution circle around the best ones, so their weighted means are tried as well.
"""

from __future__ import annotations

import numpy as np

from structopt.arrays import Floats
from structopt.backends.base import MasterSolution
from structopt.master.cuts import Cuts
from structopt.master.lagrangian import Averages, Priced
from structopt.master.program import Program
from structopt.master.term_bound import lagrangian_of

_TRIES = 50
"""Means are tried every round at first, and every (rounds / _TRIES)th later on."""


class LowerBound:
    """Bounds from the masters of a run.

    Attributes
    ----------
    estimate : float
        A guess of the optimum from the last mean that gave the best bound; 0 before.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.lagrangian, self.averages = lagrangian_of(program), Averages()
        self.estimate = 0.0

    def of(self, cuts: Cuts, solution: MasterSolution, *, rounds: int, moving: bool) -> float:
        """Return the best bound that a master's multipliers and their means prove, NaN if none."""
        priced = self.lagrangian.price(cuts, solution.cut_duals, solution.static_duals)
        bound = self.lagrangian.value(priced, solution.x)
        static = solution.static_duals
        if len(cuts) == 0 and static is not None and np.any(static):
            # an interior point leaves traces of multipliers where nothing binds
            none = self.lagrangian.price(cuts, solution.cut_duals, 0.0 * static)
            bound = float(np.fmax(bound, self.lagrangian.value(none, solution.x)))
        if moving and solution.weight > 0.0:
            self.averages.add(priced, solution.weight)
            if rounds % max(1, rounds // _TRIES) == 0:
                for mean in self.averages.means():
                    value = self.lagrangian.value(mean, solution.x)
                    if value > bound:
                        bound, self.estimate = value, self._middle(mean, solution.x)
        return bound

    def _middle(self, mean: Priced, x: Floats) -> float:
        """Return an estimate of the optimum from averaged multipliers y and the master's x.

        With L(x, y) the Lagrangian, L(0, y) tends to be too low and L(x, y) too high: their mean.
        """
        here = self.program.objective(x) - float(mean.pull @ x)
        return mean.gain + 0.5 * (here + self.program.offset)
