r"""CSR matrices as plain arrays in a folder, so that they can be mapped instead of read.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     save_csr(folder, [sp.csr_array(np.eye(2)), sp.csr_array(2 * np.eye(2))])
...     load_csr(folder).toarray().tolist()
[[1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [0.0, 2.0]]
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.errors import FileFormatError, InvalidInputError
from structopt.parameters import checked


@checked
def load_csr(folder: str | os.PathLike[str]) -> Any:
    """Return a CSR matrix that is mapped from ``data.npy``, ``indices.npy`` and ``indptr.npy``.

    Parameters
    ----------
    folder : path
        Also holds ``shape.npy``; :func:`save_csr` writes all four.

    Examples
    --------
    >>> import tempfile, numpy as np, scipy.sparse as sp, structopt as so
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     so.datasets.save_csr(folder, [sp.csr_array(np.eye(2)), sp.csr_array(np.eye(2))])
    ...     so.datasets.load_csr(folder).shape
    (4, 2)
    """
    parts: dict[str, Any] = {}
    for name in ("data", "indices", "indptr", "shape"):
        path = Path(folder, f"{name}.npy")
        try:
            parts[name] = np.load(path, mmap_mode="r")
        except (OSError, ValueError, EOFError) as error:
            raise FileFormatError(f"{path} cannot be read ({error}).") from error
    shape = tuple(parts["shape"].tolist())
    ends, indices = parts["indptr"], parts["indices"]
    fits = len(shape) == 2 and len(ends) == shape[0] + 1 and len(indices) == len(parts["data"])
    if not fits or ends[0] != 0 or ends[-1] != len(indices) or np.any(np.diff(ends) < 0):
        raise FileFormatError(f"The parts of the matrix in {os.fspath(folder)} do not fit.")
    return sp.csr_array((parts["data"], indices, ends), shape=shape)


@checked
def save_csr(folder: str | os.PathLike[str], blocks: Any) -> None:
    """Write rows, block below block, as the parts of one CSR matrix that can be mapped.

    Parameters
    ----------
    folder : path
    blocks : iterable of sparse matrices
        Of the same width; one is in memory at a time.

    Examples
    --------
    See :func:`load_csr`.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    width, lengths = -1, [np.zeros(1, np.int64)]
    names: dict[str, np.dtype[Any]]
    names = {"data": np.dtype(np.float64), "indices": np.dtype(np.int32)}
    raw = {name: Path(folder, f"{name}.part") for name in names}
    try:
        with raw["data"].open("wb") as data, raw["indices"].open("wb") as indices:
            for number, block in enumerate(blocks):
                rows = sp.csr_array(block)
                if width not in (-1, rows.shape[1]):
                    raise InvalidInputError(
                        f"Block {number} has {rows.shape[1]} columns, those before {width}."
                    )
                width = rows.shape[1]
                rows.sum_duplicates()
                rows.data.astype(names["data"], copy=False).tofile(data)
                rows.indices.astype(names["indices"], copy=False).tofile(indices)
                lengths.append(np.diff(rows.indptr).astype(np.int64))
        if width < 0:
            raise InvalidInputError("There are no blocks: give at least one.")
        for name, kind in names.items():
            _as_npy(raw[name], Path(folder, f"{name}.npy"), kind)
    finally:
        for path in raw.values():
            path.unlink(missing_ok=True)
    ends = np.cumsum(np.concatenate(lengths))
    np.save(Path(folder, "indptr.npy"), ends.astype(np.int32 if ends[-1] < 2**31 else np.int64))
    np.save(Path(folder, "shape.npy"), np.array([len(ends) - 1, width]))


def _as_npy(raw: Path, path: Path, kind: np.dtype[Any]) -> None:
    """Put the header of an .npy file before numbers, a piece at a time."""
    size = raw.stat().st_size // kind.itemsize
    out = np.lib.format.open_memmap(path, mode="w+", dtype=kind, shape=(size,))
    if size == 0:
        return
    source = np.memmap(raw, dtype=kind, mode="r")
    for start in range(0, size, 2**22):
        out[start : start + 2**22] = source[start : start + 2**22]
    out.flush()
