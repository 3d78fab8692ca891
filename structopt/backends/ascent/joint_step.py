"""Newton steps of an ascent, with the products of planes and a ridge kept between them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.backends.ascent.face_step import RIDGES, Products, face_step
from structopt.backends.ascent.planes import Layout
from structopt.backends.ascent.prices import Prices


class JointStep:
    """What a Newton step over all multipliers in use leaves for the next one.

    Attributes
    ----------
    products : Products
        Of the planes that were in use.
    """

    def __init__(self) -> None:
        self.products, self._ridge = Products(), RIDGES[0]

    @property
    def stuck(self) -> bool:
        """Whether the ridge is as large as it gets."""
        return self._ridge == RIDGES[1]

    def forget(self) -> None:
        """Build products anew: the curvature of the weights has changed."""
        self.products = Products()

    def size(self, alpha: Floats, n_weights: int) -> int:
        """Return how many numbers the matrices of a step hold."""
        used = int(np.count_nonzero(alpha))
        return used * (used + n_weights)

    def take(
        self, layout: Layout, prices: Prices, alpha: Floats, w: Floats, inverse: Floats,
        dense: Callable[[Ints], Floats],
    ) -> bool:  # fmt: skip
        """Step over all multipliers in use, in place; say whether it gained.

        ``dense`` makes the rows of planes, and ``inverse`` is the inverse curvature of the weights.
        """
        used = np.flatnonzero(alpha > 0)
        planes = layout.order[used]
        scale = np.sqrt(inverse)
        rows, gram = self.products.of(planes, lambda new: scale * dense(new))
        sizes = np.diff(layout.planes[0])
        group = np.repeat(np.arange(len(sizes)), sizes)[used]
        soft = layout.soft[used]
        load = np.zeros(len(sizes))
        np.add.at(load, group[soft], alpha[used][soft])
        limit, bent, paid = prices.around(load)
        limit = np.where(soft, limit[group], np.inf)
        slope = layout.rhs[used] - rows @ (w / scale)
        if np.any(bent):
            slope -= np.where(soft, paid[group], 0.0)
            own = np.where(soft, bent[group], 0.0)
            gram = gram + np.where(group[:, None] == group, np.outer(soft, own), 0.0)
        better = face_step(alpha[used], slope, gram, group, limit, self._ridge)
        least, largest = RIDGES
        if better is None:
            self._ridge = min(largest, 100.0 * self._ridge)
            return False
        self._ridge = max(least, self._ridge / 3.0)
        w += scale * ((better - alpha[used]) @ rows)
        alpha[used] = better
        return True
