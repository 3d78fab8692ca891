r"""Directions in feature space, kept as sums of parts.

An output is a set of parts (a label at a position, a transition, an edge), and the features of a
part are a row of one *base* matrix written at some offset of the weight vector:

    delta_r = sum_p  coef_p * shift(base[source_p], offset_p),    p in ptr[r] .. ptr[r+1].

A chain of T positions with D inputs and K labels has T*K node parts but only T base rows. Kept this
way a cut costs a few dozen numbers instead of many hundred, and nobody ever builds F.

>>> import numpy as np, scipy.sparse as sp
>>> base = sp.csr_array(np.array([[1.0, 2.0]]))
>>> plus_minus = Directions(np.array([0, 2]), np.array([0, 0]), np.array([0, 2]),
...                         np.array([1.0, -1.0]))
>>> plus_minus.tocsr(base, 4).toarray()
array([[ 1.,  2., -1., -2.]])
>>> plus_minus.dot(base, np.array([3.0, 0.0, 1.0, 0.0]))
array([2.])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from structopt.arrays import Floats, Ints, base_matrix

UNIT = base_matrix(sp.csr_array([[1.0]]))
"""The base of directions that are sparse rows: a row is a sum of parts too, each entry one."""


@dataclass(frozen=True)
class Directions:
    """A batch of directions delta_r over one base matrix."""

    ptr: Ints
    source: Ints
    offset: Ints
    coef: Floats

    def __len__(self) -> int:
        return len(self.ptr) - 1

    @classmethod
    def rows(cls, first: int, count: int) -> Directions:
        """Directions that are whole base rows ``first, first + 1, ...``."""
        return cls(
            np.arange(count + 1),
            np.arange(first, first + count),
            np.zeros(count, dtype=np.int64),
            np.ones(count),
        )

    @classmethod
    def entries(cls, rows: Any) -> Directions:
        """Directions that are sparse rows, entry by entry, over :data:`UNIT`.

        >>> Directions.entries(sp.csr_array([[0.0, 2.0, 3.0]])).tocsr(UNIT, 3).toarray()
        array([[0., 2., 3.]])
        """
        csr = base_matrix(sp.csr_array(rows))
        ptr, offset = csr.indptr.astype(np.int64), csr.indices.astype(np.int64)
        return cls(ptr, np.zeros(csr.nnz, dtype=np.int64), offset, csr.data)

    @classmethod
    def concatenate(cls, batches: Sequence[Directions]) -> Directions:
        """Stack batches that share a base."""
        starts = np.concatenate([[0], np.cumsum([len(b.source) for b in batches])])
        ptr = [b.ptr[:-1] + start for b, start in zip(batches, starts, strict=False)]
        return cls(
            np.concatenate([*ptr, starts[-1:]]).astype(np.int64, copy=False),
            np.concatenate([b.source for b in batches]).astype(np.int64, copy=False),
            np.concatenate([b.offset for b in batches]).astype(np.int64, copy=False),
            np.concatenate([b.coef for b in batches]).astype(np.float64, copy=False),
        )

    def take(self, which: Ints) -> Directions:
        """Return the directions at positions ``which``, in that order."""
        if np.array_equal(which, np.arange(len(self))):
            return self
        lengths = np.diff(self.ptr)[which]
        ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        where = np.repeat(self.ptr[:-1][which] - ptr[:-1], lengths) + np.arange(ptr[-1])
        return Directions(ptr, self.source[where], self.offset[where], self.coef[where])

    def check(self, n_features: int, base: Any = None) -> None:
        """Raise a ValueError unless the arrays fit together, and over ``base`` if it is given."""
        every = (self.ptr, self.source, self.offset, self.coef)
        if [values.dtype.kind for values in every] != ["i", "i", "i", "f"]:
            raise ValueError("parts that are no numbers")
        if any(values.ndim != 1 for values in every):
            raise ValueError("parts that are no lists")
        lengths = {len(values) for values in every[1:]}
        if lengths != {int(self.ptr[-1])} or self.ptr[0] != 0 or np.any(np.diff(self.ptr) < 0):
            raise ValueError("parts of different length")
        if not np.all(np.isfinite(self.coef)):
            raise ValueError("a number that is not finite")
        if np.any(self.offset < 0) or np.any(self.offset >= n_features):
            raise ValueError("a part beyond the last weight")
        if base is None:
            return
        if np.any(self.source < 0) or np.any(self.source >= base.shape[0]):
            raise ValueError("a part of a row that the base does not have")
        ends = base.indptr[self.source + 1]
        filled = ends > base.indptr[self.source]
        if np.any(self.offset[filled] + base.indices[ends[filled] - 1] >= n_features):
            raise ValueError("a part beyond the last weight")

    def moved(self, sources: int) -> Directions:
        """Return the same directions over a base that has ``sources`` more rows in front."""
        return Directions(self.ptr, self.source + sources, self.offset, self.coef)

    def tocsr(self, base: Any, n_features: int) -> Any:
        """Return the directions as the rows of a sparse matrix."""
        from structopt.structures.base.parts_kernels import expand

        indptr, indices, data = expand(
            self.ptr, self.source, self.offset, self.coef,
            base.indptr, base.indices, base.data, n_features,
        )  # fmt: skip
        return sp.csr_array((data, indices, indptr), shape=(len(self), n_features))

    def dot(self, base: Any, weights: Floats) -> Floats:
        """Return ``delta_r . w`` for every direction."""
        from structopt.structures.base.parts_kernels import dots

        return np.asarray(
            dots(
                self.ptr, self.source, self.offset, self.coef,
                base.indptr, base.indices, base.data, weights,
            )
        )  # fmt: skip

    def combine(self, base: Any, multipliers: Floats, n_features: int) -> Floats:
        """Return ``sum_r multipliers_r delta_r`` as a dense vector."""
        from structopt.structures.base.parts_kernels import combine

        return np.asarray(
            combine(
                self.ptr, self.source, self.offset, self.coef,
                base.indptr, base.indices, base.data, multipliers, n_features,
            )
        )  # fmt: skip

    def summed(self, multipliers: Floats, edges: Ints) -> Directions:
        """Return ``sum_r multipliers_r delta_r`` over each run of rows between two edges.

        >>> Directions.rows(0, 3).summed(np.array([1.0, 2.0, 3.0]), np.array([0, 2, 3])).coef
        array([1., 2., 3.])
        """
        coef = self.coef * np.repeat(multipliers, np.diff(self.ptr))
        return Directions(self.ptr[edges], self.source, self.offset, coef)

    def signatures(self) -> NDArray[np.uint64]:
        """Return a 64-bit fingerprint of each direction, for finding repeats."""
        from structopt.structures.base.parts_kernels import fingerprints

        return np.asarray(fingerprints(self.ptr, self.source, self.offset, self.coef))
