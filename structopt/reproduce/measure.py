"""Learning inside a cell: CPU seconds, and no half-finished model passed off as a result."""

from __future__ import annotations

import time
import warnings
from typing import Any

from structopt.errors import ConvergenceWarning


def learn(model: Any, X: Any, Y: Any) -> float:
    """Fit a model in place and return the CPU seconds it took.

    A run that ends at its limit is no error here: say its gap in the cell's numbers
    (:func:`proof`).

    Raises
    ------
    KeyboardInterrupt
        Ctrl-C ended the run. Methods keep the best model then; a table must not.
    """
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, Y)
    seconds = time.process_time() - began
    if getattr(getattr(model, "result_", None), "status", "") == "interrupted":
        raise KeyboardInterrupt
    return seconds


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
