"""Arrays as pictures that stand in a page: images of inputs, maps of labels, weights of pixels.

>>> import numpy as np
>>> image(np.eye(2), alt="two <dots>")
Markup('<img class="pixels" src="data:image/png;base64,...alt="two &lt;dots&gt;" ...>')
"""

from __future__ import annotations

import base64
import io
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from markupsafe import Markup

from structopt.report.draw.theme import OKABE_ITO
from structopt.report.template import clean

MOST_PIXELS = 160  # a side; larger pictures are thinned


def image(values: Any, *, alt: str, colours: str = "gray_r", limits: Any = (None, None)) -> Markup:
    """Return an array (rows, columns) or (rows, columns, 3) as an ``<img>`` element."""
    from matplotlib.image import imsave

    pixels = np.asarray(values, dtype=np.float64)
    every = max(1, -(-max(pixels.shape[:2]) // MOST_PIXELS))
    pixels = np.nan_to_num(pixels[::every, ::every], posinf=0.0, neginf=0.0)
    if pixels.ndim == 3:  # colours are shares, or bytes
        pixels = np.clip(pixels / (255.0 if pixels.max(initial=0.0) > 1.0 else 1.0), 0.0, 1.0)
    file = io.BytesIO()
    imsave(file, pixels, format="png", cmap=colours, vmin=limits[0], vmax=limits[1])
    data = base64.b64encode(file.getvalue()).decode()
    rows, columns = pixels.shape[:2]
    return Markup(
        '<img class="pixels" src="data:image/png;base64,{}" alt="{}" width="{}" height="{}">'
    ).format(data, clean(alt), columns, rows)


def label_map(labels: Any, codes: Mapping[Hashable, int], *, alt: str) -> Markup:
    """Return a grid of labels as an image, each label in its colour."""
    palette = np.array([[int(c[k : k + 2], 16) for k in (1, 3, 5)] for c in OKABE_ITO]) / 255.0
    numbers = np.array([[codes[str(k)] % len(palette) for k in row] for row in labels])
    return image(palette[numbers], alt=alt)
