"""How accurately the next master is solved, and when waiting for new cuts is over."""

from __future__ import annotations

_LOOSE, _TIGHT = 0.3, 1e-11
"""Relative master tolerances at most and at least."""
_SHARE = 0.8
"""The master's tolerance as a share of the current gap. On OCR letters, ten values of C from 0.01
to 1 as a path, 0.8 and 0.9 take 123 and 131 passes and 720 and 680 sweeps of the ascent."""

_STILL, _SETTLED, _SOON, _AGAIN, _SMALL = 5, 50, 12, 3, 1000
"""Rounds without a new cut that are enough: the first where solves repeat themselves. A moving
backend then hands over to an exact one, after the second; after the third while the pool has no
more cuts than the last, which an exact backend solves in milliseconds; after the fourth if such a
run started warm, with most of its cuts known. Ten values of C from 0.1 to 10 on 200 digit words
take 1.6 s with 2 to 5 there, and 1.9 s with 12 (LP-Struct; L1-M3N 2.5 both)."""


class Pace:
    """The tolerance of the next master, and the rounds in which nothing came of it.

    >>> pace = Pace()
    >>> pace.after(3, gap=0.1, tol=1e-3, restless=False)
    >>> round(pace.tolerance, 6), pace.idle
    (0.08, 0)
    """

    def __init__(self) -> None:
        self.tolerance, self.idle = _LOOSE, 0
        self.warm = False  # whether the run began with cuts of another

    def after(self, added: int, *, gap: float, tol: float, restless: bool) -> None:
        """Hear of a round: without new cuts only a tighter master can help.

        ``gap`` is that at the master's own weights: after a warm start, the best weights are those
        of another C, and a master that tries to be as good knows too few cuts for it. A solve that
        is ``restless`` (moving, or inaccurate) may change nothing however tight it is.
        """
        wanted = min(_LOOSE, max(_TIGHT, _SHARE * gap))
        if added:
            self.idle, self.tolerance = 0, wanted
            return
        if restless or self.tolerance <= max(_TIGHT, 1e-4 * tol):
            self.idle += 1
        self.tolerance = max(_TIGHT, 0.1 * min(self.tolerance, wanted))

    def over(self, cuts: int, *, moving: bool) -> bool:
        """Return whether rounds without a new cut were enough, with so many cuts in the pool."""
        if not moving:
            return self.idle >= _STILL
        if cuts > _SMALL:
            return self.idle >= _SETTLED
        return self.idle >= (_AGAIN if self.warm else _SOON)
