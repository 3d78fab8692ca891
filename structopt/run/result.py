"""What a run returns: one frozen object with named fields."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Literal

from structopt import names
from structopt.arrays import Floats
from structopt.run.certificate import Certificate
from structopt.run.events import Round

Stop = Literal[
    "optimal",
    "separated",
    "early_stopping",
    "max_iter",
    "time_limit",
    "interrupted",
    "callback",
    "stalled",
]


@dataclass(frozen=True)
class Result:
    """The best model of a run, the proof of its quality, and how it came about.

    Attributes
    ----------
    weights : array
        The weights with the lowest objective that any round certified; of online methods, which
        minimise none, those after the last epoch.
    certificate : Certificate
        Bounds on the objective, recomputed from the data.
    history : tuple of Round
        One record a round.
    status : str
        Why the run stopped: "optimal" (the certified gap reached the tolerance), "separated" (an
        online method's epoch made no mistake), "early_stopping" (no better weights on validation
        data for long), "max_iter", "time_limit", "interrupted" (Ctrl-C),
        "callback", or "stalled" (the solver's accuracy admits no further progress).
    seconds : float
        Wall time of the run.
    backend : str
        Who solved the master problems.
    cuts : CutSet
        The cuts that stood at the end, for warm starts.
    """

    weights: Floats
    certificate: Certificate
    history: tuple[Round, ...]
    status: Stop
    seconds: float
    backend: str
    cuts: Any

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the run as one self-contained HTML file."""
        names.load("write_report")(self, path)

    def __str__(self) -> str:
        c = self.certificate
        return (
            f"{self.status} after {len(self.history)} rounds and {self.seconds:.2f} s "
            f"({self.backend}): objective {c.primal:.6g}, {c}"
        )
