r"""The loss of outputs that are sets of parts: what a part too many and one too few cost.

    loss(gold, y) = extra * |y \ gold| + missed * |gold \ y|,

or, where costs differ from part to part, the sum of the costs of the parts in which they differ.

>>> PartCosts(extra=1.0, missed=2.0).of({"a", "b"}, {"b", "c", "d"})
4.0
>>> PartCosts(missed=-1.0).checked()
Traceback (most recent call last):
structopt.errors.InvalidInputError: loss is PartCosts(extra=1.0, missed=-1.0): both must be ...
"""

from __future__ import annotations

from collections.abc import Callable, Set
from numbers import Real
from typing import Any, Self

import numpy as np

from structopt.arrays import Floats
from structopt.errors import InvalidInputError
from structopt.parameters import Parameters


class PartCosts(Parameters):
    """The cost of a part that gold does not have, and of a part of gold that is left out.

    Parameters
    ----------
    extra, missed : float, or for a `BooleanProgram` a vector, or a callable gold -> vector
        Finite and at least 0; vectors hold a number for each part.
    """

    def __init__(
        self,
        extra: float | Floats | Callable[[Any], Any] = 1.0,
        missed: float | Floats | Callable[[Any], Any] = 1.0,
    ) -> None:
        self.extra: Any = extra
        self.missed: Any = missed

    @classmethod
    def given(cls, loss: Any) -> PartCosts:
        """Return what a structure was given as ``loss=``; None costs 1 a part.

        So does a loss that brings an oracle of its own, which is asked instead.
        """
        if callable(loss) and hasattr(loss, "argmax"):
            return PartCosts()
        if loss is None or isinstance(loss, PartCosts):
            return PartCosts() if loss is None else loss
        raise InvalidInputError(
            f"loss is {loss!r}: give so.losses.PartCosts(extra=..., missed=...) or None, or a loss "
            "that brings its oracle, argmax(structure, x, weights, gold)."
        )

    def checked(self, *, positive: bool = False) -> Self:
        """Return itself; refuse costs that are no numbers, or 0 where none (or not both) may be."""
        costs = [self.extra, self.missed]
        plain = all(isinstance(c, Real) and abs(float(c)) < np.inf for c in costs)
        if not plain or not (min(costs) >= 0 and any(costs)):
            raise InvalidInputError(
                f"loss is {self!r}: both must be finite and >= 0, and one of them positive."
            )
        if positive and not all(costs):
            raise InvalidInputError(f"loss is {self!r}: both must be > 0.")
        return self

    def of(self, gold: Set[Any], other: Set[Any]) -> float:
        """Return the loss of a set of parts."""
        return float(self.extra * len(other - gold) + self.missed * len(gold - other))

    def added(self, gold: Any, y: Any = None, example: int | None = None) -> Floats:
        """Return what each part adds to the loss if it is chosen, up to a constant.

        ``gold`` says of each part whether gold has it; ``y`` is gold as users write it.

        >>> PartCosts(missed=2.0).added(np.array([True, False]))
        array([-2.,  1.])
        """
        costs = []
        for name in ("extra", "missed"):
            given = getattr(self, name)
            cost = np.asarray(given(y) if callable(given) else given, dtype=np.float64)
            if cost.shape not in ((), gold.shape) or not np.all(np.isfinite(cost) & (cost >= 0)):
                raise InvalidInputError(
                    f"{name} of the loss has shape {cost.shape}; it must be a number or "
                    f"{len(gold)} numbers, finite and >= 0.",
                    example=example,
                )
            costs.append(cost)
        return np.where(gold, -costs[1], costs[0])
