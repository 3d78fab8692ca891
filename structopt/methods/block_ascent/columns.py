r"""Input columns made fewer, exactly: those that nobody has, repeated ones, those of one row.

A ridge sees inputs through inner products ``x_s . x_t`` alone, so

* columns without entries do not exist;
* m equal columns are one, times sqrt(m);
* columns that only row t has add ``|x_t's part|^2`` to ``x_t . x_t`` and to nothing else: a number
  of its own for each row, and no column.

Optimal values, multipliers and scores are the same; weights over the given columns are summed anew
from multipliers. Columns count as equal by a hash of 64 bits of rows and values; should two of them
ever differ nonetheless, no certificate comes of it, since that is computed over the given columns.

>>> import scipy.sparse as sp
>>> X = sp.csr_array(np.array([[3.0, 3.0, 0.0, 0.0, 4.0], [1.0, 1.0, 2.0, 0.0, 0.0]]))
>>> found = Columns.of(X)
>>> found.data.round(4), found.indices, found.own, found.occurring
(array([4.2426, 1.4142]), array([0, 0], dtype=int32), array([16.,  4.]), array([0, 1, 2, 4]))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.methods.block_ascent.columns_kernels import MISSING, fewer


@dataclass(frozen=True)
class Columns:
    """Rows over fewer columns, in CSR form.

    Attributes
    ----------
    indptr, indices, data : arrays
        The rows, with 32 bits an index.
    own : array
        ``|x_t's own part|^2`` of each row; 0 where columns of one row are not kept apart.
    square : array
        ``|x_t|^2`` of each row.
    scale : array
        sqrt(m) of each column that is left.
    place : array of int
        The column that each given one became; SINGLE and MISSING where there is none.
    """

    indptr: Any
    indices: Any
    data: Floats
    own: Floats
    square: Floats
    scale: Floats
    place: Any

    @classmethod
    def of(cls, rows: Any, *, apart: bool = True) -> Columns:
        """Make the columns of a CSR matrix fewer; ``apart`` keeps those of one row out."""
        bits = rows.data.view(np.uint64)
        return cls(*fewer(rows.indptr, rows.indices, rows.data, bits, rows.shape[1], apart))

    @property
    def occurring(self) -> Ints:
        """The given columns that have an entry."""
        return np.flatnonzero(self.place > MISSING)
