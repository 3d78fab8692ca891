"""What a run returns: one frozen object with named fields."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from structopt import names
from structopt.arrays import Floats
from structopt.run.certificate import Certificate
from structopt.run.events import Round
from structopt.run.notebook import card, number

Stop = Literal[
    "optimal",
    "separated",
    "stationary",
    "early_stopping",
    "max_iter",
    "time_limit",
    "interrupted",
    "callback",
    "stalled",
]

STATUSES: dict[Stop, str] = {
    "optimal": "The gap reached the tolerance; the certificate says whether it is proven.",
    "separated": "An epoch made no mistake.",
    "stationary": "No convex upper bound leads lower by more than the tolerance.",
    "early_stopping": "Weights got no better on validation data for long; these were the best.",
    "max_iter": "The limit on rounds was reached first.",
    "time_limit": "The time limit was reached first.",
    "interrupted": "The run was interrupted; this is the best model so far.",
    "callback": "A callback ended the run, or who stepped it; this is the best so far.",
    "stalled": "The solver's accuracy admits no further progress.",
}
"""Why a run can stop, in a sentence each."""

UNFINISHED: tuple[Stop, ...] = ("max_iter", "time_limit", "stalled")
"""Those that are neither what was asked for nor what somebody decided."""


class Rescue(NamedTuple):
    """A round whose master problem one backend failed to solve, and another one did."""

    round: int
    failed: str
    solved: str
    why: str


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
        Why the run stopped: one of :data:`STATUSES`.
    seconds : float
        Wall time of the run.
    backend : str or None
        Who solved the master problems; None for methods that have none.
    cuts : Cuts or None
        The cuts that stood at the end, for warm starts; None for methods without.
    method : str
        Which method it was.
    finisher : str or None
        The exact backend that finished for `backend`, if one did.
    rescued : tuple of Rescue
        Rounds that another backend solved because this one failed: (round, failed, solved, why).

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = so.datasets.make_chain_crf(8, n_features=5, n_relevant=3, seed=0)
    >>> model = so.StructuredClassifier(so.Chain(), so.M3N(C=0.5), backend="ascent")
    >>> result = model.fit(X, Y).result_
    >>> result.status, result.method, result.backend, len(result.history) > 1
    ('optimal', 'cutting-plane', 'ascent', True)
    >>> result.certificate.primal == result.history[-1].primal
    True
    """

    weights: Floats
    certificate: Certificate
    history: tuple[Round, ...]
    status: Stop
    seconds: float
    backend: str | None = None
    cuts: Any = None
    method: str = ""
    finisher: str | None = None
    rescued: tuple[Rescue, ...] = ()

    @property
    def solver(self) -> str:
        """Who solved it, in words: the backend, the two in turn, or the method."""
        return ", then ".join(filter(None, (self.backend, self.finisher))) or self.method

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write the run as one self-contained HTML file."""
        names.load("write_report")(self, path)

    def _repr_html_(self) -> str:
        """Show the result in a notebook: what came out, its certificate, the rounds."""
        c = self.certificate
        facts = [
            ("objective", f"{number(c.primal)}, {'certified' if c.certified else 'not certified'}"),
            ("bounds", f"{number(c.dual)} <= optimum <= {number(c.primal)}"),
            ("gap", f"{number(c.gap)}, {c.relative_gap:.2e} of the objective"),
            ("weights", f"{np.count_nonzero(self.weights)} of {len(self.weights)} not zero"),
            ("rounds", f"{len(self.history)} in {self.seconds:.2f} s, by {self.solver}"),
        ]
        facts += [("note", c.note)] if c.note else []
        return card(
            f"Result: {self.status}",
            facts,
            note=STATUSES[self.status],
            summary="rounds",
            head=("round", "lower bound", "upper bound", "gap", "cuts"),
            rows=[
                (r.round, number(r.dual), number(r.primal), f"{r.relative_gap:.2e}", r.cuts)
                for r in self.history
            ],
        )

    def __str__(self) -> str:
        c, rescues = self.certificate, self.rescued
        first = [f"round {r.round} by {r.solved}: {r.failed} failed" for r in rescues[:1]]
        more = [f"and {len(rescues) - 1} more rounds"] if len(rescues) > 1 else []
        rescued = f"; rescued: {', '.join(first + more)}" if rescues else ""
        return (
            f"{self.status} after {len(self.history)} rounds and {self.seconds:.2f} s "
            f"({self.solver}): objective {c.primal:.6g}, {c}{rescued}"
        )
