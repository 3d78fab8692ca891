"""Progress on disk: the cuts and the best weights, written so that a kill cannot spoil them.

The file holds plain arrays (no pickles). A resumed run takes the cuts over, so it goes on where the
killed one was; its bounds are recomputed from the data, never read from the file.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from structopt.arrays import Floats
from structopt.errors import FileFormatError, InvalidInputError
from structopt.files import read_arrays, write_arrays

logger = logging.getLogger(__name__)

_KIND = "structopt checkpoint 2"
_OLD = "structopt checkpoint 1"
_Read = TypeVar("_Read")


Reader = Callable[[Mapping[str, Any], int, str], _Read]


class Stored(Protocol):
    """What a run has gathered, as plain arrays, and a name for the data that it belongs to."""

    @property
    def fingerprint(self) -> str:
        """Names the data."""

    def to_arrays(self) -> dict[str, Any]:
        """Return it as arrays by name."""


class Checkpoint:
    """A checkpoint file, written at most so often that writing costs a twentieth of the run.

    A disk that is full or gone does not end a run: `trouble` says that the last writing failed.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise InvalidInputError(
                f"checkpoint: there is no folder {os.fspath(self.path.parent)!r}; make it first."
            )
        self._next = 0.0
        self.trouble = ""

    def save(self, weights: Floats, gather: Callable[[], Stored], *, force: bool = False) -> None:
        """Write the state, unless the last writing is too recent."""
        start = time.perf_counter()
        if start < self._next and not force:
            return
        made = gather()
        header = {"kind": _KIND, "fingerprint": made.fingerprint}
        try:
            write_arrays(self.path, header, {"weights": weights, **made.to_arrays()})
            self.trouble = ""
        except OSError as error:
            self.trouble = f"the checkpoint was not written: {error.strerror or error}"
            logger.warning("%s (%s)", self.trouble, self.path)
        end = time.perf_counter()
        self._next = end + 20 * (end - start)

    def load(self, read: Reader[_Read]) -> tuple[Floats, _Read | None] | None:
        """Return the saved weights and what ``read`` makes of the rest, None without a file.

        It is given the arrays, the number of weights and the fingerprint. Of a file of version 0.1,
        which named its data in another way, only the weights are taken: any are a start.
        """
        if not self.path.exists():
            return None
        header, arrays = read_arrays(self.path, (_KIND, _OLD))
        try:
            for name, array in arrays.items():
                if array.dtype.kind not in "biuf" or not np.all(np.isfinite(array)):
                    raise ValueError(f"{name} holds what is no finite number")
            weights = arrays["weights"]
            if weights.ndim != 1 or weights.dtype.kind != "f":
                raise ValueError(f"weights of shape {weights.shape} and type {weights.dtype}")
            if header["kind"] == _OLD:
                logger.warning("%s is of version 0.1: its weights are taken, no cuts", self.path)
                return weights, None
            return weights, read(arrays, len(weights), str(header["fingerprint"]))
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise FileFormatError(
                f"{self.path} is damaged ({error}); delete it to start afresh."
            ) from error
