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

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints, base_matrix, strided
from structopt.structures.base.parts_kernels import part_scores, sparse_scores

MAX_DENSITY = 1 / 3
"""Share of nonzeros below which the compiled sparse product beats BLAS (measured at d = 128,
K = 26: 0.8 ms against 1.2 ms at 22%, break-even at 36%)."""


class Turned:
    """Weights input by input, made once for all runs of rows that are asked at the same weights.

    Parameters
    ----------
    wide : bool
        Whether few columns occur in all runs together: then each looks for its own.
    """

    def __init__(self, wide: bool) -> None:
        self.wide = wide
        self._last: tuple[Floats, Floats] = np.zeros(0), np.zeros(0)

    def columns(self, weights: Floats, n_labels: int) -> Floats:
        """Return weights [input, label]; an array that was given before has not been changed."""
        # the last one is held, so that no other array can have its address
        last, found = self._last
        same = last.ctypes.data == weights.ctypes.data
        if not (same and found.shape == (weights.size // n_labels, n_labels)):
            found = _turned(weights, n_labels)
            self._last = weights, found  # at once: threads may come here together
        return found

    def forget(self) -> None:
        """Let go of the weights."""
        self._last = np.zeros(0), np.zeros(0)


def _turned(weights: Floats, n_labels: int) -> Floats:
    return np.array(weights.reshape(n_labels, -1).T, order="C")


class InputRows:
    """Consecutive rows of a base matrix, and the same as a dense matrix where that is faster.

    A slice of it is a view that is made for many small questions: it reads only the weights it
    needs, which matters where inputs are words by the 10^5.

    The base is made when it is first asked for: a single prediction needs none. Whoever asks many
    times asks for it first, since it decides which product is faster.

    Attributes
    ----------
    first, n_inputs : int
        The row of ``base`` that comes first, and how many of its columns are inputs.
    few : bool
        Whether this is a slice.
    turned : Turned, optional
        What runs of the same rows share.
    """

    turned: Turned | None = None
    _base: Any
    _rows: Any
    _dense: Any

    def __init__(self, matrix: Any, make_base: Callable[[], Any]) -> None:
        self.n_inputs, self.first, self.few = matrix.shape[1], 0, False
        self._base, self._make = None, make_base
        sparse = sp.issparse(matrix)
        self._dense = None if sparse else matrix
        self._rows = (matrix.indptr, matrix.indices, matrix.data) if sparse else None

    @classmethod
    def of(cls, matrix: Any, make_base: Callable[[], Any] | None = None) -> InputRows:
        """Return the rows of a matrix over its own base, or over one that begins with them."""
        return cls(matrix, partial(base_matrix, matrix) if make_base is None else make_base)

    @classmethod
    def over(cls, base: Any) -> InputRows:
        """Return all rows of a base, which are summed in one order however they are cut."""
        return cls(base, lambda: base)._settled()

    def _settled(self) -> InputRows:
        """Return itself, with its base."""
        if self._base is None:
            n_rows, base = len(self), self._make()
            if self._dense is not None and base.indptr[n_rows] < MAX_DENSITY * self._dense.size:
                self._dense = None
            self._base, self._rows = base, (base.indptr[: n_rows + 1], base.indices, base.data)
            del self._make
        return self

    @property
    def base(self) -> Any:
        """All rows, of these and of others, as the kernels read them."""
        return self._settled()._base

    def __len__(self) -> int:
        return len(self._dense) if self._rows is None else len(self._rows[0]) - 1

    def __getitem__(self, own: slice) -> InputRows:
        ends, *numbers = self._settled()._rows
        part = object.__new__(InputRows)
        part.n_inputs, part.first, part.few = self.n_inputs, self.first + own.start, True
        part._base, part._rows = self._base, (ends[own.start : own.stop + 1], *numbers)
        part._dense = None if self._dense is None else self._dense[own]
        return part

    def renumbered(self, place: Ints, width: int) -> InputRows:
        """Return the rows with column j as ``place[j]`` of ``width``; other rows of base stay.

        ``place`` keeps the order of the columns that occur.

        >>> rows = InputRows.of(sp.csr_array(np.array([[0.0, 1.0, 0.0, 2.0]])))
        >>> rows.renumbered(np.array([0, 0, 0, 1]), 2).matrix.toarray()
        array([[1., 2.]])
        """
        base, n = self.base, len(self)
        stop = int(base.indptr[n])
        indices = base.indices.copy()
        indices[:stop] = place[indices[:stop]]
        wide = max(width, int(indices[stop:].max(initial=-1)) + 1)
        other = sp.csr_array((base.data, indices, base.indptr), shape=(base.shape[0], wide))
        fewer = object.__new__(InputRows)
        fewer.n_inputs, fewer.first, fewer.few = width, 0, False
        fewer._base, fewer._dense = other, None
        fewer._rows = (other.indptr[: n + 1], other.indices, other.data)
        return fewer

    @property
    def matrix(self) -> Any:
        """The rows as a matrix, dense or CSR: no copy."""
        if self._dense is not None:
            return self._dense
        return self._sparse(*self._rows)

    def _sparse(self, ends: Any, indices: Any, data: Any) -> Any:
        first, stop = int(ends[0]), int(ends[-1])
        own = (data[first:stop], indices[first:stop], ends if first == 0 else ends - first)
        return sp.csr_array(own, shape=(len(self), self.n_inputs))

    @property
    def csr(self) -> Any:
        """The rows as a CSR matrix over the memory of the base, its stored zeros included."""
        return self._sparse(*self._settled()._rows)

    def scores(self, weights: Floats, n_labels: int) -> Floats:
        """Return the score of every label at every row, C-ordered."""
        if self._dense is not None:
            return np.ascontiguousarray(self._dense @ weights.reshape(n_labels, -1).T)
        rows = self._rows
        if self.few and self.turned is None:
            return np.asarray(part_scores(*rows, weights, n_labels))
        ends, indices, data = rows
        first, stop = ends[0], ends[-1]
        wide = self._wide() if self.turned is None else self.turned.wide
        if wide:  # a few words among many: only their weights
            used, local = np.unique(indices[first:stop], return_inverse=True)
            columns = np.array(weights.reshape(n_labels, -1)[:, used].T, order="C")
            own = (ends - first, local.astype(indices.dtype), data[first:stop])
            return np.asarray(sparse_scores(*own, columns))
        if n_labels == 1:  # a copy: weights that are read-only would be compiled anew
            return np.asarray(part_scores(*rows, np.array(weights), 1))
        turn = _turned if self.turned is None else self.turned.columns
        return np.asarray(sparse_scores(*rows, turn(weights, n_labels)))

    def sample(self) -> Any:
        """Return a few of the numbers that scores are made of."""
        return strided(self._rows[2] if self._dense is None else self._dense)

    def _wide(self) -> bool:
        """Return whether few of the columns occur."""
        ends = self._settled()._rows[0]
        return bool(4 * (ends[-1] - ends[0]) < self.n_inputs)

    def share(self, runs: Iterable[InputRows]) -> None:
        """Let slices of these rows be asked for as much at once as all of them are."""
        turned = Turned(self._wide())
        for run in runs:
            run.turned = turned

    def summed(self, by_label: Floats) -> Floats:
        """Return ``sum_t by_label[t, k] x_t`` for all labels, one block after the other."""
        return np.asarray(self.matrix.T @ by_label).T.ravel()
