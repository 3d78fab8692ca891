r"""The loss of tagged spans, as far as it is a sum over positions.

A position that is wrong is outside gold's spans and tagged (`extra`), inside and not tagged
(`missed`), tagged with another type (`confused`), or of the right type but begins where it should
go on, or the other way round (`boundary`):

    loss(gold, y) = sum_t cost(gold_t, y_t).

The number of wrong spans, or one minus their F1, is no sum over positions, so no loss-augmented
decoding of a chain is exact for it: bring an oracle of your own for that.

>>> import numpy as np, structopt as so
>>> loss = so.losses.SpanCosts(missed=3.0, boundary=0.5)
>>> structure = so.Chain(["B-a", "I-a", "B-b", "O"], loss=loss)
>>> structure = structure.fitted([np.eye(4)], [["B-a", "I-a", "O", "B-b"]])
>>> structure.loss(["B-a", "I-a", "O", "B-b"], ["O", "B-a", "B-b", "B-a"])
5.5
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.parameters import NonNegative, Parameters


class SpanCosts(Parameters):
    """Costs of tags in a scheme such as BIO or BIOES: a letter, "-" and a type, or `outside`.

    Parameters
    ----------
    extra, missed, confused, boundary : float
        See the module's page.
    outside : str
        The tag outside of all spans.
    """

    checked_in = "confusion"

    def __init__(
        self,
        extra: NonNegative = 1.0,
        missed: NonNegative = 1.0,
        confused: NonNegative = 1.0,
        boundary: NonNegative = 1.0,
        outside: str = "O",
    ) -> None:
        self.extra, self.missed, self.confused = extra, missed, confused
        self.boundary, self.outside = boundary, outside

    def confusion(self, labels: Sequence[Any]) -> Floats:
        """Return the cost of each predicted tag (columns) for each gold one (rows)."""
        table = np.zeros((len(labels), len(labels)))
        for a, gold in enumerate(labels):
            for b, tag in enumerate(labels):
                table[a, b] = 0.0 if a == b else self._cost(str(gold), str(tag))
        return table

    def _cost(self, gold: str, tag: str) -> float:
        if gold == self.outside:
            return self.extra
        if tag == self.outside:
            return self.missed
        same = gold.partition("-")[2] == tag.partition("-")[2]
        return self.boundary if same else self.confused
