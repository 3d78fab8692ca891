r"""When to begin anew: restarts on the fixed-point error |T(z) - z|.

Halpern's iteration pulls every iterate towards its anchor z0, with a weight 1/(k + 2) that falls
with the steps k since. Near a solution of a linear programme, where the distance to the solutions
is a multiple of the error, that is soon too much: the run is begun anew from T(z), with T(z) as
anchor, when the error fell to a fifth; when it fell to a half and rises again; or when the run is
36% of all steps so far. (The constants are cuPDLPx'.) The image T(z) is what is restarted from,
measured and certified: bounds and signs hold there, and it settles on an active set long before the
anchored iterates do.

>>> rule = Restart()
>>> rule.due(error=0.3, first=1.0, inner=40, total=400)   # fell to 0.3
False
>>> rule.due(error=0.4, first=1.0, inner=80, total=440)   # and rises again
True
"""

from __future__ import annotations

import math

SUFFICIENT, NECESSARY, ARTIFICIAL = 0.2, 0.5, 0.36


class Restart:
    """The rule, which remembers the error at the last look."""

    def __init__(self) -> None:
        self._before = math.inf

    def due(self, error: float, first: float, inner: float, total: float) -> bool:
        """Whether to restart; ``first`` is the error at the last restart."""
        fell = error <= SUFFICIENT * first
        turned = error <= NECESSARY * first and error > self._before
        if fell or turned or inner >= ARTIFICIAL * total:
            self._before = math.inf
            return True
        self._before = error
        return False
