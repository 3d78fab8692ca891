r"""What a model gets right, label by label, and what it confuses.

With the claims of gold and predicted outputs (:mod:`structopt.structures.base.sketch`), of a label
k that gold has g_k times, predicted has p_k times and both have at the same place r_k times:

    precision = r_k / p_k,    recall = r_k / g_k,    F1 = 2 r_k / (g_k + p_k).

>>> from structopt.structures.base.sketch import Row
>>> gold, predicted = Row(("a", "b", "b")), Row(("a", "a", "b"))
>>> counts = Counts.of([(gold, predicted)])
>>> counts.right["b"], counts.gold["b"], counts.confused
(1, 2, Counter({('b', 'a'): 1}))
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from structopt.report.table import Table
from structopt.report.template import number, percent
from structopt.structures.base.sketch import Sketch

NOTHING = "(nothing)"
MOST_LABELS = 60  # rows of the table of labels
MOST_CROSSED = 20  # labels of a confusion matrix; of more, the most frequent pairs are listed
MOST_CONFUSIONS = 25


@dataclass
class Counts:
    """How often each label is gold, predicted and both, and what is taken for what."""

    gold: Counter[Hashable] = field(default_factory=Counter)
    predicted: Counter[Hashable] = field(default_factory=Counter)
    right: Counter[Hashable] = field(default_factory=Counter)
    confused: Counter[tuple[Hashable, Hashable]] = field(default_factory=Counter)

    @classmethod
    def of(cls, pairs: Iterable[tuple[Sketch, Sketch]]) -> Counts:
        """Count over pairs of gold and predicted."""
        counts = cls()
        for gold, predicted in pairs:
            truth, given = gold.claims(), predicted.claims()
            for place, label in truth.items():
                name, other = _name(label), _name(given.get(place, NOTHING))
                counts.gold[name] += 1
                counts.right[name] += name == other
                if name != other:
                    counts.confused[name, other] += 1
            for place, label in given.items():
                counts.predicted[_name(label)] += 1
                if place not in truth:
                    counts.confused[NOTHING, _name(label)] += 1
        return counts

    @property
    def labels(self) -> list[Hashable]:
        """All labels, the most frequent first."""
        every = dict.fromkeys([*self.gold, *self.predicted])
        return sorted(every, key=lambda k: (-self.gold[k], str(k)))

    def mixed(self) -> Counter[tuple[Hashable, Hashable]]:
        """What is taken for what, where both gold and predicted have a label."""
        return Counter({pair: n for pair, n in self.confused.items() if NOTHING not in pair})

    def wrong(self, label: Hashable) -> int:
        """How often a label was missed or given for nothing."""
        return self.gold[label] + self.predicted[label] - 2 * self.right[label]


def label_table(counts: Counts) -> Table | None:
    """Return precision, recall and F1 of each label, those with the most errors first."""
    labels = sorted(counts.labels, key=lambda k: (-counts.wrong(k), -counts.gold[k], str(k)))
    if not labels:
        return None
    rows = []
    for label in labels[:MOST_LABELS]:
        right, gold, given = counts.right[label], counts.gold[label], counts.predicted[label]
        rows.append([
            label,
            percent(2.0 * right / (gold + given)),
            percent(right / given) if given else "never given",
            percent(right / gold) if gold else "never gold",
            number(gold), number(given), number(right),
        ])  # fmt: skip
    head = ("Label", "F1", "Precision", "Recall", "Gold", "Predicted", "Right")
    left_out = len(labels) - len(rows)
    notes = [f"{left_out} labels with fewer errors are left out."] if left_out > 0 else []
    return Table("Scores by label, most errors first", head, rows, words=(0,), notes=notes)


def confusion_table(counts: Counts) -> Table | None:
    """Return gold against predicted labels: a matrix, or the most frequent pairs of many labels."""
    if not counts.mixed():  # nothing has the label of another
        return None
    crossed = sorted(counts.labels, key=lambda k: (len(str(k)) if str(k).isdigit() else 99, str(k)))
    if any(NOTHING in pair for pair in counts.confused):
        crossed = [*crossed, NOTHING]
    largest = max(counts.confused.values())
    if len(crossed) <= MOST_CROSSED:
        rows: list[list[object]] = [
            [gold, *(_crossed(counts, gold, given, largest) for given in crossed)]
            for gold in crossed
        ]
        head = ("Gold \\ predicted", *map(str, crossed))
        return Table("What is taken for what", head, rows, words=(0,), kind="crossed")
    pairs = counts.confused.most_common(MOST_CONFUSIONS)
    rows = [[gold, given, number(n), number(counts.gold[gold])] for (gold, given), n in pairs]
    left_out = len(counts.confused) - len(pairs)
    notes = [f"{left_out} pairs that are confused less often are left out."] if left_out else []
    head = ("Gold", "Predicted", "Times", "Gold in all")
    return Table("What is taken for what most often", head, rows, words=(0, 1), notes=notes)


def _crossed(counts: Counts, gold: Hashable, given: Hashable, largest: int) -> object:
    if gold == given:
        return number(counts.right[gold]) if gold != NOTHING else ""
    times = counts.confused[gold, given]
    heat = Markup('<span class="heat" style="--h:{}">{}</span>')
    return heat.format(f"{0.1 + 0.25 * times / largest:.2f}", number(times)) if times else ""


def _name(label: Any) -> str:
    return str(label)
