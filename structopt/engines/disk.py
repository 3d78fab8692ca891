"""A folder as the place where shards live: one of them is in memory at a time.

A shard is written once, its arrays as they are, and mapped whenever it is asked: what it takes is
read by the operating system as it is needed, and let go of when the answer is there.

>>> import numpy as np, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     write(Path(folder, "one"), {"large": np.arange(1e5), "small": [1, 2]})
...     found = read(Path(folder, "one"))
>>> found["large"].sum(), found["small"]
(np.float64(4999950000.0), [1, 2])
"""

from __future__ import annotations

import errno
import mmap
import os
import pickle
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import cloudpickle

from structopt.engines.place import Remote
from structopt.engines.where import Held
from structopt.errors import EngineError, StructoptError
from structopt.parameters import Count, Parameters, checked

_APART = 2**14
"""Bytes from which on an array stands by itself, to be mapped; smaller ones are read."""
_ALIGN = 64
"""Arrays begin at multiples of a cache line."""
_SHARDS = 16
"""Shards of data that are given at once."""


class Disk(Parameters):
    """A folder as the place where shards live, for data that are larger than memory.

    Parameters
    ----------
    folder : path, optional
        Where a folder of its own is made, and removed with the data; by default where temporary
        files are.
    n_shards : int
        Into how many shards data are cut that do not come in chunks.

    Notes
    -----
    Give it as ``engine``: ``StructuredClassifier(..., engine=so.Disk())``, or ``engine="disk"``.
    In memory are one shard, the weights, losses and scores, the outputs that oracles chose, and the
    cuts; with ``slacks="shards"`` there is one of these a shard and round.

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = so.datasets.make_chain_crf(8, n_features=5, n_relevant=3, seed=0)
    >>> aim = so.M3N(C=0.5, slacks="shards")
    >>> model = so.StructuredClassifier(so.Chain(), aim, engine=so.Disk(n_shards=4)).fit(X, Y)
    >>> model.result_.certificate.certified
    True
    """

    @checked
    def __init__(
        self, folder: str | os.PathLike[str] | None = None, *, n_shards: Count = _SHARDS
    ) -> None:
        self.folder, self.n_shards = folder, n_shards

    def connect(self, n_jobs: int | None = None) -> Folder:
        """Return a new folder; ``n_jobs`` shards are asked one after the other all the same."""
        return Folder(self.folder, self.n_shards)


class _File:
    """A value that was written to a file, which goes when nobody asks for it any more."""

    def __init__(self, path: Path, value: Any, name: str) -> None:
        write(path, value)
        self.path, self.name = path, name
        weakref.finalize(self, path.unlink, missing_ok=True)


class Folder(Remote):
    """Shards and chunks in files; everything else is in memory.

    Parameters
    ----------
    where : path or None
        Where the folder is made.
    n_shards : int
    """

    def __init__(self, where: str | os.PathLike[str] | None, n_shards: int) -> None:
        self.n_shards, self._written = n_shards, 0
        try:
            self.path = Path(tempfile.mkdtemp(prefix="structopt-", dir=where))
        except OSError as error:
            raise EngineError(f"No folder for shards can be made in {where}: {error}.") from error
        self._remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def share(self, value: Any) -> Any:
        """Return the value: it is in this process."""
        return value

    def spread(self, chunks: Sequence[Any]) -> list[Any]:
        """Read every chunk once and write it down as it is, until its shard is made."""
        names = [getattr(chunk, "name", f"{i} of {len(chunks)}") for i, chunk in enumerate(chunks)]
        pairs = zip(chunks, (f"chunk {name}" for name in names), strict=True)
        return [self._stored(self._tried(make, (), name), name) for make, name in pairs]

    def map(self, function: Callable[..., Any], *columns: Iterable[Any]) -> list[Any]:
        """Apply a function to each row of columns, one after the other."""
        rows, done = list(zip(*columns, strict=True)), []
        for number, row in enumerate(rows):
            named = (each.name for each in row if isinstance(each, _File))
            name = next(named, f"shard {number} of {len(rows)}")
            value = self._tried(function, row, name)
            done.append(self._stored(value, name) if isinstance(value, Held) else value)
        return done

    def get(self, handles: Sequence[Any], doing: str) -> list[Any]:
        """Return the values."""
        return [_opened(handle) for handle in handles]

    def close(self) -> None:
        """Remove the folder."""
        self._remove()

    def _tried(self, function: Callable[..., Any], given: Sequence[Any], which: str) -> Any:
        try:
            return function(*map(_opened, given))
        except (MemoryError, OSError) as error:
            if isinstance(error, OSError) and error.errno != errno.ENOMEM:
                raise EngineError(f"In {which}: {type(error).__name__}: {error}") from error
            raise EngineError(
                f"Memory does not suffice for {which} alone: give smaller chunks."
            ) from error
        except StructoptError as error:
            raise EngineError(f"In {which}: {error}") from error
        except Exception as error:
            raise EngineError(f"In {which}: {type(error).__name__}: {error}") from error

    def _stored(self, value: Any, name: str) -> _File:
        self._written += 1
        path = self.path / str(self._written)
        try:
            return _File(path, value, name)
        except OSError as error:
            raise EngineError(
                f"The shard of {name} cannot be written to {path}: {error}. so.Disk(folder=...) "
                "names another place."
            ) from error


def _opened(handle: Any) -> Any:
    return read(handle.path) if isinstance(handle, _File) else handle


def write(path: Path, value: Any) -> None:
    """Write a value: its large arrays as they are, aligned, everything else pickled before them."""
    apart: list[memoryview] = []

    def inside(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes < _APART:
            return True
        apart.append(raw)
        return False

    rest = cloudpickle.dumps(value, protocol=5, buffer_callback=inside)
    head = pickle.dumps((rest, [raw.nbytes for raw in apart]), protocol=5)
    with path.open("wb") as file:
        file.write(len(head).to_bytes(8, "little"))
        file.write(head)
        for raw in apart:
            file.write(bytes(-file.tell() % _ALIGN))
            file.write(raw)


def read(path: Path) -> Any:
    """Return a value whose large arrays are mapped; a change to them does not reach the file."""
    with path.open("rb") as file:
        mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    at = 8 + int.from_bytes(mapped[:8], "little")
    rest, sizes = pickle.loads(mapped[8:at])
    buffers = []
    for size in sizes:
        at += -at % _ALIGN
        buffers.append(mapped[at : at + size])
        at += size
    return pickle.loads(rest, buffers=buffers)
