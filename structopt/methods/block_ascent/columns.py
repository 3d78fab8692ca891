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
from structopt.methods.block_ascent.columns_kernels import MISSING, fewer, kept, placed, squares

_MOST = 0.9
"""Share of the entries that must be left at most for the rows to be written anew: what visits save
is a tenth then, and the rows are held twice."""


@dataclass(frozen=True)
class Columns:
    """Rows over fewer columns, in CSR form.

    Attributes
    ----------
    indptr, indices, data : arrays
        The rows, with 32 bits an index: new ones, or the given.
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
        """Make the columns of a CSR matrix fewer; ``apart`` keeps those of one row out.

        Where nearly every entry would be left, the rows stay as they are, in the same memory.
        """
        given, square = (rows.indptr, rows.indices), squares(rows.indptr, rows.data)
        place, lead, count = placed(*given, rows.data.view(np.uint64), rows.shape[1], apart)
        total = kept(*given, lead)
        if total > _MOST * len(rows.data):
            return cls._same(rows, np.flatnonzero(place > MISSING), square)
        scale = np.sqrt(count.astype(np.float64))
        ends, where, values, own = fewer(*given, rows.data, place, lead, scale, total)
        return cls(ends, where, values, own, square, scale, place)

    @classmethod
    def _same(cls, rows: Any, occurring: Ints, square: Floats) -> Columns:
        """Return rows as they are; columns get new numbers if most of them are empty."""
        n_rows, width = rows.shape
        few = 2 * len(occurring) < width
        numbers = np.arange(len(occurring)) if few else occurring
        place = np.full(width, MISSING, dtype=np.int32)
        place[occurring] = numbers
        indices = place[rows.indices] if few else rows.indices
        scale = np.ones(len(occurring) if few else width)
        return cls(rows.indptr, indices, rows.data, np.zeros(n_rows), square, scale, place)

    @property
    def occurring(self) -> Ints:
        """The given columns that have an entry."""
        return np.flatnonzero(self.place > MISSING)
