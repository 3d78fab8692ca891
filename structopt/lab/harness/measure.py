"""Learning inside a cell: CPU seconds, and no half-finished model passed off as a result."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass
from typing import Any

from structopt.engines.dataset import DataSet
from structopt.errors import ConvergenceWarning
from structopt.formulations.base import Formulation
from structopt.learn.predictor import accuracy
from structopt.methods import registry
from structopt.methods.method import Method
from structopt.methods.watcher import Iterate
from structopt.run.events import Round
from structopt.run.result import Result
from structopt.structures.base.structure import Structure

PATIENCE = 5.0
"""Wall seconds for each CPU second of a limit, for a solver that hangs or sleeps."""


class CpuLimit:
    """A callback that ends a run after some CPU seconds; other work does not shorten it.

    Parameters
    ----------
    limit : float
    last : bool
        Return the weights of the last round, as the papers' algorithms do (a certificate says how
        good they are), instead of the best ones.

    Attributes
    ----------
    seconds : list of float
        CPU seconds after every round.
    """

    def __init__(self, limit: float, *, last: bool = False) -> None:
        self.limit, self._keeps = limit, last
        self._began, self.seconds = time.process_time(), list[float]()
        self._last: Iterate | None = None

    def start(self, method: Method) -> None:
        """Begin with a run."""
        self._method, self._last = method, None
        if self._keeps:  # what comes before the run is not its own
            self._began, self.seconds = time.process_time(), []

    def __call__(self, record: Round) -> bool:
        """Look at the clock after a round."""
        self.seconds.append(time.process_time() - self._began)
        if self.seconds[-1] < self.limit:
            return False
        if self._keeps:
            here = self._method.iterate()
            self._last = here._replace(weights=here.weights.copy())
        return True

    def kept(self) -> tuple[Iterate, str] | None:
        """Return the last weights if this callback ended the run with them."""
        note = f"stopped after {self.limit:g} CPU seconds: the weights of the last round"
        return None if self._last is None else (self._last, note)


@dataclass(frozen=True)
class Solved:
    """A run: its result, its CPU seconds from the declaration on, and those after every round."""

    result: Result
    cpu: float
    seconds: list[float]

    def to(self, gap: float) -> float:
        """Return the CPU seconds after which a relative gap was proved; infinite if never."""
        rounds = zip(self.seconds, self.result.history, strict=False)
        return next((s for s, record in rounds if record.relative_gap <= gap), math.inf)


def solve(
    structure: Structure,
    formulation: Formulation,
    data: DataSet,
    *,
    method: str = "cutting-plane",
    time_limit: float,
    **options: Any,
) -> Solved:
    """Learn by a method, for some CPU seconds at most."""
    clock, began = CpuLimit(time_limit), time.process_time()
    result: Result = registry.make(method)(
        structure, formulation, data, time_limit=PATIENCE * time_limit, callbacks=[clock], **options
    ).solve()
    return Solved(result, time.process_time() - began, clock.seconds)


def error_percent(structure: Structure, weights: Any, X: Any, Y: Any) -> float:
    """Return the percentage of parts that are predicted wrong."""
    return 100.0 * (1.0 - accuracy(structure, Y, structure.predict(X, weights)))


def learn(model: Any, X: Any, Y: Any) -> float:
    """Fit a model in place and return the CPU seconds it took.

    A run that ends at its limit is no error here: say its gap in the cell's numbers
    (:func:`proof`).
    """
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, Y)
    return time.process_time() - began


def proof(model: Any) -> dict[str, Any]:
    """Return what a fitted :class:`StructuredClassifier` can say about its optimum."""
    result = model.result_
    return {
        "rounds": len(result.history),
        "objective": result.certificate.primal,
        "relative_gap": result.certificate.relative_gap,
        "status": result.status,
        "nonzeros": int((result.weights != 0).sum()),
    }
