"""The strongest weights of a model, by name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from structopt.report.table import Table
from structopt.report.template import number, percent

TOP_WEIGHTS = 20


class ShownWeights(NamedTuple):
    """What the template takes: numbers on all weights, and the largest ones."""

    facts: Sequence[tuple[str, object]]
    table: Table | None


def shown_weights(weights: Any, names: Sequence[object] | None) -> ShownWeights:
    """Return what is shown of weights; ``names`` are as many, or None."""
    w = np.asarray(weights, dtype=np.float64).ravel()
    nonzero = int(np.count_nonzero(w))
    facts = [
        ("Weights", number(len(w))),
        ("Nonzero", number(nonzero)),
        ("Share of nonzeros", percent(nonzero / len(w)) if len(w) else "none"),
        ("Sum of |w|", number(float(np.abs(w).sum()))),
        ("Euclidean norm", number(float(np.linalg.norm(w)))),
    ]
    # Stable, so that ties keep their order and a report can be compared with another.
    order = np.argsort(-np.abs(w), kind="stable")[: min(TOP_WEIGHTS, nonzero)]
    if not len(order):
        return ShownWeights(facts, None)
    largest = float(np.abs(w[order[0]]))
    rows = [
        [
            number(int(j)),
            *([_name(names[j])] if names is not None else []),
            number(float(w[j])),
            _bar(abs(float(w[j])) / largest, 0 if w[j] > 0 else 1),
        ]
        for j in order
    ]
    head = ["Weight", *(["Name"] if names is not None else []), "Value", "Size"]
    caption = f"The {len(order)} largest weights by size, counted from 0"
    words = (1, 3) if names is not None else (2,)
    return ShownWeights(facts, Table(caption, head, rows, words=words))


def _name(name: object) -> str:
    parts = name if isinstance(name, tuple) else (name,)
    return " · ".join(str(part) for part in parts)


def _bar(share: float, series: int) -> Markup:
    # A weight that is not finite has no size to draw.
    width = f"{8.0 * share if math.isfinite(share) else 0.0:.2f}"
    bar = '<span class="bar f{}" style="width:{}rem" aria-hidden="true"></span>'
    return Markup(bar).format(series, width)
