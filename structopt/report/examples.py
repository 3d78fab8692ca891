r"""Examples beside what a model predicts for them, part by part.

>>> example = Example(3, gold=["B", "I"], predicted=["B", "O"], errors=1, parts=2)
>>> side_by_side(example)[1]
Markup('B <mark>O</mark>')
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup, escape

from structopt.report.table import Table
from structopt.report.template import clean, number, percent
from structopt.run.example import Example

MOST_EXAMPLES = 20
MOST_PARTS = 200  # of one output; what follows is left out, and that is said


class ShownExamples(NamedTuple):
    """What the template takes: scores over all examples, and the worst of them."""

    facts: Sequence[tuple[str, object]]
    table: Table


def shown_examples(examples: Sequence[Example]) -> ShownExamples:
    """Return scores over all examples, and those with the most errors side by side."""
    errors, parts = sum(e.errors for e in examples), sum(e.parts for e in examples)
    right = sum(e.errors == 0 for e in examples)
    facts = [
        ("Examples", number(len(examples))),
        ("Without error", percent(right / len(examples))),
        ("Parts", number(parts)),
        ("Wrong parts", number(errors)),
        ("Parts that are right", percent(1.0 - errors / parts) if parts else "none"),
    ]
    worst = sorted(examples, key=lambda e: (-e.errors, e.index))[:MOST_EXAMPLES]
    rows = [[number(e.index), *side_by_side(e), number(e.errors), number(e.parts)] for e in worst]
    caption = (
        f"{len(rows)} of {len(examples)} examples, most errors first, counted from 0; parts that "
        "differ are underlined"
    )
    head = ("Example", "Gold", "Predicted", "Wrong", "Parts")
    return ShownExamples(facts, Table(caption, head, rows, words=(1, 2)))


def side_by_side(example: Example) -> tuple[Markup, Markup]:
    """Return gold and predicted as HTML, the differing parts of the prediction marked."""
    gold, predicted = _parts(example.gold), _parts(example.predicted)
    if len(gold) != len(predicted):  # not comparable part by part
        return Markup(" ").join(gold), Markup(" ").join(map(_mark, predicted))
    left = len(gold) - MOST_PARTS
    more = [f"… and {left} more"] if left > 0 else []
    pairs = list(zip(gold, predicted, strict=True))[:MOST_PARTS]
    shown = [escape(p) if g == p else _mark(p) for g, p in pairs]
    return Markup(" ").join([*(g for g, _ in pairs), *more]), Markup(" ").join([*shown, *more])


def _mark(part: str) -> Markup:
    return Markup("<mark>{}</mark>").format(part)


def _parts(output: Any) -> list[str]:
    array = isinstance(output, np.ndarray)
    if isinstance(output, list | tuple) or (array and output.ndim == 1):
        return [clean(part) for part in output]
    return [clean(output)]
