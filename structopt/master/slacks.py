r"""Where slacks stand in rows, and the two repairs that this allows.

In rows ``(...) + gamma xi >= lower`` and ``(...) - gamma xi <= upper``, any point satisfies them
once its slacks are raised far enough; any multipliers leave a slack at rest once they are scaled
until ``sum gamma y`` over its rows is at most its cost.

>>> import scipy.sparse as sp
>>> slacks = Slacks.of(sp.csr_array([[1.0, 2.0], [3.0, 1.0]]), np.array([False, True]))
>>> slacks.rest(np.array([1.0, 2.0]), cost=np.array([0.0, 2.0]))  # 2 * 1 + 1 * 2 is twice that
array([0.5, 1. ])
>>> x = np.zeros(2)
>>> slacks.lift(x, x.copy(), below=np.array([3.0, 1.0]), above=np.full(2, -np.inf))
>>> x
array([0. , 1.5])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Floats, Ints


@dataclass(frozen=True)
class Slacks:
    """The entries ``gamma`` of slack columns, with their rows."""

    row: Ints
    column: Ints
    gamma: Floats

    @classmethod
    def of(cls, rows: Any, which: NDArray[np.bool_]) -> Slacks:
        """Find the entries of some columns in CSR rows."""
        row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        entry = np.flatnonzero(which[rows.indices] & (rows.data != 0))
        return cls(row[entry], rows.indices[entry], rows.data[entry])

    def take(self, which: Ints) -> Slacks:
        """Return some of the entries."""
        return Slacks(self.row[which], self.column[which], self.gamma[which])

    def lift(self, raised: Floats, bare: Floats, below: Floats, above: Floats) -> None:
        """Raise slacks in ``raised`` to what rows ask for that at ``bare`` are short.

        ``below`` is how far a row is below its lower side there, ``above`` how far above its upper.
        """
        short = np.where(self.gamma > 0, below[self.row], above[self.row])
        needed = np.where(np.isfinite(short), short / np.abs(self.gamma), 0.0)
        np.maximum.at(raised, self.column, bare[self.column] + needed)

    def rest(self, y: Floats, cost: Floats) -> Floats:
        """Scale multipliers down until no slack's rows load it beyond its cost."""
        load = np.maximum(self.gamma * y[self.row], 0.0)
        total = np.bincount(self.column, load, minlength=len(cost))
        over = (total > cost) & (total > 0)  # a weight may have a cost below 0
        if not np.any(over):
            return y
        factor = np.ones(len(cost))
        factor[over] = np.maximum(cost[over], 0.0) / total[over]
        shrink, loaded = np.ones(len(y)), load > 0
        np.minimum.at(shrink, self.row[loaded], factor[self.column[loaded]])
        return y * shrink
