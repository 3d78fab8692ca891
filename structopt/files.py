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

import hashlib
import io
import json
import math
import os
import threading
import tokenize
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from structopt import __version__
from structopt.errors import FileFormatError, InvalidInputError, MissingDataError
from structopt.parameters import checked

PACKED = 1100
"""How much larger than their file arrays may be: what zlib can pack at most, and a little."""
OURS = 2
"""The same of a file that this library wrote, which packs nothing."""
_HEADER = "header"
_AT_ONCE = 2**20
"""Bytes of an entry that are unpacked at once."""
# What bytes that are not a whole .npz file lead to: a damaged one may ask zipfile for a version, a
# method or a password (RuntimeError), or for a header that is no literal (SyntaxError).
_DAMAGE = (
    AttributeError, EOFError, KeyError, OSError, OverflowError, RuntimeError, SyntaxError,
    TypeError, ValueError,
    tokenize.TokenError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


@checked
def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file beside its place and move it there, so that no reader sees half of it."""
    target = Path(path)
    if not target.name:
        raise InvalidInputError(f"path must name a file; got {os.fspath(path)!r}.")
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
    signed = {**header, "digest": _digest(header, arrays)}
    packed = np.frombuffer(json.dumps(signed).encode(), dtype=np.uint8)
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **{_HEADER: packed}, **arrays)
    write_atomically(path, stream.getvalue())


@checked
def read_arrays(
    path: str | os.PathLike[str], kind: str | tuple[str, ...]
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read back what :func:`write_arrays` wrote; the header's "kind" must be (one of) ``kind``."""
    kinds = (kind,) if isinstance(kind, str) else kind
    arrays = read_plain_arrays(path, growth=OURS)
    try:
        header = json.loads(arrays.pop(_HEADER).tobytes().decode())
    except _DAMAGE as error:
        raise _damaged(path, error) from error
    if not isinstance(header, dict) or header.get("kind") not in kinds:
        raise _another_kind(path, header, kinds)
    digest = header.pop("digest", None)
    unsigned = header["kind"].endswith(" 1")  # files of version 0.1 have none
    if not unsigned and digest != _digest(header, arrays):
        raise FileFormatError(f"{os.fspath(path)} is damaged: its content is not what was written.")
    return header, arrays


def _another_kind(
    path: str | os.PathLike[str], header: Any, kinds: tuple[str, ...]
) -> FileFormatError:
    """Return the error of a file that holds something else, or is of another version."""
    found = header.get("kind") if isinstance(header, dict) else header
    said = f"{os.fspath(path)} holds {found!r}, expected {kinds[0]!r}"
    what, _, number = str(found).rpartition(" ")
    if what != kinds[0].rpartition(" ")[0] or not number.isdecimal():
        return FileFormatError(f"{said}.")
    known = sorted(kind.rpartition(" ")[2] for kind in kinds)
    return FileFormatError(
        f"{said}: it was written by structopt {header.get('version', 'of another version')}, this "
        f"is {__version__}, which reads {what} {' and '.join(known)}. Read it with the version "
        "that wrote it, or make it again with this one."
    )


def _digest(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return a fingerprint of a file's content."""
    digest = hashlib.blake2b(json.dumps(header).encode(), digest_size=16)
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


@checked
def read_plain_arrays(
    path: str | os.PathLike[str], names: Sequence[str] | None = None, *, growth: int = PACKED
) -> dict[str, NDArray[Any]]:
    """Return the arrays of an ``.npz`` file, all of them or those named.

    Nothing is unpickled, and nothing is allocated on a header's word: an array may take as many
    bytes as its entry in the file has, and all of them at most ``growth`` times the file's size.

    Raises
    ------
    FileFormatError
        The file is truncated, foreign or pickled, or an array is missing.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
            if missing := set(names or ()) - set(entries):
                raise FileFormatError(
                    f"{os.fspath(path)}: expected arrays {', '.join(names or ())} "
                    f"({', '.join(sorted(missing))} missing)."
                )
            most = growth * os.path.getsize(path)
            found = {}
            for name in names or entries:
                most -= entries[name].file_size
                if most < 0:
                    raise ValueError(f"its arrays are more than {growth} times as large")
                with archive.open(entries[name]) as stream:
                    found[name] = _read_array(stream, entries[name].file_size)
            return found
    except (FileFormatError, PermissionError):
        raise
    except IsADirectoryError as error:
        raise InvalidInputError(f"{os.fspath(path)!r} is a folder: name a file.") from error
    except FileNotFoundError as error:
        raise MissingDataError(f"There is no file {os.fspath(path)!r}.", path=path) from error
    except _DAMAGE as error:
        raise _damaged(path, error) from error


def _read_array(stream: Any, size: int) -> NDArray[Any]:
    """Read one array of the ``.npy`` format from an entry of ``size`` bytes."""
    header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    shape, by_columns, dtype = header[npy.read_magic(stream)](stream)
    count = math.prod(shape)
    none = dtype.hasobject or dtype.itemsize == 0 or min(shape, default=0) < 0
    if none or count * dtype.itemsize > size:
        raise ValueError(f"an array of {dtype} and shape {shape} in {size} bytes")
    data = np.empty(count * dtype.itemsize, dtype=np.uint8)
    for start in range(0, len(data), _AT_ONCE):  # piece by piece: nothing is held twice
        piece = data[start : start + _AT_ONCE]
        if stream.readinto(piece) < len(piece):
            raise ValueError(f"an array of {dtype} and shape {shape} that ends before")
    stream.read(1)  # so that the checksum is compared
    array = data.view(dtype)
    return array.reshape(shape[::-1]).T if by_columns else array.reshape(shape)


def _damaged(path: str | os.PathLike[str], error: BaseException) -> FileFormatError:
    return FileFormatError(
        f"{os.fspath(path)} is not a whole .npz file of plain arrays that this library reads: "
        f"{error}"
    )
