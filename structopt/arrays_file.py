"""Arrays and a JSON header in one file that cannot run code.

The format is NumPy's ``.npz`` without pickles; the header is JSON in a byte array. Files are
written beside their place and moved there, so a kill leaves the old file or the new one.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structopt.errors import FileFormatError

_HEADER = "header"


def write_arrays(
    path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write ``header`` and ``arrays`` to ``path``, all or nothing."""
    target = Path(path)
    temporary = target.with_name(f"{target.name}.{os.getpid()}.part")
    packed = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    try:
        with open(temporary, "wb") as stream:
            np.savez(stream, allow_pickle=False, **{_HEADER: packed}, **arrays)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def read_arrays(
    path: str | os.PathLike[str], kind: str
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read back what :func:`write_arrays` wrote; the header's "kind" must be ``kind``."""
    try:
        # NumPy leaves a file open that it cannot read, unless it is ours to close
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        header = json.loads(arrays.pop(_HEADER).tobytes().decode())
    except FileNotFoundError:
        raise
    except (  # a damaged byte may ask zipfile for a version, method or password: RuntimeErrors
        AttributeError, EOFError, KeyError, OSError, RuntimeError, TypeError, ValueError,
        zipfile.BadZipFile,
    ) as error:  # fmt: skip
        raise FileFormatError(
            f"{os.fspath(path)} is not a file of this library, or it is truncated: {error}"
        ) from error
    if not isinstance(header, dict) or header.get("kind") != kind:
        found = header.get("kind") if isinstance(header, dict) else header
        raise FileFormatError(f"{os.fspath(path)} holds {found!r}, expected {kind!r}.")
    return header, arrays
