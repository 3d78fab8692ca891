r"""Arrays of an ``.npz`` file, never unpickled, with errors that name the file.

>>> import numpy as np, pathlib, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = pathlib.Path(folder, "two.npz")
...     np.savez(path, a=np.arange(3), b=np.ones(2))
...     read_arrays(path, ("b",))
{'b': array([1., 1.])}
"""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structopt.errors import FileFormatError


def read_arrays(path: str | os.PathLike[str], names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return the named arrays of a file.

    Raises
    ------
    FileFormatError
        The file is truncated, foreign or pickled, or an array is missing.
    """
    try:
        # A file from elsewhere must not run code: nothing is ever unpickled.
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            return {name: np.asarray(arrays[name]) for name in names}
    except KeyError as error:
        raise FileFormatError(
            f"{os.fspath(path)}: expected arrays {', '.join(names)} ({error.args[0]})."
        ) from error
    # TypeError, AttributeError: a lone array (.npy) under this name is no context manager.
    except (ValueError, EOFError, TypeError, AttributeError, zipfile.BadZipFile, zlib.error) as e:
        raise FileFormatError(
            f"{os.fspath(path)}: not a whole .npz file of plain arrays ({e})."
        ) from e
