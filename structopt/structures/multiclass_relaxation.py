"""Labels of many examples as a product of simplices."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.projections.simplex import project_simplex
from structopt.structures.parts import Floats, Ints
from structopt.structures.relaxation import Polytope, Projected, Relaxation


class MulticlassRelaxation(Relaxation):
    """One simplex an example; the part of label k of example i stands at i * K + k."""

    def __init__(self, matrix: Any, gold: Ints, cost: Floats, n_labels: int) -> None:
        n = len(gold)
        self._matrix, self._n_labels = matrix, n_labels
        self.owner = np.repeat(np.arange(n), n_labels)
        self.gold = np.zeros(n * n_labels)
        self.gold[np.arange(n) * n_labels + gold] = 1.0
        self.loss = np.repeat(cost, n_labels) * (1.0 - self.gold)
        self.loss_constant = np.zeros(n)

    def scores(self, weights: Floats) -> Floats:
        """Return the score of each label of each example."""
        return np.asarray(self._matrix @ weights.reshape(self._n_labels, -1).T).ravel()

    def features(self, z: Floats) -> Floats:
        """Return the inputs summed by label."""
        return np.asarray((self._matrix.T @ z.reshape(-1, self._n_labels)).T).ravel()

    def project(self, z: Floats, *, error: float, state: Any = None) -> Projected:
        """Project on every simplex; exact up to rounding."""
        found = project_simplex(z.reshape(-1, self._n_labels))
        return Projected(found.point.ravel(), found.residual * len(found.point) ** 0.5)

    def polytope(self) -> Polytope:
        """Return one equality an example."""
        n = len(self.loss_constant)
        A = sp.kron(sp.eye_array(n), np.ones((1, self._n_labels)), format="csr")
        return Polytope(A, np.ones(n), np.ones(n, dtype=bool))
