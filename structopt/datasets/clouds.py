r"""Clouds in the plane whose scale along one axis says nothing: margin against spread.

One example with a good output and many bad ones, each a point psi(x, y) of the plane. The bad ones
lie along the first axis, to the left and below the good one. The largest margin points from their
right end to the good one, and the more the first axis is stretched, the more along it; projected
there they are widely spread, while a bound on the spread keeps to the second axis.

>>> good, bad = make_scaled_clouds(30, scale=4.0, seed=0)
>>> good.shape, bad.shape
((2,), (30, 2))
>>> import numpy as np
>>> plain = make_scaled_clouds(30, seed=0)[1]
>>> bool(np.allclose(bad, plain * [4.0, 1.0]))
True
"""

from __future__ import annotations

import numpy as np

from structopt.arrays import Floats
from structopt.datasets.renamed import renamed
from structopt.parameters import Count, Positive, Seed, checked

GOOD = (0.6, 1.0)
LEFT, RIGHT, NOISE = -2.5, 0.3, 0.1
"""Between what the bad outputs lie on the first axis, and how far they stray from it."""


@renamed(n="n_examples")
@checked
def make_scaled_clouds(
    n_examples: Count = 40, *, scale: Positive = 1.0, seed: Seed = 0
) -> tuple[Floats, Floats]:
    """Draw the features of one good and many bad outputs.

    Parameters
    ----------
    n_examples : int
        Bad outputs, at least 1.
    scale : float
        Factor of the first axis, > 0.
    seed : int

    Returns
    -------
    good : array of shape (2,)
    bad : array of shape (n_examples, 2)

    Notes
    -----
    After Figure 1 of Shivaswamy and Jebara (2009), which shows such clouds at three scales.
    """
    rng = np.random.default_rng(seed)
    along = rng.uniform(LEFT, RIGHT, size=n_examples)
    bad = np.column_stack([along, rng.normal(0.0, NOISE, size=n_examples)])
    stretch = np.array([scale, 1.0])
    return np.array(GOOD) * stretch, bad * stretch
