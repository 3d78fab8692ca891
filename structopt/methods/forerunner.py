"""A run that comes before another one, to fix a number of its formulation."""

from __future__ import annotations

import numpy as np

from structopt.methods.method import Method
from structopt.structures.base.oracles import best_other, worst


def largest_projection(run: Method) -> tuple[float, str]:
    """Solve, and return the largest |w . delta| over all outputs, and what to say about it.

    >>> import structopt as so
    >>> X, y = so.datasets.make_classes(60, seed=0)
    >>> structure = so.Multiclass().fitted(X, y)
    >>> run = so.CuttingPlane(structure, so.StructSVM(), so.DataSet.of(structure, X, y))
    >>> largest, caveat = largest_projection(run)
    >>> largest > 0, caveat
    (True, '')
    """
    result, caveat = run.solve(), ""
    if result.status == "interrupted":  # half a model is no measure
        raise KeyboardInterrupt
    if result.status != "optimal":
        caveat = (
            f"the bound rests on a {type(run.formulation).__name__} that stopped "
            f"({result.status}) at a relative gap of {result.certificate.relative_gap:.1e}"
        )
    answers = [a for o in (worst, best_other) for a in run.data.ask(o, result.weights)]
    scores = np.concatenate([a.score for a in answers])
    return float(np.abs(scores[np.isfinite(scores)]).max(initial=0.0)), caveat
