r"""LP-Struct's generalisation bound, computed from a fitted model.

    epsilon = 2 / |S| (log2 N(G, 2 |S|, gamma / 2) + log2 2 / eta),      gamma = 1,

with log2 N of Corollary 6.3: c is the objective at the weights, b the largest entry of any delta
(or 1/C), d the weights, m the examples, and S all pairs of a good and a bad output.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from structopt.engines.dataset import DataSet
from structopt.errors import IncompatibleError
from structopt.formulations.lp_struct import LPStruct
from structopt.learn.bounds import covering_number, lp_struct_error
from structopt.parameters import Positive, checked
from structopt.structures.chain.structure import Chain
from structopt.structures.multiclass.structure import Multiclass

if TYPE_CHECKING:
    from structopt.learn.estimator import StructuredClassifier


@dataclass(frozen=True)
class ErrorBound:
    """The bound of a model, and what it was computed from.

    Attributes
    ----------
    value : float
        Bounds the probability that a good output scores less than a bad one; above 1 it says
        nothing, and 0.0 stands for what no float holds.
    log2_covering : float
        Of Corollary 6.3, at ``2 |S|`` points and half the margin.
    norm, largest : float
        c and b.
    n_points : int
        |S|.
    confidence : float
        eta.
    """

    value: float
    log2_covering: float
    norm: float
    largest: float
    n_points: float
    confidence: float


@checked
def error_bound(
    model: StructuredClassifier,
    X: Any,
    Y: Any,
    *,
    confidence: float = 0.05,
    largest: Positive | None = None,
    n_points: Any = None,
) -> ErrorBound:
    """Return Theorem 6.2's bound for a fitted LP-Struct on its training data.

    Parameters
    ----------
    model : StructuredClassifier
        Fitted, with ``LPStruct`` at the unit margin.
    X, Y : sequences
        What it was fitted to.
    confidence : float in (0, 1)
        eta.
    largest : float, optional
        b, if it is known: without it two oracle passes a weight find the largest entry of any
        delta.
    n_points : int, optional
        |S|; known for `Multiclass` and `Chain`.
    """
    formulation, structure = model.formulation, model.structure_
    if not isinstance(formulation, LPStruct) or formulation.rescale != "unit":
        raise IncompatibleError(
            "Theorem 6.2 is about LPStruct with a unit margin; this model has "
            f"{formulation!r}. The bounds of the other papers are functions of so.bounds."
        )
    inputs = model._inputs(X)
    data = DataSet.of(structure, inputs, Y, n_jobs=model.n_jobs)
    points = _pairs(structure, Y) if n_points is None else n_points
    b = max(_largest(data) if largest is None else largest, 1.0 / formulation.C)
    c = model.result_.certificate.primal
    free = 1 if formulation.nonnegative else 2  # features (phi, -phi)
    log2_covering = covering_number(
        norm=c, largest=b, margin=0.5, n_weights=free * data.n_features,
        n_examples=data.n_examples, n_points=2 * points,
    )  # fmt: skip
    value = lp_struct_error(points, log2_covering=log2_covering, confidence=confidence)
    return ErrorBound(value, log2_covering, c, b, points, confidence)


def _pairs(structure: Any, Y: Any) -> int:
    """Return how many wrong outputs all examples have together."""
    known = isinstance(structure, Multiclass | Chain) and not structure.overridden()
    if not known or getattr(structure, "transitions", None) is not None:
        raise IncompatibleError(
            f"How many outputs an example of {type(structure).__name__} has is not known: give "
            "n_points, the pairs of a good and a bad output of all examples."
        )
    k = len(structure.labels_)
    return sum(k ** (1 if isinstance(structure, Multiclass) else len(y)) - 1 for y in Y)


def _largest(data: DataSet) -> float:
    """Return the largest |delta| in any coordinate: the best outputs at unit weights, both ways."""
    found, unit = 0.0, np.zeros(data.n_features)
    for k in range(data.n_features):
        for sign in (1.0, -1.0):
            unit[k] = sign
            found = max(found, *(np.abs(a.score).max(initial=0.0) for a in data.argmax(unit)))
        unit[k] = 0.0
    return float(found)
