"""Progress on disk: the cuts and the best weights, written so that a kill cannot spoil them.

The file holds plain arrays (no pickles). A resumed run takes the cuts over, so it goes on where the
killed one was; its bounds are recomputed from the data, never read from the file.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.errors import FileFormatError
from structopt.files import read_arrays, write_arrays
from structopt.master.cuts import CutSet
from structopt.master.lift import Numbers
from structopt.structures.base.parts import Directions

_KIND = "structopt checkpoint 1"


class Checkpoint:
    """A checkpoint file, written at most so often that writing costs a twentieth of the run."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._next = 0.0

    def save(self, weights: Floats, cuts: Callable[[], CutSet], *, force: bool = False) -> None:
        """Write the state, unless the last writing is too recent."""
        start = time.perf_counter()
        if start < self._next and not force:
            return
        made = cuts()
        arrays = {
            "weights": weights,
            "family": made.family,
            "example": made.numbers.example,
            "loss": made.numbers.loss,
            "margin": made.numbers.margin,
            "scale": made.numbers.scale,
            "multipliers": made.multipliers,
            "ptr": made.directions.ptr,
            "source": made.directions.source,
            "offset": made.directions.offset,
            "coef": made.directions.coef,
            "data": made.explicit.data,
            "indices": made.explicit.indices,
            "indptr": made.explicit.indptr,
        }
        write_arrays(self.path, {"kind": _KIND, "fingerprint": made.fingerprint}, arrays)
        end = time.perf_counter()
        self._next = end + 20 * (end - start)

    def load(self) -> tuple[Floats, CutSet] | None:
        """Return the saved weights and cuts, or None if there is no file yet."""
        if not self.path.exists():
            return None
        header, arrays = read_arrays(self.path, _KIND)
        try:
            weights = arrays["weights"]
            numbers = Numbers(*(arrays[k] for k in ("example", "loss", "margin", "scale")))
            parts = Directions(*(arrays[k] for k in ("ptr", "source", "offset", "coef")))
            shape = (len(arrays["indptr"]) - 1, len(weights))
            explicit = sp.csr_array(
                (arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape
            )
            explicit.check_format()
            cuts = CutSet(
                arrays["family"], numbers, parts, explicit, arrays["multipliers"],
                str(header["fingerprint"]),
            )  # fmt: skip
            _check_lengths(cuts)
        except (KeyError, ValueError) as error:
            raise FileFormatError(
                f"{self.path} is damaged ({error}); delete it to start afresh."
            ) from error
        return weights, cuts


def _check_lengths(cuts: CutSet) -> None:
    count, parts = len(cuts), cuts.directions
    per_cut = (cuts.numbers.example, cuts.numbers.loss, cuts.numbers.margin, cuts.numbers.scale)
    per_part = (parts.source, parts.offset, parts.coef)
    if any(len(field) != count for field in (*per_cut, cuts.multipliers, parts)):
        raise ValueError("fields of different length")
    if any(len(field) != parts.ptr[-1] for field in per_part):
        raise ValueError("parts of different length")
