r"""Arrays: their types, and checks on what the user hands in (inputs, sequences, weights).

Every message names the example, the position and both numbers, so that a bad row among thousands
is found at once.

>>> import numpy as np
>>> matrix, offsets, _ = stack_sequences([np.ones((2, 3)), np.zeros((1, 3))], 3)
>>> matrix.shape, offsets
((3, 3), array([0, 2, 3]))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from structopt.errors import InvalidInputError, NotNumbersError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_AT_ONCE = 2**16
"""Numbers of a dense matrix that are looked through at once for those that are not 0."""


def as_matrix(x: Any, *, name: str = "X", example: int | None = None) -> Any:
    """Return ``x`` as a C-ordered float64 matrix, or as a CSR array if it is sparse."""
    if sp.issparse(x):
        if x.ndim != 2 or x.dtype.kind not in "biuf":
            raise InvalidInputError(
                f"{name} is a sparse array of shape {x.shape} and type {x.dtype}: give a matrix of "
                "real numbers.",
                example=example,
            )
        ready = type(x) is sp.csr_array and x.dtype == np.float64  # SciPy takes 40 us to say so
        return x if ready else sp.csr_array(x, dtype=np.float64)
    try:
        array = as_floats(x, name)
    except InvalidInputError as error:
        advice = (
            "Give a matrix. Words, columns and mappings become one by features= of the model: "
            "so.WordFeatures, so.ColumnFeatures, so.DictFeatures, ..."
        )
        raise type(error)(f"{error} {advice}", example=example) from error
    if np.ndim(x) != 2:
        raise InvalidInputError(
            f"{name} has {np.ndim(x)} dimension(s), shape {np.shape(x)}; expected a matrix. "
            "Reshape your data: a single column with x.reshape(-1, 1), a single row with "
            "x.reshape(1, -1).",
            example=example,
        )
    return array


def as_sequence(examples: Any) -> Any:
    """Return examples as they are, or as an array if that is all they know to become."""
    sized = hasattr(examples, "__len__") or hasattr(examples, "shape")
    return np.asarray(examples) if hasattr(examples, "__array__") and not sized else examples


def count(examples: Any, name: str = "X") -> int:
    """Return how many examples there are; refuse what is no sequence of them.

    >>> count(range(3)), count(np.zeros((2, 5)))
    (3, 2)
    """
    shape = getattr(examples, "shape", None)  # a sparse matrix has no len
    if isinstance(shape, tuple) and shape:
        return int(shape[0])
    sized = hasattr(examples, "__len__") and hasattr(examples, "__getitem__")
    graph = hasattr(examples, "adj")  # networkx' have both, by node
    if shape is None and sized and not graph and not isinstance(examples, bytes | Mapping | type):
        return len(examples)
    raise InvalidInputError(
        f"{name} is a {type(examples).__name__}: give a sequence with one entry per example, such "
        "as a list or an array."
    )


def check_inputs(n_columns: int, n_inputs: int, whose: str) -> None:
    """Refuse inputs of another width than those that ``whose`` was fitted to, as sklearn does."""
    if n_columns != n_inputs:
        raise InvalidInputError(
            f"X has {n_columns} features, but {whose} is expecting {n_inputs} features as input."
        )


def check_columns(matrix: Any, n_inputs: int, *, name: str, example: int | None = None) -> None:
    """Refuse a matrix whose number of columns is not ``n_inputs``."""
    if matrix.shape[1] != n_inputs:
        raise InvalidInputError(
            f"{name} has {matrix.shape[1]} columns; expected {n_inputs}.", example=example
        )
    if n_inputs == 0:
        raise InvalidInputError(
            f"{name} has no columns: 0 feature(s) (shape={matrix.shape}) while a minimum of 1 is "
            "required.",
            example=example,
        )


def first_not_finite(matrix: Any) -> tuple[int, int, float] | None:
    """Return row, column and value of the first NaN or infinity; None if there is none."""
    values = matrix.data if sp.issparse(matrix) else matrix
    if np.isfinite([values.max(initial=0.0), values.min(initial=0.0)]).all():  # without a copy
        return None
    finite = np.isfinite(values)
    if finite.all():
        return None
    where = int(np.argmin(finite))
    if sp.issparse(matrix):
        row = int(np.searchsorted(matrix.indptr, where, side="right")) - 1
        return row, int(matrix.indices[where]), float(values[where])
    row, column = divmod(where, matrix.shape[1])
    return row, column, float(values[row, column])


class Stacked(NamedTuple):
    """Sequences in one matrix, and below it the row (1, 0, ..., 0) of parts without inputs.

    Attributes
    ----------
    matrix : array or CSR array of shape (N, d)
    offsets : array of int
        Sequence i is rows ``offsets[i] .. offsets[i + 1] - 1``.
    whole : array or CSR array of shape (N + 1, d)
        The matrix and that row; ``matrix`` is a view of it.
    """

    matrix: Any
    offsets: Ints
    whole: Any

    def base(self) -> Any:
        """Return ``whole`` as the kernels read it, over the same memory where that is smaller."""
        if sp.issparse(self.whole):
            return base_matrix(self.whole)
        base = base_matrix(self.whole)
        if len(base.data) < self.whole.size:
            return base
        last = self.matrix.size + 1  # of the last row only the 1: it is read once a transition
        ends = base.indptr.copy()
        ends[-1] = last
        return sp.csr_array((base.data[:last], base.indices[:last], ends), shape=base.shape)


def stack_sequences(X: Any, n_inputs: int | None = None, *, start: int = 0) -> Stacked:
    """Stack matrices (T_i, d) to one, with the offsets of the examples in it.

    Dense inputs stay dense; if any is sparse, the result is CSR. ``n_inputs`` is the number of
    columns expected, by default that of the first example; ``start`` is the first one's number.
    """
    if hasattr(X, "columns"):
        raise InvalidInputError(
            "X is one data frame: cut it into sequences with so.group_frame(frame, by=...), where "
            "by is the column that says which rows belong together, and give the model features=."
        )
    if sp.issparse(X) or isinstance(X, str | Mapping) or not hasattr(X, "__len__"):
        raise InvalidInputError(
            f"X is a {type(X).__name__}: give a list with one (T, d) matrix per example."
        )
    blocks = []
    for i, x in enumerate(X, start):
        block = _checked(x, f"Input of example {i}", i)
        if block.shape[0] == 0:
            raise InvalidInputError(
                f"Example {i} is empty: leave out sequences without positions.", example=i
            )
        n_inputs = block.shape[1] if n_inputs is None else n_inputs
        check_columns(block, n_inputs, name=f"Input of example {i}", example=i)
        blocks.append(block)
    if not blocks:
        raise InvalidInputError("The data set is empty: give at least one example.")
    lengths = [block.shape[0] for block in blocks]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    width = blocks[0].shape[1]
    if any(sp.issparse(block) for block in blocks):
        # not from the dense row, which may have 10^5 zeros to look through
        place = np.zeros(1, dtype=np.int32), np.array([0, 1], dtype=np.int32)
        whole = _stacked_csr([*blocks, sp.csr_array((np.ones(1), *place), shape=(1, width))])
        rows = (whole.data[:-1], whole.indices[:-1], whole.indptr[:-1])
        matrix = sp.csr_array(rows, shape=(int(offsets[-1]), whole.shape[1]))
    else:
        whole = np.empty((int(offsets[-1]) + 1, width))
        np.concatenate([*blocks, np.eye(1, width)], out=whole, casting="unsafe")
        matrix = whole[:-1]
    bad = first_not_finite(matrix)
    if bad is not None:
        row, column, value = bad
        i = int(np.searchsorted(offsets, row, side="right")) - 1
        raise InvalidInputError(
            f"Input of example {start + i} holds {value} at position {row - offsets[i]}, column "
            f"{column}: replace or drop what is not finite (NaN, inf).",
            example=start + i,
        )
    return Stacked(matrix, offsets, whole)


def _checked(x: Any, name: str, example: int) -> Any:
    """Return a matrix of real numbers as it is: it need not be held twice to be stacked."""
    real = isinstance(x, np.ndarray) or sp.issparse(x)
    if real and x.ndim == 2 and x.dtype.kind in "biuf":
        return x if sp.issparse(x) else np.asarray(x)
    return as_matrix(x, name=name, example=example)


def _csr(block: Any) -> Any:
    return block if type(block) is sp.csr_array else sp.csr_array(block)


def _stacked_csr(blocks: Sequence[Any]) -> Any:
    """Return matrices of the same width below each other, each row sorted and without repeats.

    Room is made once, and blocks that are in another form become CSR one after the other.
    """
    room = sum(block.nnz if sp.issparse(block) else np.count_nonzero(block) for block in blocks)
    shape = sum(block.shape[0] for block in blocks), blocks[0].shape[1]
    kind = _index_type(max(room, shape[1]))
    data, indices = np.empty(room), np.empty(room, dtype=kind)
    ends, row, at = np.zeros(shape[0] + 1, dtype=kind), 0, 0
    for block in map(_csr, blocks):
        n_rows, nnz = block.shape[0], int(block.indptr[-1])
        data[at : at + nnz], indices[at : at + nnz] = block.data[:nnz], block.indices[:nnz]
        np.add(block.indptr[1:], at, out=ends[row + 1 : row + n_rows + 1], casting="unsafe")
        row, at = row + n_rows, at + nnz
    whole = sp.csr_array((data[:at], indices[:at], ends), shape=shape)
    whole.sum_duplicates()  # in place
    return whole


def stack_rows(blocks: Sequence[Any]) -> Any:
    """Stack matrices of the same width: dense ones to a dense one, else to CSR."""
    if any(sp.issparse(block) for block in blocks):
        return _stacked_csr(blocks)
    return np.concatenate(blocks)


def check_range(given: Any, name: str) -> tuple[int, int]:
    """Return a number, or two in order, as the smallest and the largest; both at least 1."""
    ends = given if isinstance(given, tuple | list) else (given, given)
    if len(ends) != 2 or not all(isinstance(e, int | np.integer) and e is not True for e in ends):
        raise InvalidInputError(f"{name} must be an integer, or two of them; got {given!r}.")
    if not 1 <= ends[0] <= ends[1] < 2**31:
        raise InvalidInputError(f"{name} must be positive and in order, not {given}.")
    return int(ends[0]), int(ends[1])


def as_floats(values: Any, name: str) -> Floats:
    """Return numbers as a float64 array; refuse what is none."""
    try:
        array = np.asarray(values)
        if array.dtype.kind == "c":
            raise TypeError("Complex data not supported: complex numbers")
        return np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        kind = NotNumbersError if isinstance(error, TypeError) else InvalidInputError
        raise kind(f"{name} must hold real numbers ({error}).") from error


def check_weights(weights: Any, n_features: int) -> Floats:
    """Return weights as a float64 vector; refuse a wrong length and what is not finite."""
    vector = as_floats(weights, "weights")
    if vector.shape != (n_features,):
        raise InvalidInputError(f"weights has shape {vector.shape}; expected ({n_features},).")
    if not np.isfinite(vector).all():
        k = int(np.argmin(np.isfinite(vector)))
        raise InvalidInputError(f"weights holds {vector[k]} at {k}: every weight must be finite.")
    return vector


def strided(values: Any) -> Any:
    """Return every so many rows of an array, some 10^4 numbers, without a copy.

    >>> strided(np.arange(100_000)).shape, strided(np.ones((1000, 1000))).shape
    ((10000,), (17, 1000))
    """
    step = max(1, values.size // 10**4)
    return values[:: min(step, max(1, len(values) // 16))]


def everywhere(start: Any, n_features: int) -> Floats:
    """Return weights to start with; one number stands for all of them.

    >>> everywhere(1, 2)
    array([1., 1.])
    """
    try:
        given = np.asarray(start, dtype=np.float64)
        return check_weights(np.broadcast_to(given, n_features), n_features)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"start is {start!r}; give one finite number, or {n_features} of them."
        ) from error


def cut_rows(X: Any, start: int, stop: int) -> Any:
    """Return examples ``start .. stop - 1`` as ``X[start:stop]`` does, of a CSR array as a view.

    >>> csr = sp.csr_array(np.eye(3))
    >>> part = cut_rows(csr, 1, 3)
    >>> part.toarray().tolist(), np.shares_memory(part.data, csr.data)
    ([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], True)
    """
    if not (sp.issparse(X) and X.format == "csr"):
        return X[start:stop]
    ends = X.indptr[start : stop + 1]
    first, last = int(ends[0]), int(ends[-1])
    cut = sp.csr_array((len(ends) - 1, X.shape[1]), dtype=X.dtype)
    # given to the constructor, arrays are copied that are less than half of what they are views of
    cut.data, cut.indices, cut.indptr = X.data[first:last], X.indices[first:last], ends - ends[0]
    return cut


def base_matrix(matrix: Any) -> Any:
    """Return a matrix as the CSR arrays that the kernels read, without a copy where it can be.

    Rows are float64, sorted and without repeats; indices have 32 bits where that is enough. A dense
    matrix of which more than half is nonzero, or one that is mapped from a file, stays where it is:
    its zeros are then stored too.

    >>> dense = np.array([[1.0, 2.0], [0.0, 3.0]])
    >>> np.shares_memory(base_matrix(dense).data, dense), base_matrix(dense).nnz
    (True, 4)
    """
    if not sp.issparse(matrix):
        dense = np.ascontiguousarray(matrix, dtype=np.float64)
        mapped = isinstance(matrix, np.memmap)
        if mapped or 2 * np.count_nonzero(dense) > dense.size:
            kind = _index_type(max(dense.size, dense.shape[1]))
            columns = np.tile(np.arange(dense.shape[1], dtype=kind), dense.shape[0])
            ends = np.arange(dense.shape[0] + 1, dtype=kind) * kind(dense.shape[1])
            return sp.csr_array((_unlocked(dense.reshape(-1)), columns, ends), shape=dense.shape)
        return _nonzeros_of(dense)
    csr = sp.csr_array(matrix, dtype=np.float64)
    if not csr.has_canonical_format:
        csr = csr.copy()  # the arrays may be the user's
        csr.sum_duplicates()
    kind = _index_type(max(csr.nnz, csr.shape[1]))
    places = (numbers.astype(kind, copy=False) for numbers in (csr.indices, csr.indptr))
    return sp.csr_array(tuple(map(_unlocked, (csr.data, *places))), shape=csr.shape)


def _nonzeros_of(dense: Floats) -> Any:
    """Return a dense matrix as CSR, some rows at a time: SciPy takes three times the room."""
    n_rows, width = dense.shape
    step = max(1, _AT_ONCE // max(width, 1))
    each = [dense[start : start + step] for start in range(0, n_rows, step)]
    counts = [np.count_nonzero(rows, axis=1) for rows in each]
    ends = np.concatenate([[0], np.cumsum(np.concatenate([[], *counts]))])
    kind = _index_type(max(int(ends[-1]), width))
    data, indices, at = np.empty(int(ends[-1])), np.empty(int(ends[-1]), dtype=kind), 0
    for rows in each:
        where = np.nonzero(rows)
        stop = at + len(where[0])
        data[at:stop], indices[at:stop], at = rows[where], where[1], stop
    return sp.csr_array((data, indices, ends.astype(kind)), shape=dense.shape)


class _Unlocked:
    """The memory of an array, for NumPy to make a view of that counts as writable."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array  # which must not be freed before the view
        self.__array_interface__ = array.__array_interface__ | {
            "data": (array.__array_interface__["data"][0], False)
        }


def _unlocked(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view that counts as writable, where an array does not.

    Nobody writes to a base. But compiled loops are compiled anew for arrays that are read-only, as
    joblib's workers and mapped files have them, and that takes half a minute.
    """
    return array if array.flags.writeable else np.asarray(_Unlocked(array))


def _index_type(largest: int) -> type[np.int32] | type[np.int64]:
    return np.int32 if largest < 2**31 else np.int64
