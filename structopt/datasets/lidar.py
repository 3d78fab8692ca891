r"""Airborne laser scans as arrays: an ``.npz`` file with a position and a class for every point.

>>> import numpy as np, pathlib, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = pathlib.Path(folder, "scan.npz")
...     np.savez(path, xyz=np.eye(3), return_number=[1, 1, 2], number_of_returns=[1, 2, 2],
...              intensity=[5, 7, 9], classification=[1, 2, 2])
...     read_scan(path).classification
array([1, 2, 2])
"""

from __future__ import annotations

import os

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.datasets.home import find
from structopt.datasets.scan_graphs import Scan, scan_tiles
from structopt.errors import FileFormatError
from structopt.files import read_plain_arrays
from structopt.parameters import Count, checked

WATER = 9
"""The class of the LAS format."""
ARRAYS = Scan._fields


@checked
def load_lidar(
    *, side: float = 50.0, k: Count = 6, home: str | os.PathLike[str] | None = None
) -> tuple[list[tuple[Ints, Floats, Floats]], list[Ints]]:
    """Load ``lidar_ground/topography_west.npz`` from the data home as tiles; water is left out.

    Parameters
    ----------
    side, k
        See :func:`~structopt.datasets.scan_graphs.scan_tiles`.
    home : path, optional
        A folder to look in instead of the data home.
    """
    return scan_tiles(load_scan(home=home), side=side, k=k)


@checked
def load_scan(*, home: str | os.PathLike[str] | None = None) -> Scan:
    """Load ``lidar_ground/topography_west.npz`` from the data home in one piece, without water."""
    scan = read_scan(find("lidar", "topography_west.npz", home=home))
    land = scan.classification != WATER
    return Scan(*(array[land] for array in scan))


@checked
def read_scan(path: str | os.PathLike[str]) -> Scan:
    """Read a scan from an ``.npz`` file with the arrays of :class:`Scan`.

    Raises
    ------
    FileFormatError
        The file is truncated or foreign, or an array is missing, misshapen or not finite.
    """
    name, found = os.fspath(path), read_plain_arrays(path, ARRAYS)
    n = len(found["xyz"]) if found["xyz"].ndim else 0
    for key, array in found.items():
        shape = (n, 3) if key == "xyz" else (n,)
        if n == 0 or array.shape != shape or array.dtype.kind not in "iuf":
            raise FileFormatError(
                f"{name}: {key} has shape {array.shape} and type {array.dtype}; expected numbers "
                f"of shape {shape}, for at least one point."
            )
        if not np.isfinite(array).all():
            raise FileFormatError(f"{name}: {key} holds what is not finite.")
    xyz, first, last, intensity = (found[key].astype(np.float64, copy=False) for key in ARRAYS[:-1])
    return Scan(xyz, first, last, intensity, found["classification"].astype(np.int64, copy=False))
