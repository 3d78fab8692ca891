r"""The strongest weights of a model, by name: overall, for each label, and as pictures of pixels.

>>> shown = shown_weights([0.0, -2.5], [("suffix ing", "NOUN"), ("suffix ing", "VERB")])
>>> shown.table.rows[0][:2]
['suffix ing', 'VERB']
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from structopt.arrays import Floats
from structopt.report.images import image
from structopt.report.table import Table
from structopt.report.template import clean, number, percent, plain_number

TOP_WEIGHTS = 20
MOST_LABELS = 40  # of the table by label
TOP_OF_LABEL = 4
_PIXEL = re.compile(r"pixel \((\d+), (\d+)\)")


class ShownWeights(NamedTuple):
    """What the template takes: numbers on all weights, the largest, by label, and as pictures."""

    facts: Sequence[tuple[str, object]]
    table: Table | None
    by_label: Table | None
    pictures: Sequence[tuple[str, Markup]]


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
        return ShownWeights(facts, None, None, [])
    largest = float(np.abs(w[order[0]]))
    rows = [
        [*_name(names, int(j)), number(float(w[j])),
         _bar(abs(float(w[j])) / largest, 0 if w[j] > 0 else 1)]
        for j in order
    ]  # fmt: skip
    caption = f"The {len(order)} largest weights by size"
    table = Table(caption, ("Feature", "Label", "Weight", "Size"), rows, words=(0, 1, 3))
    return ShownWeights(facts, table, *_of_labels(w, names))


def _of_labels(
    w: Floats, names: Sequence[object] | None
) -> tuple[Table | None, list[tuple[str, Markup]]]:
    """Return what speaks for and against each label, and its weights of pixels as pictures."""
    if names is None or not all(isinstance(name, tuple) and len(name) == 2 for name in names):
        return None, []
    groups: dict[str, list[int]] = {}
    for j, name in enumerate(names):
        groups.setdefault(str(name[1]), []).append(j)  # type: ignore[index]
    if len(groups) < 2:
        return None, []
    size = {label: float(np.abs(w[group]).sum()) for label, group in groups.items()}
    shown = sorted(groups, key=lambda label: -size[label])[:MOST_LABELS]
    shown = [label for label in groups if label in set(shown)]  # in the order of the structure
    rows, pictures = [], []
    limit = float(np.nanmax(np.abs(w[np.isfinite(w)]), initial=0.0)) or 1.0
    for label in shown:
        group = np.array(groups[label])
        order = group[np.argsort(-w[group], kind="stable")]
        up = [_worth(names[j], w[j]) for j in order[:TOP_OF_LABEL] if w[j] > 0]
        down = [_worth(names[j], w[j]) for j in order[::-1][:TOP_OF_LABEL] if w[j] < 0]
        rows.append([label, ", ".join(up) or "nothing", ", ".join(down) or "nothing"])
        picture = _picture(label, group, names, w, limit)
        if picture is not None:
            pictures.append((label, picture))
    left_out = len(groups) - len(shown)
    notes = [f"{left_out} labels with smaller weights are left out."] if left_out else []
    head = ("Label", "Speaks for it", "Speaks against it")
    caption = "The strongest weights of each label"
    return Table(caption, head, rows, words=(0, 1, 2), notes=notes, kind="wrapped"), pictures


def _picture(
    label: str, group: Any, names: Sequence[Any], w: Floats, limit: float
) -> Markup | None:
    """Return the weights of pixels where they are, blue for and red against the label."""
    found = [(_PIXEL.fullmatch(str(names[j][0])), w[j]) for j in group]
    places = {(int(m[1]), int(m[2])): value for m, value in found if m is not None}
    if len(places) < 4:
        return None
    rows, columns = (max(place[k] for place in places) for k in (0, 1))
    pixels = np.zeros((rows, columns))
    for (i, j), value in places.items():
        pixels[i - 1, j - 1] = value
    alt = f"weights of the pixels for {label}"
    return image(pixels, alt=alt, colours="RdBu", limits=(-limit, limit))


def _name(names: Sequence[object] | None, j: int) -> tuple[str, str]:
    name = f"weight {j} (it has no name)" if names is None else names[j]
    if isinstance(name, tuple) and len(name) == 2:
        return str(name[0]), str(name[1])
    return " · ".join(map(str, name)) if isinstance(name, tuple) else str(name), ""


def _worth(name: Any, value: float) -> str:
    return f"{clean(name[0])} {'+' if value > 0 else ''}{plain_number(value, 2)}"


def _bar(share: float, series: int) -> Markup:
    # A weight that is not finite has no size to draw.
    width = f"{share if math.isfinite(share) else 0.0:.3f}"
    bar = '<span class="bar f{}" style="--w:{}" aria-hidden="true"></span>'
    return Markup(bar).format(series, width)
