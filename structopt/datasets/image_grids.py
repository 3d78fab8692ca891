r"""Images with masks as coarse grids, for figure against ground.

An image is averaged over the cells of a grid; a grid is one example of :class:`structopt.GraphCut`,

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

import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Floats, Ints
from structopt.errors import InvalidInputError
from structopt.parameters import checked

Grid = tuple[Ints, Floats, Floats]


@checked
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
