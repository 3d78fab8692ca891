"""What `Subset` and `MultiLabel` have in common: sets, and losses of their contingency tables."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from structopt.arrays import Floats
from structopt.errors import InvalidInputError
from structopt.structures.base.given import Mask
from structopt.structures.base.packed import PackedStructure
from structopt.structures.base.structure import ABILITIES
from structopt.structures.losses.contingency import ErrorRate


class SetStructure(PackedStructure):
    """Base of the structures whose output is a set, out of items that an example has."""

    cost: Any
    offers: ClassVar[frozenset[str]] = frozenset(ABILITIES) - {"marginals", "second_augmented"}

    def _measure(self) -> Any:
        """Return the loss that has tables; one with an oracle of its own needs none."""
        given = ErrorRate() if self.cost is None or self.own_loss is not None else self.cost
        if not callable(getattr(given, "table", None)):
            raise InvalidInputError(
                f"loss is {given!r}, which is no loss of sets: give so.losses.FScore, ErrorRate, "
                "Precision or Recall, or an object with table(positives, negatives)."
            )
        return given

    def _check_table(self) -> None:
        """Refuse a loss whose tables are no losses, as those of a small set show."""
        table: Floats = np.asarray(self._measure().table(2, 3), dtype=np.float64)
        problem = ""
        if table.shape != (3, 4):
            problem = f"has shape {table.shape}, not (3, 4)"
        elif not np.all(np.isfinite(table) & (table >= 0)):
            problem = "holds a loss that is not finite or below 0"
        elif table[2, 0] != 0:
            problem = f"charges {table[2, 0]:g} where all is right"
        if problem:
            raise InvalidInputError(f"The table(2, 3) of loss={self.cost!r} {problem}.")

    def _paid(self, gold: Mask, chosen: Mask) -> float:
        """Return the loss of a set."""
        table = self._measure().table(int(gold.sum()), int((~gold).sum()))
        return float(table[int((gold & chosen).sum()), int((~gold & chosen).sum())])
