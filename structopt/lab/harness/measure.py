"""Learning inside a cell: CPU seconds, and no half-finished model passed off as a result."""

from __future__ import annotations

import time
import warnings
from typing import Any

from structopt.errors import ConvergenceWarning
from structopt.methods.method import Iterate, Method
from structopt.run.events import Round


class CpuLimit:
    """A callback that ends a run after some CPU seconds, with the weights of its last round.

    Other work on the machine does not shorten such a run, as it would one with a `time_limit`. The
    last weights are what the papers' algorithms return; a certificate says how good they are.

    Attributes
    ----------
    seconds : list of float
        CPU seconds after every round.
    """

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.seconds: list[float] = []
        self._last: Iterate | None = None

    def start(self, method: Method) -> None:
        """Begin with a run."""
        self._method, self._began = method, time.process_time()
        self.seconds, self._last = [], None

    def __call__(self, record: Round) -> bool:
        """Look at the clock after a round."""
        self.seconds.append(time.process_time() - self._began)
        if self.seconds[-1] < self.limit:
            return False
        here = self._method.iterate()
        self._last = here._replace(weights=here.weights.copy())
        return True

    def kept(self) -> tuple[Iterate, str] | None:
        """Return the last weights if this callback ended the run."""
        note = f"stopped after {self.limit:g} CPU seconds: the weights of the last round"
        return None if self._last is None else (self._last, note)


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
