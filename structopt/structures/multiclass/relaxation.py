r"""The labels of all examples as one product of simplices.

z_i >= 0,    sum_k z_ik = 1      for every example i.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints
from structopt.structures.base.relaxation import Polytope, Projected, Relaxation
from structopt.structures.multiclass.projection import project_simplex


class MulticlassRelaxation(Relaxation):
    """One simplex an example; parts are labels, example by example."""

    integral = True

    def __init__(self, matrix: Any, gold: Ints, costs: Floats) -> None:
        self._matrix, self._shape = matrix, costs.shape
        self.owner = np.repeat(np.arange(len(gold)), costs.shape[1])
        chosen = np.zeros(self._shape)
        chosen[np.arange(len(gold)), gold] = 1.0
        self.gold = chosen.ravel()
        self.loss = costs.ravel()
        self.loss_constant = np.zeros(len(gold))

    def scores(self, weights: Floats) -> Floats:
        """Return the score of every label of every example."""
        by_label = weights.reshape(self._shape[1], -1)
        return np.asarray(self._matrix @ by_label.T).ravel()

    def features(self, z: Floats) -> Floats:
        """Return the inputs summed by (fractional) label."""
        return np.asarray(self._matrix.T @ z.reshape(self._shape)).T.ravel()

    def project(self, z: Floats, *, error: float, state: Any = None) -> Projected:
        """Return the fractional labels nearest to z, whatever error is allowed: it is cheap."""
        found = project_simplex(z.reshape(self._shape))
        return Projected(found.point.ravel(), found.residual * np.sqrt(self._shape[0]))

    def polytope(self) -> Polytope:
        """Return ``sum_k z_ik = 1`` for every example."""
        n = self._shape[0]
        A = sp.csr_array((np.ones(len(self.owner)), (self.owner, np.arange(len(self.owner)))))
        return Polytope(A, np.ones(n), np.ones(n, dtype=bool))
