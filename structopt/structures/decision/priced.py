r"""A decision together with the costs that were seen: other decisions are charged their regret.

    loss(gold, y) = c . y - c . gold

>>> gold = Priced((0, 1), [3.0, 1.0])
>>> gold.regret((1, 0)), gold == (0, 1)
(2.0, True)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from structopt.arrays import as_floats
from structopt.structures.base.costed import Costed


class Priced(Costed):
    """An output of a :class:`~structopt.Decision` with its costs; elsewhere it is the output.

    Parameters
    ----------
    y : sequence of numbers
        The decision, usually the cheapest at these costs.
    costs : array
        A number of any sign for each part; all 0 charges nothing (the suboptimality loss of inverse
        optimisation, which needs constraints on the weights).
    """

    __slots__ = ()

    def __init__(self, y: Any, costs: Any) -> None:
        self.y, self.costs = y, as_floats(costs, "costs")

    def regret(self, other: Any) -> float:
        """Return what another decision costs more."""
        apart = np.asarray(other, dtype=np.float64) - np.asarray(self.y, dtype=np.float64)
        return float(self.costs @ apart)

    def __repr__(self) -> str:
        return f"Priced({self.y!r}, {self.costs.tolist()!r})"
