r"""Examples whose output is a label for each of some input rows, as the arrays that say so.

    score(y) = sum_t x_t . W[y_t] + sum_t T[y_{t-1}, y_t],      margin(y) = sum_t cost_t(y_t),

with t over the rows of an example, and T only where labels have neighbours. Methods whose loops are
compiled whole read this instead of asking oracles, example by example.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from structopt.arrays import Floats, Ints
from structopt.structures.base.label_costs import table


class LabelProblem(NamedTuple):
    """The examples of a shard.

    Attributes
    ----------
    rows : CSR array
        One row for each label to be chosen; those of an example are consecutive.
    offsets : array of int or None
        Example i has the rows ``offsets[i] .. offsets[i + 1] - 1``; None: one row an example, and
        no transitions.
    gold : array of int
        The right label of each row.
    cost : array of shape (N,) or (N, K)
        The margin that a wrong label adds, or each label.
    n_labels : int
    boundaries : bool
        Whether the first and the last label of an example have weights of their own.
    allowed : array of bool, shape (K + 1, K + 1), or None
        Which label may follow which, the start and the end last.
    """

    rows: Any
    offsets: Ints | None
    gold: Ints
    cost: Floats
    n_labels: int
    boundaries: bool = False
    allowed: NDArray[Any] | None = None

    @classmethod
    def stacked(cls, problems: Sequence[LabelProblem]) -> LabelProblem:
        """Return the examples of several shards as one problem."""
        first = problems[0]
        offsets = None
        if first.offsets is not None:
            ends = np.cumsum([0, *(p.rows.shape[0] for p in problems)])
            pieces = [p.offsets[1:] + a for p, a in zip(problems, ends, strict=False)]  # type: ignore[index]
            offsets = np.concatenate([[0], *pieces])
        costs = [p.cost for p in problems]
        if len({cost.ndim for cost in costs}) > 1:
            costs = [table(p.cost, p.gold, p.n_labels) for p in problems]
        return first._replace(
            rows=sp.vstack([p.rows for p in problems], format="csr"),
            offsets=offsets,
            gold=np.concatenate([p.gold for p in problems]),
            cost=np.concatenate(costs),
        )
