r"""Pairs of an image and a mask, such as the Weizmann horses: figure against ground.

>>> import pathlib, tempfile
>>> import numpy as np
>>> from PIL import Image
>>> with tempfile.TemporaryDirectory() as folder:
...     path = pathlib.Path(folder, "mask.png")
...     Image.fromarray(np.uint8([[0, 0, 255, 255]] * 2)).save(path)
...     (edges, nodes, edge_features), y = read_pair(path, path, cells=4)
>>> y
array([[0, 0, 1, 1],
       [0, 0, 1, 1]])
"""

from __future__ import annotations

import os

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.datasets.home import find_all
from structopt.datasets.image_grids import Grid, image_grid
from structopt.datasets.renamed import renamed
from structopt.errors import (
    FileFormatError,
    InvalidInputError,
    MissingDataError,
    MissingDependencyError,
)
from structopt.parameters import checked

STRETCH = 0.02
"""How far the aspect ratios of an image and its mask may differ: sizes are rounded to pixels."""


@renamed(n_images="n_examples")
@checked
def load_horses(
    n_examples: int | None = None,
    *,
    cells: int = 40,
    colour: bool = False,
    home: str | os.PathLike[str] | None = None,
) -> tuple[list[Grid], list[Ints]]:
    """Load the first pairs (all by default) of ``weizmann_horses`` in the data home.

    Parameters
    ----------
    n_examples : int, optional
    cells : int
        Cells along the longer side of an image.
    colour : bool
        Read the images in ``rgb`` instead of those in ``gray``. Masks are in ``figure_ground``.
    home : path, optional
        A folder to look in instead of the data home.

    Returns
    -------
    X : list of (edges, node_features, edge_features)
    Y : list of int arrays (rows, columns)

    Raises
    ------
    MissingDataError
        There are no masks, or a mask has no image of its name.
    FileFormatError
        A file is no whole image, or image and mask do not fit; the message names it.
    """
    if n_examples is not None and n_examples < 1:
        raise InvalidInputError(f"n_examples must be at least 1; got {n_examples}.")
    folder, (masks,) = find_all("horses", "figure_ground/*", home=home)
    kind = "rgb" if colour else "gray"
    X, Y = [], []
    for mask in masks[:n_examples]:
        image = folder / kind / mask.name
        if not image.is_file():
            raise MissingDataError(f"The mask {mask} has no image {image}.", path=image)
        x, y = read_pair(image, mask, cells=cells, colour=colour)
        X.append(x)
        Y.append(y)
    return X, Y


@checked
def read_pair(
    image: str | os.PathLike[str],
    mask: str | os.PathLike[str],
    *,
    cells: int = 40,
    colour: bool = False,
) -> tuple[Grid, Ints]:
    """Read an image and its mask (figure where it is brighter than half) as a grid."""
    figure = _read(mask, "L")
    rows, columns = figure.shape
    pixels = _read(image, "RGB" if colour else "L", mask_shape=(rows, columns))
    return image_grid(pixels, figure > 0.5, cells=cells)


def _read(
    path: str | os.PathLike[str], mode: str, mask_shape: tuple[int, int] | None = None
) -> Floats:
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingDependencyError(
            "Images need Pillow; install it with: pip install 'structopt-margin[data]'"
        ) from error
    name = os.fspath(path)
    try:
        with Image.open(path) as opened:
            image = opened.convert(mode)
    except FileNotFoundError as error:
        raise MissingDataError(f"There is no file {name!r}.", path=path) from error
    # SyntaxError: what Pillow raises for some broken PNG files
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise FileFormatError(f"{name} is no whole image: {error}") from error
    if mask_shape is not None and image.size != mask_shape[::-1]:
        (width, height), (rows, columns) = image.size, mask_shape
        if abs(width / height * rows / columns - 1.0) > STRETCH:
            raise FileFormatError(
                f"{name} has {width} x {height} pixels, its mask {columns} x {rows}: the shapes "
                "differ."
            )
        image = image.resize((columns, rows), Image.Resampling.BILINEAR)
    return np.asarray(image, dtype=np.float64) / 255.0
