"""Choosing weights by their errors on held-out data."""

from __future__ import annotations

from typing import Any

from structopt.arrays import Floats
from structopt.errors import InvalidInputError
from structopt.structures.base.structure import Structure, check_lengths


class Validation:
    """The weights with the fewest wrong parts so far.

    Parameters
    ----------
    X, Y : sequences
        Held-out examples.
    patience : int
        Judgements without a better one after which it is `over`.
    """

    def __init__(self, X: Any, Y: Any, patience: int) -> None:
        check_lengths(X, Y)
        if patience < 1:
            raise InvalidInputError(f"patience must be >= 1; got {patience}.")
        self.X, self.Y, self.patience = X, Y, patience
        self.errors: list[int] = []
        """Wrong parts of everything that was judged, in order."""
        self.best: tuple[Floats, float, float] | None = None
        """The best weights, with their objective and residual."""

    @property
    def over(self) -> bool:
        """Whether there was no better one for long."""
        since = len(self.errors) - 1 - self.errors.index(min(self.errors)) if self.errors else 0
        return since >= self.patience

    def judge(self, structure: Structure, weights: Floats, value: float, residual: float) -> int:
        """Count wrong parts, and keep the weights if there were never fewer."""
        predicted = structure.predict(self.X, weights)
        pairs = zip(self.Y, predicted, strict=True)
        wrong = sum(structure.part_errors(y, other) for y, other in pairs)
        if not self.errors or wrong < min(self.errors):
            self.best = (weights.copy(), value, residual)
        self.errors.append(wrong)
        return wrong
