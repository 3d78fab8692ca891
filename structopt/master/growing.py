"""Arrays that grow at their end, at a cost in proportion to what is new.

>>> grown = Growing(np.int64, [1, 2])
>>> grown.extend([3])
>>> grown.values
array([1, 2, 3])
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from structopt.arrays import Ints
from structopt.structures.base.parts import Directions

_ROOM = 4
"""A vector that is full grows by one in so many; doubled, it would stand half empty."""
_MANY = 4
"""Entries of rows are let go of from one in so many on."""


class Growing:
    """A vector that grows at its end in amortised constant time."""

    def __init__(self, dtype: Any, start: Any = None) -> None:
        self._data = np.array([] if start is None else start, dtype=dtype)
        self._size = len(self._data)

    @classmethod
    def around(cls, values: NDArray[Any]) -> Growing:
        """Return a vector that begins as an array of which nobody else makes use."""
        grown = cls(values.dtype)
        grown._data, grown._size = values, len(values)
        return grown

    @property
    def values(self) -> NDArray[Any]:
        """The vector as it stands; a view."""
        return self._data[: self._size]

    def extend(self, values: Any) -> None:
        """Add values at the end."""
        size = self._size + len(values)
        if size > len(self._data):
            room = max(size, len(self._data) + len(self._data) // _ROOM)
            bigger = np.empty(room, self._data.dtype)
            bigger[: self._size] = self.values
            self._data = bigger
        self._data[self._size : size] = values
        self._size = size

    def replace(self, values: Any) -> None:
        """Take other values."""
        self._data, self._size = np.array(values, dtype=self._data.dtype), len(values)

    def keep(self, which: Any) -> None:
        """Keep only some values; views of what was there stay as they are."""
        self._data = self.values[which]
        self._size = len(self._data)


class GrowingRows:
    """A sparse matrix that grows by rows at its end, in proportion to what is new."""

    def __init__(self, width: int) -> None:
        self._width = width
        # 32 bits: SciPy would look through longer indices, and shorten them, whenever it is asked
        self._ptr, self._indices = Growing(np.int32, [0]), Growing(np.int32)
        self._data = Growing(np.float64)

    def __len__(self) -> int:
        return len(self._ptr.values) - 1

    def extend(self, rows: Any) -> None:
        """Add CSR rows at the end."""
        if len(self._data.values) + rows.nnz > np.iinfo(np.int32).max:
            self._ptr = Growing(np.int64, self._ptr.values)
        self._indices.extend(rows.indices)
        self._data.extend(rows.data)
        self._ptr.extend(rows.indptr[1:] + self._ptr.values[-1])  # last: it says what is there

    def replace(self, rows: Any) -> None:
        """Take other rows."""
        self._ptr.replace(rows.indptr)
        self._indices.replace(rows.indices)
        self._data.replace(rows.data)

    def empty(self, which: NDArray[np.bool_]) -> None:
        """Let go of the entries of some rows, if they are many; every row keeps its number."""
        ptr, lengths = self._ptr.values, np.diff(self._ptr.values)
        if _MANY * lengths[which].sum() < ptr[-1]:
            return
        lengths[which] = 0
        ends = np.concatenate([ptr[:1], np.cumsum(lengths, dtype=ptr.dtype)])
        stays = np.repeat(~which, np.diff(ptr))
        kept = (ends, self._indices.values[stays], self._data.values[stays])
        # at once: an interrupt finds all or nothing
        self._ptr, self._indices, self._data = map(Growing.around, kept)

    @property
    def matrix(self) -> Any:
        """The rows as they stand; views."""
        return self.since(0)

    def since(self, first: int) -> Any:
        """Return the rows from ``first`` on; views."""
        ptr = self._ptr.values[first:]
        start, stop = ptr[0], ptr[-1]
        ends = ptr - start if first else ptr
        arrays = (self._data.values[start:stop], self._indices.values[start:stop], ends)
        return sp.csr_array(arrays, shape=(len(ptr) - 1, self._width))


class GrowingDirections:
    """Directions over one base that grow at their end, with 32-bit numbers as long as these do."""

    def __init__(self) -> None:
        self._ptr, self._coef = Growing(np.int64, [0]), Growing(np.float64)
        self._source, self._offset = Growing(np.int32), Growing(np.int32)

    def extend(self, new: Directions) -> None:
        """Add directions at the end."""
        self._source = _wide_enough(self._source, new.source)
        self._offset = _wide_enough(self._offset, new.offset)
        self._ptr.extend(new.ptr[1:] + self._ptr.values[-1])
        self._source.extend(new.source)
        self._offset.extend(new.offset)
        self._coef.extend(new.coef)

    def keep(self, which: Ints) -> None:
        """Keep some of the directions, in that order."""
        kept = self.since(0).take(which)
        self._ptr, self._source = Growing.around(kept.ptr), Growing.around(kept.source)
        self._offset, self._coef = Growing.around(kept.offset), Growing.around(kept.coef)

    def since(self, first: int) -> Directions:
        """Return the directions from ``first`` on; views."""
        ptr = self._ptr.values[first:]
        parts = (grown.values[ptr[0] :] for grown in (self._source, self._offset, self._coef))
        return Directions(ptr - ptr[0] if first else ptr, *parts)


def _wide_enough(grown: Growing, values: Ints) -> Growing:
    """Return a vector that can take these values."""
    limit = np.iinfo(grown.values.dtype).max
    fits = values.max(initial=0) <= limit
    return grown if fits else Growing.around(grown.values.astype(np.int64))
