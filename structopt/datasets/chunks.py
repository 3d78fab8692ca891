r"""Data sets in chunks that are read when they are needed, and never all at once.

>>> import numpy as np
>>> X, y = np.arange(10.0).reshape(5, 2), list("aabab")  # X may be np.load("X.npy", mmap_mode="r")
>>> chunks = stream(X, y, rows=2)
>>> len(chunks), chunks[2].name, chunks[2]()
(3, 'rows 4 to 5', (array([[8., 9.]]), ['b']))
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, overload

import numpy as np
import scipy.sparse as sp

from structopt.arrays import count, cut_rows
from structopt.datasets.svmlight_files import read_svmlight
from structopt.errors import (
    FileFormatError,
    InvalidInputError,
    MissingDependencyError,
    StructoptError,
)
from structopt.parameters import Count, checked

_SVMLIGHT = (".svmlight", ".svm", ".libsvm", ".txt")


@dataclass(frozen=True)
class Chunk:
    """One chunk: called, it reads its inputs and outputs.

    Attributes
    ----------
    name : str
        What errors call it.
    read : callable
        Returns a pair (X, Y).
    """

    name: str
    read: Callable[[], Any]

    def __call__(self) -> tuple[Any, Any]:
        """Read the chunk; an error says which one it is.

        Raises
        ------
        FileFormatError
            If it cannot be read, or is no pair (X, Y) of as many inputs as outputs, one at least.
        """
        try:
            pair = self.read()
        except StructoptError as error:
            raise FileFormatError(f"Chunk {self.name}: {error}") from error
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
            raise FileFormatError(f"Chunk {self.name} cannot be read ({said}).") from error
        if not (isinstance(pair, tuple | list) and len(pair) == 2):
            raise FileFormatError(f"Chunk {self.name} is no pair (X, Y), but {type(pair)}.")
        X, Y = pair
        sizes = count(X), count(Y, "Y")
        if sizes[0] != sizes[1] or sizes[0] == 0:
            raise FileFormatError(
                f"Chunk {self.name} has {sizes[0]} inputs and {sizes[1]} outputs: it needs as many "
                "of one as of the other, and at least one. Leave empty chunks out."
            )
        return X, Y


class Chunks(Sequence[Chunk]):
    """Chunks in order, each read when it is called.

    Parameters
    ----------
    chunks : sequence of Chunk

    Examples
    --------
    >>> import structopt as so
    >>> chunks = so.datasets.stream([lambda: ([[1.0], [2.0]], ["a", "b"])])
    >>> [name for name in chunks.names]
    ['0 of 1']
    """

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        if not chunks:
            raise InvalidInputError("There are no chunks: give at least one.")
        self._chunks = tuple(chunks)

    def __len__(self) -> int:
        return len(self._chunks)

    @overload
    def __getitem__(self, index: int) -> Chunk: ...
    @overload
    def __getitem__(self, index: slice) -> Chunks: ...
    def __getitem__(self, index: int | slice) -> Chunk | Chunks:
        return Chunks(self._chunks[index]) if isinstance(index, slice) else self._chunks[index]

    @property
    def names(self) -> list[str]:
        """What errors call each chunk."""
        return [chunk.name for chunk in self._chunks]

    def __repr__(self) -> str:
        return f"<{len(self)} chunks, from {self._chunks[0].name}>"


@checked
def stream(
    source: Any,
    Y: Any = None,
    *,
    rows: Count = 10_000,
    n_features: Count | None = None,
    label: str = "y",
) -> Chunks:
    """Return data in chunks, none of which is read before it is needed.

    Parameters
    ----------
    source : path, pattern, list or array
        Files, one a chunk (``"part-*.svmlight"``, ``["a.npz", "b.npz"]``; of a Parquet file each
        row group is one); functions without arguments, one a chunk, that return a pair (X, Y);
        or inputs that are mapped from files, which ``rows`` cuts into chunks: ``np.load(path,
        mmap_mode="r")``, or :func:`~structopt.datasets.load_csr`.
    Y : sequence, optional
        The outputs of inputs that are mapped.
    rows : int
        Examples a chunk, of inputs that are mapped.
    n_features : int, optional
        Columns of SVMlight files, which do not say it themselves.
    label : str
        The column of outputs in Parquet files; all others are inputs.

    Returns
    -------
    Chunks
        A sequence of functions, each of which reads a pair (X, Y).

    Notes
    -----
    ``.npz`` files hold ``X`` and ``Y``, or ``data``, ``indices``, ``indptr``, ``shape`` (what
    ``scipy.sparse.save_npz`` writes) and ``Y``.

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = so.datasets.make_chain_crf(6, n_features=4, n_relevant=3, seed=0)
    >>> [len(chunk()[0]) for chunk in so.datasets.stream(X, Y, rows=4)]
    [4, 2]
    """
    if Y is not None:
        return _cut(source, Y, rows)
    paths = _paths(source)
    if paths is not None:
        return Chunks([each for path in paths for each in _of_file(path, n_features, label)])
    if callable(source) or not isinstance(source, Sequence):
        raise InvalidInputError(
            "Chunks come from files, from a list of functions without arguments, or from X and Y; "
            f"got a {type(source).__name__}."
        )
    made = []
    for number, one in enumerate(source):
        if not callable(one):
            raise InvalidInputError(
                f"Chunk {number} of {len(source)} is a {type(one).__name__}: give paths, or "
                "functions without arguments that return a pair (X, Y)."
            )
        made.append(one if isinstance(one, Chunk) else Chunk(f"{number} of {len(source)}", one))
    return Chunks(made)


def _cut(X: Any, Y: Any, rows: int) -> Chunks:
    X = sp.csr_array(X) if sp.issparse(X) else X
    n_examples = count(X)
    if n_examples != count(Y, "Y"):
        raise InvalidInputError(f"There are {n_examples} inputs and {count(Y, 'Y')} outputs.")
    return Chunks(
        [
            Chunk(f"rows {a} to {b}", partial(_part, X, Y, a, b))
            for a in range(0, n_examples, rows)
            for b in [min(a + rows, n_examples)]
        ]
    )


def _part(X: Any, Y: Any, start: int, stop: int) -> tuple[Any, Any]:
    cut = cut_rows(X, start, stop)
    return (np.asarray(cut) if isinstance(cut, np.memmap) else cut), Y[start:stop]


def _paths(source: Any) -> list[Path] | None:
    """Return the files of a path, a pattern or a list of paths; None if it is none of these."""
    if isinstance(source, str | os.PathLike):
        found = sorted(glob.glob(os.fspath(source)))
        if not found:
            raise FileFormatError(f"There is no file {os.fspath(source)}.")
        return [Path(path) for path in found]
    is_list = isinstance(source, Sequence) and len(source) > 0
    if is_list and all(isinstance(each, str | os.PathLike) for each in source):
        return [Path(path) for path in source]
    return None


def _of_file(path: Path, n_features: int | None, label: str) -> list[Chunk]:
    suffix = next((s for s in reversed(path.suffixes) if s not in (".gz", ".bz2")), "")
    if suffix == ".npz":
        return [Chunk(str(path), partial(_npz, path))]
    if suffix == ".parquet":
        return _parquet(path, label)
    if suffix in _SVMLIGHT:
        if n_features is None:
            raise InvalidInputError(
                f"Chunks in SVMlight's format ({path.name}) do not say how many columns there are: "
                "give n_features=."
            )
        return [Chunk(str(path), partial(_svmlight, path, n_features))]
    raise InvalidInputError(
        f"{path.name} is none of .npz, .parquet and {', '.join(_SVMLIGHT)}: give a function that "
        "reads it."
    )


def _svmlight(path: Path, n_features: int) -> tuple[Any, list[str]]:
    X, y = read_svmlight(path)
    if X.shape[1] > n_features:
        raise FileFormatError(f"it has a feature {X.shape[1]}, and n_features is {n_features}.")
    X.resize((X.shape[0], n_features))
    return X, y


def _npz(path: Path) -> tuple[Any, Any]:
    with np.load(path) as found:  # without pickles: no code comes in
        if "X" in found:
            return found["X"], found["Y"]
        parts = found["data"], found["indices"], found["indptr"]
        X = sp.csr_array(parts, shape=tuple(found["shape"]))
        X.check_format()
        return X, found["Y"]


def _parquet(path: Path, label: str) -> list[Chunk]:
    try:
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingDependencyError("Parquet files need pyarrow: pip install pyarrow.") from error
    try:
        groups = pq.ParquetFile(path).num_row_groups
    except (OSError, ValueError) as error:
        raise FileFormatError(f"Chunk {path} cannot be read ({error}).") from error
    return [
        Chunk(f"{path}, row group {g}", partial(_row_group, path, g, label)) for g in range(groups)
    ]


def _row_group(path: Path, group: int, label: str) -> tuple[Any, list[Any]]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        table = file.read_row_group(group)
    if label not in table.column_names:
        raise FileFormatError(f"there is no column {label!r}, but {table.column_names}.")
    inputs = table.drop_columns([label])
    X = np.column_stack([column.to_numpy() for column in inputs.columns])
    return X.astype(np.float64, copy=False), table[label].to_pylist()
