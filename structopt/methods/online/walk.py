"""The walk of a perceptron over labels of rows: its weights, and an epoch as one compiled call."""

from __future__ import annotations

from typing import Self

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.engines.dataset import DataSet
from structopt.methods.labels import Labels, LabelWeights
from structopt.methods.online.walk_kernels import epoch
from structopt.structures.base.oracles import loss_augmented


class LabelWalk:
    """Weights w and late sums u over the columns that are kept, feature-major.

    Rows without neighbours are sequences of one: one kernel does both.

    Parameters
    ----------
    labels : Labels
    """

    def __init__(self, labels: Labels) -> None:
        given, K = labels.given, labels.given.n_labels
        self.labels = labels
        single = given.offsets is None
        self._offsets = np.arange(len(given.gold) + 1) if single else np.asarray(given.offsets)
        self._cost = given.cost.reshape(len(given.gold), -1)
        self._forbidden = np.zeros((K + 1, K + 1), dtype=bool)
        if given.allowed is not None:
            self._forbidden = ~given.allowed

    def begin(self, average: bool) -> None:
        """Set w and u to 0; u is there for an average only."""
        K = self.labels.given.n_labels
        self._average, shape = average, (len(self.labels.kept), K)
        self._rows, self._late_rows = np.zeros(shape), np.zeros(shape if average else (0, K))
        self._steps, self._late_steps = np.zeros((K + 1, K + 1)), np.zeros((K + 1, K + 1))
        self._steps[self._forbidden] = -np.inf

    @classmethod
    def of(cls, data: DataSet) -> Self | None:
        """Return the walk over a data set, None if it has no labels of rows, all of them known."""
        if data.unknown.any():
            return None
        labels = Labels.of(data, loss_augmented)
        return None if isinstance(labels, str) else cls(labels)

    def epoch(self, order: Ints, rate: Floats, visits: int) -> int:
        """Visit examples in order, ``rate`` the size of each one's step; return the mistakes."""
        rows, given = self.labels.given.rows, self.labels.given
        mistakes = epoch(
            order, rate, visits, self._average, self._offsets, given.gold, self._cost,
            given.boundaries, rows.indptr, rows.indices, rows.data, self._rows, self._late_rows,
            self._steps, self._late_steps,
        )  # fmt: skip
        return int(mistakes)

    def model(self, visits: int) -> LabelWeights:
        """Return the weights to predict with: ``w - u / visits``, or w without an average."""
        steps = np.where(self._forbidden, 0.0, self._steps)
        if not self._average or visits == 0:
            return self._of(self._rows.copy(), steps)
        rows = self._late_rows * (-1.0 / visits)
        rows += self._rows
        return self._of(rows, steps - self._late_steps / visits)

    def vectors(self) -> tuple[Floats, Floats]:
        """Return w and u as users see them."""
        steps = np.where(self._forbidden, 0.0, self._steps)
        current = self.labels.widened(self._of(self._rows, steps))
        if not self._average:
            return current, np.zeros(0)
        return current, self.labels.widened(self._of(self._late_rows, self._late_steps))

    def go_on(self, current: Floats, late: Floats) -> None:
        """Go on from given w and u."""
        self._rows, self._steps = self._from(current)
        self._steps[self._forbidden] = -np.inf
        if self._average:
            self._late_rows, self._late_steps = self._from(late)

    def _of(self, rows: Floats, steps: Floats) -> LabelWeights:
        single = self.labels.given.offsets is None
        return LabelWeights(rows, np.zeros(0) if single else self.labels.flat(steps))

    def _from(self, weights: Floats) -> tuple[Floats, Floats]:
        K, (rows, flat) = self.labels.given.n_labels, self.labels.narrowed(weights)
        steps = np.zeros((K + 1, K + 1))
        if len(flat):
            steps[:K, :K] = flat[: K * K].reshape(K, K)
        if self.labels.given.boundaries:
            steps[K, :K], steps[:K, K] = flat[K * K :].reshape(2, K)
        return rows, steps
