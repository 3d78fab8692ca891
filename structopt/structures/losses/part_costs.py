r"""The loss of outputs that are sets of parts: what a part too many and one too few cost.

    loss(gold, y) = extra * |y \ gold| + missed * |gold \ y|.

>>> PartCosts(extra=1.0, missed=2.0).of({"a", "b"}, {"b", "c", "d"})
4.0
>>> PartCosts(missed=-1.0).checked()
Traceback (most recent call last):
structopt.errors.InvalidInputError: loss is PartCosts(extra=1.0, missed=-1.0): both must be ...
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any, Self

import numpy as np

from structopt.arrays import Floats
from structopt.errors import InvalidInputError
from structopt.parameters import Parameters


class PartCosts(Parameters):
    """The cost of a part that gold does not have, and of a part of gold that is left out.

    Parameters
    ----------
    extra, missed : float
        At least 0, and one of them positive.
    """

    def __init__(self, extra: float = 1.0, missed: float = 1.0) -> None:
        self.extra = extra
        self.missed = missed

    @classmethod
    def given(cls, loss: Any) -> PartCosts:
        """Return what a structure was given as ``loss=``; None costs 1 a part."""
        if loss is None or isinstance(loss, PartCosts):
            return PartCosts() if loss is None else loss
        raise InvalidInputError(
            f"loss is {loss!r}: give so.losses.PartCosts(extra=..., missed=...) or None."
        )

    def checked(self, *, positive: bool = False) -> Self:
        """Return itself; refuse costs that cannot be used, or that are 0 where none may be."""
        costs = np.array([self.extra, self.missed], dtype=np.float64)
        if not (np.isfinite(costs).all() and (costs >= 0).all() and costs.any()):
            raise InvalidInputError(
                f"loss is {self!r}: both must be finite and >= 0, and one of them positive."
            )
        if positive and not costs.all():
            raise InvalidInputError(f"loss is {self!r}: both must be > 0.")
        return self

    def of(self, gold: Set[Any], other: Set[Any]) -> float:
        """Return the loss of a set of parts."""
        return float(self.extra * len(other - gold) + self.missed * len(gold - other))

    def added(self, gold: Any) -> Floats:
        """Return what each part adds to the loss if it is chosen, up to a constant.

        ``gold`` says of each part whether gold has it.

        >>> PartCosts(missed=2.0).added(np.array([True, False]))
        array([-2.,  1.])
        """
        return np.where(gold, -float(self.missed), float(self.extra))
