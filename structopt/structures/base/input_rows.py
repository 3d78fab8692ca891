r"""Rows of inputs over a base matrix, scored label by label.

    scores[t, k] = x_t . W[k],    W (K, d) the weights of K labels, one block after the other.

>>> import numpy as np
>>> rows = InputRows.of(np.array([[1.0, 2.0], [0.0, 3.0]]))
>>> rows.scores(np.array([1.0, 0.0, 0.0, 1.0]), 2)
array([[1., 2.],
       [0., 3.]])
>>> rows[1:2].scores(np.array([1.0, 0.0, 0.0, 1.0]), 2), rows[1:2].first
(array([[0., 3.]]), 1)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, base_matrix
from structopt.structures.base.parts_kernels import part_scores, sparse_scores

MAX_DENSITY = 1 / 3
"""Share of nonzeros below which the compiled sparse product beats BLAS (measured at d = 128,
K = 26: 0.8 ms against 1.2 ms at 22%, break-even at 36%)."""


class InputRows:
    """Consecutive rows of a base matrix, and the same as a dense matrix where that is faster.

    A slice of it is a view that is made for many small questions: it reads only the weights it
    needs, which matters where inputs are words by the 10^5.

    Attributes
    ----------
    base : CSR array
        All rows, of these and of others.
    first, n_inputs : int
        The row of ``base`` that comes first, and how many of its columns are inputs.
    few : bool
        Whether this is a slice.
    """

    def __init__(self, base: Any, n_rows: int, n_inputs: int, dense: Floats | None) -> None:
        self.base, self.n_inputs, self.first, self.few = base, n_inputs, 0, False
        self._ends, self._dense = base.indptr[: n_rows + 1], dense

    @classmethod
    def of(cls, matrix: Any, base: Any = None) -> InputRows:
        """Return the rows of a matrix over its own base, or over one that begins with them."""
        n_rows, n_inputs = matrix.shape
        base = base_matrix(matrix) if base is None else base
        sparse = sp.issparse(matrix) or base.indptr[n_rows] < MAX_DENSITY * matrix.size
        return cls(base, n_rows, n_inputs, None if sparse else matrix)

    @classmethod
    def over(cls, base: Any) -> InputRows:
        """Return all rows of a base, which are summed in one order however they are cut."""
        return cls(base, base.shape[0], base.shape[1], None)

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, own: slice) -> InputRows:
        part = object.__new__(InputRows)
        part.base, part.n_inputs, part.few = self.base, self.n_inputs, True
        part.first = self.first + own.start
        part._ends = self._ends[own.start : own.stop + 1]
        part._dense = None if self._dense is None else self._dense[own]
        return part

    @property
    def matrix(self) -> Any:
        """The rows as a matrix, dense or CSR: no copy."""
        if self._dense is not None:
            return self._dense
        first, stop = int(self._ends[0]), int(self._ends[-1])
        own = slice(first, stop)
        ends = self._ends if first == 0 else self._ends - first
        return sp.csr_array(
            (self.base.data[own], self.base.indices[own], ends), shape=(len(self), self.n_inputs)
        )

    def scores(self, weights: Floats, n_labels: int) -> Floats:
        """Return the score of every label at every row, C-ordered."""
        if self._dense is not None:
            return np.ascontiguousarray(self._dense @ weights.reshape(n_labels, -1).T)
        rows = (self._ends, self.base.indices, self.base.data)
        if self.few:
            return np.asarray(part_scores(*rows, weights, n_labels))
        if n_labels == 1:  # a copy: weights that are read-only would be compiled anew
            return np.asarray(part_scores(*rows, np.array(weights), 1))
        columns = np.array(weights.reshape(n_labels, -1).T, order="C")
        return np.asarray(sparse_scores(*rows, columns))

    def summed(self, by_label: Floats) -> Floats:
        """Return ``sum_t by_label[t, k] x_t`` for all labels, one block after the other."""
        return np.asarray(self.matrix.T @ by_label).T.ravel()
