r"""What slacks cost, as a dual ascent reads it: by the conjugate of the cost in their multipliers.

The price of one more unit of a slack begins at a knee and rises up to a cap,

    phi'(xi) = min(cap, knee + xi / give),      phi*(s) = give / 2 (s - knee)_+^2,   s <= cap,

where s is the sum of the multipliers of its rows. A linear cost c has knee = cap = c and give = 0;
a square p / 2 xi^2 has knee 0, give 1 / p and no cap; Huber's has all three.

>>> prices = Prices(cap=np.array([1.0, np.inf]), knee=np.array([1.0, 0.0]),
...                 give=np.array([0.0, 0.5]))
>>> prices.around(np.array([1.0, 3.0]))[2]  # the slacks that loads of 1 and 3 stand for
array([0. , 1.5])
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.master.program import Program


class Prices(NamedTuple):
    """The caps, knees and gives of slacks, or of groups."""

    cap: Floats
    knee: Floats
    give: Floats

    @classmethod
    def of(cls, program: Program) -> Prices:
        """Return the prices of the slacks of a programme that is separable in them."""
        cost, curvature = program.q[program.slacks], program.P.diagonal()[program.slacks]
        bent = curvature > 0
        give = np.where(bent, 1.0 / np.where(bent, curvature, 1.0), 0.0)
        return cls(np.where(bent, np.inf, cost), cost, give)

    def of_groups(self, groups: Ints) -> Prices:
        """Return the prices of groups: slacks by their number, then rows without a slack."""
        soft = groups < len(self.cap)
        free = np.full(len(groups), np.inf), np.full(len(groups), np.inf), np.zeros(len(groups))
        for mine, of_slacks in zip(free, self, strict=True):
            mine[soft] = of_slacks[groups[soft]]
        return Prices(*free)

    def around(self, load: Floats) -> tuple[Floats, Floats, Floats]:
        """Return where the conjugate is one quadratic around loads: up to where, its curvature.

        Also its slope there, which is the slack.
        """
        over = load > self.knee
        below = np.where((self.give > 0) & ~over, self.knee, self.cap)
        bent = np.where(over, self.give, 0.0)
        return below, bent, np.where(over, self.give * np.where(over, load - self.knee, 0.0), 0.0)
