"""From numbers to places on the page: linear and logarithmic axes with round ticks.

>>> Scale(0.0, 10.0, 0.0, 100.0).at(2.5)
25.0
>>> [label for _, label in Scale(0.0, 10.0, 0.0, 100.0).ticks()]
['0', '2', '4', '6', '8', '10']
>>> [label for _, label in Scale(1e-4, 1.0, 0.0, 100.0, log=True).ticks()]
['0.0001', '0.001', '0.01', '0.1', '1']
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """A map from values ``low .. high`` to places ``start .. stop``.

    With `log` the map is logarithmic; with `whole` ticks stand at whole numbers only.
    """

    low: float
    high: float
    start: float
    stop: float
    log: bool = False
    whole: bool = False

    def at(self, value: float) -> float:
        """Return the place of a value; values outside the range land outside the frame."""
        low, high = self._inner(self.low), self._inner(self.high)
        share = (self._inner(value) - low) / (high - low)
        # Far outside the frame one place is as good as another, and SVG wants small numbers.
        return self.start + min(max(share, -9.0), 9.0) * (self.stop - self.start)

    def _inner(self, value: float) -> float:
        return math.log10(value) if self.log else value

    def ticks(self, most: int = 6) -> list[tuple[float, str]]:
        """Return at most about `most` round values inside the range, with their labels."""
        return self._decades(most) if self.log else self._steps(most)

    def _decades(self, most: int) -> list[tuple[float, str]]:
        first = math.ceil(math.log10(self.low) - 1e-9)
        last = math.floor(math.log10(self.high) + 1e-9)
        if last <= first + 1:  # at most two powers of ten inside: 2 and 5 times them as well
            powers = range(first - 1, last + 1)
            fine = (m * 10.0**p for p in powers for m in (1.0, 2.0, 5.0))
            return [(v, f"{v:g}") for v in fine if self.low <= v <= self.high]
        every = max(1, -(-(last - first + 1) // most))
        return [(10.0**p, f"{10.0**p:g}") for p in range(first, last + 1, every)]

    def _steps(self, most: int) -> list[tuple[float, str]]:
        rough = (self.high - self.low) / most
        unit = 10.0 ** math.floor(math.log10(rough))
        step = next(unit * m for m in (1, 2, 5, 10) if unit * m >= rough * (1 - 1e-9))
        step = max(step, 1.0) if self.whole else step
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        digits = max(0, -math.floor(math.log10(step) + 1e-9))
        largest = max(abs(self.low), abs(self.high))
        if largest >= 1e6 or digits > 6:
            # As many significant digits as tell one tick from the next.
            kind = f".{math.ceil(math.log10(largest / step)) + 1}g"
        else:
            kind = f",.{digits}f"
        return [(k * step, f"{k * step:{kind}}") for k in range(first, last + 1)]
