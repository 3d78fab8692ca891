"""One record a round, and who listens to it.

A callback is any callable that takes a :class:`Round`; if it returns True, the run stops there with
the best model so far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from structopt.arrays import Floats
from structopt.run.notebook import brief, card, number


class Found(NamedTuple):
    """A cut that a round added, and the output that made it.

    Attributes
    ----------
    family : int
        Which cut family of the formulation, in the order in which they were declared.
    example : int or None
        Whose output; None for the cut of a group of examples.
    output : object
        The output, as users write it; of a joint family those of the examples that its one cut sums
        up, as a mapping.
    loss, score : float
        Its loss, and ``w . delta`` at the weights where the oracle was asked.

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = so.datasets.make_chain_crf(8, n_features=5, n_relevant=3, seed=0)
    >>> structure = so.Chain().fitted(X, Y)
    >>> run = so.CuttingPlane(structure, so.M3N(C=0.5), so.DataSet.of(structure, X, Y))
    >>> cut = run.step().found[0]
    >>> cut.example, len(cut.output) == len(Y[0]), cut.loss > 0
    (0, True, True)
    """

    family: int
    example: int | None
    output: Any
    loss: float
    score: float


@dataclass(frozen=True)
class Round:
    """What one round did: a master solve, an oracle pass, and the cuts it led to.

    Attributes
    ----------
    round : int
        1, 2, ...
    primal, dual : float
        Best upper and lower bound known after the round.
    value : float
        The objective at this round's own weights (`primal` is the best of them so far).
    violation : float
        The largest violation of a constraint at the master's solution.
    cuts_added, cuts_dropped, cuts : int
        Cuts that came, went, and stand.
    nonzeros : int
        Nonzero weights of the master's solution.
    iterations : int
        The solver's iterations in this round.
    oracle_seconds, lift_seconds, solve_seconds : float
        Where the time of the round went; `lift` is all work on rows outside the solver.
    seconds : float
        Time since the run began.
    bytes_down, bytes_up : int
        What the round sent to data that live elsewhere (weights, which answers become cuts), and
        what came back (losses, scores, rows of cuts); 0 in this process.
    driver_seconds : float
        CPU seconds that this process spent on the round, its threads included.
    weights : array or None
        Where the round led, ``run.iterate().weights``: `value` is the objective there. The oracles
        were asked there too, unless a family without slacks made the point retreat. Made when first
        looked at, by `made`.
    found : sequence of Found
        Which output made each cut that the round added; decoded when first looked at. Empty for
        methods without cuts.

    Notes
    -----
    Callbacks, `step` and ``for record in run`` are given `weights` and `found`. A history keeps
    them only where there are at most 16 weights (lessons and pictures): elsewhere they would take
    as much memory as the data.

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = so.datasets.make_chain_crf(8, n_features=5, n_relevant=3, seed=0)
    >>> result = so.StructuredClassifier(so.Chain(), so.M3N(C=0.5)).fit(X, Y).result_
    >>> [record.round for record in result.history][:3]
    [1, 2, 3]
    >>> all(record.dual <= record.primal for record in result.history)
    True
    """

    round: int
    primal: float
    dual: float
    value: float
    violation: float
    cuts_added: int
    cuts_dropped: int
    cuts: int
    nonzeros: int
    iterations: int
    oracle_seconds: float
    lift_seconds: float
    solve_seconds: float
    seconds: float
    bytes_down: int = 0
    bytes_up: int = 0
    driver_seconds: float = 0.0
    made: Callable[[], Floats] | None = field(default=None, compare=False, repr=False)
    found: Sequence[Found] = field(default=(), compare=False, repr=False)

    @property
    def gap(self) -> float:
        """``primal - dual``."""
        return self.primal - self.dual

    @property
    def relative_gap(self) -> float:
        """The gap relative to the primal value."""
        return relative(self.primal, self.dual)

    @cached_property
    def weights(self) -> Floats | None:
        """Where the round led, made when first looked at."""
        return None if self.made is None else self.made()

    def __getstate__(self) -> dict[str, Any]:
        """Return the record with its weights, and without the run that would make them."""
        made = None if self.weights is None else partial(np.asarray, self.weights)
        return vars(self) | {"made": made}

    def kept(self, n_weights: int) -> Round:
        """Return the record as a history keeps it: without weights and outputs if it is large."""
        if n_weights > KEPT:
            return replace(self, made=None, found=())
        return replace(self, found=tuple(self.found))

    def _repr_html_(self) -> str:
        """Show the record in a notebook."""
        facts = [
            ("bounds", f"{number(self.dual)} <= optimum <= {number(self.primal)}"),
            ("gap", f"{number(self.gap)}, {self.relative_gap:.2e} of the objective"),
            ("largest violation", number(self.violation)),
            ("cuts", f"{self.cuts_added} added, {self.cuts_dropped} dropped, {self.cuts} standing"),
        ]
        if self.weights is not None:
            few = ", ".join(f"{w:.4g}" for w in self.weights[:8])
            more = ", ..." if len(self.weights) > 8 else ""
            facts.append(("weights", f"{few}{more} ({self.nonzeros} of them not zero)"))
        return card(
            f"Round {self.round}",
            facts,
            summary=f"{len(self.found)} cuts, and the outputs that made them",
            head=("example", "output", "loss", "w . delta"),
            rows=[
                (cut.example, brief(cut.output), number(cut.loss), number(cut.score))
                for cut in self.found[:50]
            ],
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the record as plain numbers."""
        numbers = {name: getattr(self, name) for name in NUMBERS}
        return numbers | {"gap": self.gap, "relative_gap": self.relative_gap}


KEPT = 16
"""Weights up to which a history keeps them, and the outputs that made cuts."""

NUMBERS = tuple(f.name for f in fields(Round) if f.name not in ("made", "found"))
"""The fields of a record that are plain numbers: what files keep."""

Callback = Callable[[Round], bool | None]


ROUNDING = 1e-9
"""How far a lower bound may stand above the upper one, as a share of it: roundings, not a proof."""


def relative(primal: float, dual: float) -> float:
    """Return ``(primal - dual) / max(|primal|, 1e-12)``, infinite while a bound is missing.

    It is negative where the bounds contradict each other, 0 where they do by roundings only.

    >>> relative(2.0, 1.5), relative(2.0, 2.0 + 1e-12), relative(2.0, 3.0)
    (0.25, 0.0, -0.5)
    """
    gap = primal - dual
    if not gap < float("inf"):
        return float("inf")
    share = gap / max(abs(primal), 1e-12)
    return 0.0 if -ROUNDING <= share < 0.0 else share
