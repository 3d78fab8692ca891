"""What was learned: outputs beside predictions, the worst first, scores by label, confusions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from structopt.report.draw.theme import OKABE_ITO
from structopt.report.pictures import Picture, picture_of
from structopt.report.scores import Counts, confusion_table, label_table
from structopt.report.table import Table
from structopt.report.template import number, percent
from structopt.run.example import Example

MOST_EXAMPLES = 12
MOST_SHOWN = 900  # parts of all pictures together, which keeps a page small


@dataclass(frozen=True)
class Shown:
    """An example's picture."""

    index: int
    errors: float
    parts: float
    picture: Picture


class Task(NamedTuple):
    """What the template takes.

    Attributes
    ----------
    facts : pairs of name and value
    share : float
        Parts that are right, of all.
    flawless : int
        Examples without error.
    worst : (str, str, int) or None
        The labels that are confused most often, gold and predicted, and how often.
    shown : list of Shown
    labels, confusions : Table or None
    """

    n_examples: int
    n_parts: float
    share: float | None
    flawless: int
    facts: Sequence[tuple[str, object]]
    worst: tuple[object, object, int] | None
    shown: list[Shown]
    labels: Table | None
    confusions: Table | None

    @property
    def legend(self) -> str:
        """How to read the pictures."""
        return " ".join(dict.fromkeys(one.picture.legend for one in self.shown))


def task_of(examples: Sequence[Example]) -> Task:
    """Return scores over all examples, and pictures of those with the most errors."""
    errors, parts = sum(e.errors for e in examples), sum(e.parts for e in examples)
    flawless = sum(e.errors == 0 for e in examples)
    share = 1.0 - errors / parts if parts else None
    facts = [
        ("Examples", number(len(examples))),
        ("Without error", percent(flawless / len(examples))),
        ("Parts", number(parts)),
        ("Wrong parts", number(errors)),
        ("Parts that are right", "none" if share is None else percent(share)),
    ]
    counts = Counts.of(e.sketches for e in examples)
    codes = {label: i % len(OKABE_ITO) for i, label in enumerate(counts.labels)}
    shown: list[Shown] = []
    left = float(MOST_SHOWN)
    for e in sorted(examples, key=lambda e: (-e.errors, e.index))[:MOST_EXAMPLES]:
        if shown and e.parts > left:
            continue
        left -= e.parts
        picture = picture_of(f"e{len(shown)}", *e.sketches, codes)
        shown.append(Shown(e.index, e.errors, e.parts, picture))
    worst = next(((*pair, n) for pair, n in counts.mixed().most_common(1)), None)
    return Task(len(examples), parts, share, flawless, facts, worst, shown,
                label_table(counts), confusion_table(counts))  # fmt: skip
