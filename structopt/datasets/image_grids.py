r"""Images with masks as coarse grids, for figure against ground.

An image is averaged over the cells of a grid; a grid is one example of :class:`structopt.Cut`,

    x = (edges, node_features, edge_features),    y[r, c] = 1 where most of the cell is figure.

Node features: a constant, the mean m of each channel (gray, or red, green and blue, in [0, 1]),
m^2, the deviation within the cell, and of the position (r, c) in [-1, 1]^2: r, c, r^2, c^2, r c.
Edges join the four neighbours; their features, all >= 0, are a constant and the likeness

    exp(-|m_i - m_j|^2 / (2 s^2)),    s^2 = mean of |m_i - m_j|^2 over the edges of the image.

>>> import numpy as np
>>> pixels = np.zeros((8, 12))
>>> pixels[:, 6:] = 1.0
>>> (edges, nodes, features), y = image_grid(pixels, pixels > 0.5, cells=6)
>>> nodes.shape, y.shape, y[0].tolist()
((24, 9), (4, 6), [0, 0, 0, 1, 1, 1])
>>> sorted(set(features[:, 1].round(3).tolist()))  # 4 of 38 edges cross the border
[0.009, 1.0]
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from structopt.datasets.home import data_home
from structopt.errors import (
    FileFormatError,
    InvalidInputError,
    MissingDataError,
    MissingDependencyError,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Grid = tuple[Ints, Floats, Floats]

FOLDER = "weizmann_horses"
STRETCH = 0.02
"""How far the aspect ratios of an image and its mask may differ: sizes are rounded to pixels."""


def load_horses(
    n_images: int | None = None,
    *,
    cells: int = 40,
    colour: bool = False,
    home: str | os.PathLike[str] | None = None,
) -> tuple[list[Grid], list[Ints]]:
    """Load the first pairs (all by default) of ``weizmann_horses`` in the data home.

    Parameters
    ----------
    n_images : int, optional
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
    if n_images is not None and n_images < 1:
        raise InvalidInputError(f"n_images must be at least 1; got {n_images}.")
    folder = (data_home() if home is None else Path(home).expanduser()) / FOLDER
    kind = "rgb" if colour else "gray"
    masks = sorted(path for path in folder.glob("figure_ground/*") if path.is_file())[:n_images]
    if not masks:
        raise MissingDataError(
            f"There are no masks in {folder / 'figure_ground'}: put images there, white where the "
            f"figure is, and images of the same names into {folder / kind}; another folder is named"
            " by the environment variable STRUCTOPT_DATA. The Weizmann horse database has 328 "
            "pairs.",
            path=folder / "figure_ground",
        )
    X, Y = [], []
    for mask in masks:
        image = folder / kind / mask.name
        if not image.is_file():
            raise MissingDataError(f"The mask {mask} has no image {image}.", path=image)
        x, y = read_pair(image, mask, cells=cells, colour=colour)
        X.append(x)
        Y.append(y)
    return X, Y


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


def image_grid(pixels: Floats, figure: NDArray[np.bool_], *, cells: int = 40) -> tuple[Grid, Ints]:
    """Return the grid of an image with values in [0, 1] and the labels of its cells.

    Parameters
    ----------
    pixels : array (rows, columns) or (rows, columns, channels)
    figure : bool array (rows, columns)
    cells : int
        Cells along the longer side.
    """
    if pixels.shape[:2] != figure.shape or figure.ndim != 2 or not figure.size:
        raise InvalidInputError(
            f"The image has shape {pixels.shape} and the mask {figure.shape}: they must agree, and "
            "not be empty."
        )
    if not 2 <= cells <= max(figure.shape):
        raise InvalidInputError(
            f"cells is {cells}; choose 2 to {max(figure.shape)}, the longer side of the image."
        )
    size = max(figure.shape) / cells
    shape = tuple(max(1, round(side / size)) for side in figure.shape)
    channels = pixels[:, :, None] if pixels.ndim == 2 else pixels
    mean = _average(channels, shape)
    spread = np.sqrt(np.maximum(_average(channels**2, shape) - mean**2, 0.0))
    nodes = np.concatenate([np.ones((*shape, 1)), mean, mean**2, spread, _place(shape)], axis=2)
    number = np.arange(shape[0] * shape[1]).reshape(shape)
    across = np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], axis=1)
    down = np.stack([number[:-1].ravel(), number[1:].ravel()], axis=1)
    edges: Ints = np.concatenate([across, down]).astype(np.int64)
    flat = mean.reshape(number.size, -1)
    contrast = ((flat[edges[:, 0]] - flat[edges[:, 1]]) ** 2).sum(axis=1)
    scale = 2.0 * contrast.mean()
    likeness = np.exp(-contrast / scale) if scale > 0 else np.ones(len(edges))
    share = _average(figure[:, :, None].astype(np.float64), shape)[:, :, 0]
    labels: Ints = (share > 0.5).astype(np.int64)
    edge_features = np.stack([np.ones(len(edges)), likeness], axis=1)
    return (edges, nodes.reshape(number.size, -1), edge_features), labels


def _place(shape: tuple[int, ...]) -> Floats:
    """Return r, c, r^2, c^2 and r c of the cells; the middle is (0, 0)."""
    r, c = np.meshgrid(*((2 * np.arange(n) + 1) / n - 1.0 for n in shape), indexing="ij")
    return np.stack([r, c, r**2, c**2, r * c], axis=2)


def _average(channels: Floats, shape: tuple[int, ...]) -> Floats:
    """Return the means over the cells of a grid; a pixel belongs to one cell."""
    for axis, n in enumerate(shape):
        size = channels.shape[axis]
        starts = np.arange(n) * size // n
        counts = np.diff([*starts, size])
        sums = np.add.reduceat(channels, starts, axis=axis)
        channels = sums / np.expand_dims(counts, tuple(a for a in range(3) if a != axis))
    return channels


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
    except FileNotFoundError:
        raise
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
