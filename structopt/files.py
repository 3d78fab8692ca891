r"""Files that are whole or not there, and hold nothing that could run when it is read.

Files are written beside their place and moved there, so a kill leaves the old file or the new one.
Arrays with a JSON header are NumPy's ``.npz`` without pickles; the header is JSON in a byte array.

>>> import numpy as np, pathlib, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     write_atomically(pathlib.Path(folder, "a.txt"), b"whole")
...     path = pathlib.Path(folder, "two.npz")
...     np.savez(path, a=np.arange(3), b=np.ones(2))
...     read_plain_arrays(path, ("b",))
{'b': array([1., 1.])}
"""

from __future__ import annotations

import io
import json
import os
import threading
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structopt.errors import FileFormatError

_HEADER = "header"
# What NumPy raises for bytes that are not a whole .npz file: a damaged byte may ask zipfile for a
# version, method or password (RuntimeError); a lone array (.npy) is no context manager.
_DAMAGE = (
    AttributeError, EOFError, KeyError, OSError, RuntimeError, TypeError, ValueError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file beside its place and move it there, so that no reader sees half of it."""
    target = Path(path)
    # Not tempfile: its files are private to the user, and a report is made to be shared.
    draft = target.with_name(f".{target.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        draft.write_bytes(data)
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def write_arrays(
    path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write ``header`` and ``arrays`` to ``path``, all or nothing."""
    packed = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **{_HEADER: packed}, **arrays)
    write_atomically(path, stream.getvalue())


def read_arrays(
    path: str | os.PathLike[str], kind: str
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read back what :func:`write_arrays` wrote; the header's "kind" must be ``kind``."""
    arrays = read_plain_arrays(path)
    try:
        header = json.loads(arrays.pop(_HEADER).tobytes().decode())
    except _DAMAGE as error:
        raise _damaged(path, error) from error
    if not isinstance(header, dict) or header.get("kind") != kind:
        found = header.get("kind") if isinstance(header, dict) else header
        raise FileFormatError(f"{os.fspath(path)} holds {found!r}, expected {kind!r}.")
    return header, arrays


def read_plain_arrays(
    path: str | os.PathLike[str], names: Sequence[str] | None = None
) -> dict[str, NDArray[Any]]:
    """Return the arrays of an ``.npz`` file, all of them or those named.

    Raises
    ------
    FileFormatError
        The file is truncated, foreign or pickled, or an array is missing.
    """
    try:
        # A file from elsewhere must not run code: nothing is ever unpickled. NumPy leaves a file
        # open that it cannot read, unless it is ours to close.
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as stored:
            if missing := set(names or ()) - set(stored.files):
                raise FileFormatError(
                    f"{os.fspath(path)}: expected arrays {', '.join(names or ())} "
                    f"({', '.join(sorted(missing))} missing)."
                )
            return {name: np.asarray(stored[name]) for name in names or stored.files}
    except (FileNotFoundError, FileFormatError):
        raise
    except _DAMAGE as error:
        raise _damaged(path, error) from error


def _damaged(path: str | os.PathLike[str], error: BaseException) -> FileFormatError:
    return FileFormatError(
        f"{os.fspath(path)} is not a whole .npz file of plain arrays that this library reads: "
        f"{error}"
    )
