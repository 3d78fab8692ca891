r"""The primal weight omega: how long steps in x are, compared with steps in y.

    tau = eta / omega,    sigma = eta omega

It should be |dy| / |dx|, the distances both halves have to go; what they went since the last
restart stands for those. A controller follows it on the logarithm, with e = log(|dy| / |dx| /
omega): a share 0.99 of e now, 0.01 of its decaying sum, none of its change (the constants of
cuPDLPx), and never more than a factor of e^2 at once. Its second rule, to give up on a weight while
primal and dual residual are far apart, is left out: where all columns are bounded one residual is 0
and the weight would freeze.

>>> weight = Weight(1.0)
>>> weight.moved(1.0, 2.0)
>>> round(weight.value, 3)  # 2^0.99 * 2^0.01
2.0
"""

from __future__ import annotations

import math

PROPORTIONAL, INTEGRAL, DECAY, MOST = 0.99, 0.01, 0.3, 2.0
SMALLEST, LARGEST = 1e-16, 1e12
"""Movements outside tell nothing but rounding, or that the iterates run away."""


class Weight:
    """The weight, and the errors it was led by."""

    def __init__(self, value: float) -> None:
        self.value = value
        self._sum = 0.0

    def moved(self, x: float, y: float) -> None:
        """Follow the lengths of the way gone since the last restart."""
        if not (SMALLEST < x < LARGEST and SMALLEST < y < LARGEST):
            return
        error = math.log(y / x / self.value)
        self._sum = DECAY * self._sum + error
        change = PROPORTIONAL * error + INTEGRAL * self._sum
        self.value *= math.exp(max(-MOST, min(MOST, change)))


def from_norms(cost: float, right: float) -> float:
    """Return the weight before anything has moved: PDLP's guess |q| / |sides|."""
    return cost / right if cost > 0 and right > 0 else 1.0
