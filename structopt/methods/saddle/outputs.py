r"""The side of the outputs in a saddle-point problem: all shards' polytopes as one.

    Z = Z_1 x ... x Z_n,     g(z) = sum_i c_i (F_i z_i - f_i(y_i)),
    loss(z) = sum_i c_i (l_i . z_i + d_i),     grad_z L = c (F'w + l).

See :mod:`structopt.methods.saddle.form` for the other side.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from structopt.arrays import Floats
from structopt.engines.dataset import DataSet
from structopt.structures.base.relaxation import Relaxation


class Point(NamedTuple):
    """A feasible z, how far it may be from the exact projection, and what to start from next."""

    z: Floats
    error: float
    state: list[Any]


class Outputs:
    """The relaxations of all shards, each example weighted by its cost.

    Parameters
    ----------
    data : DataSet
    cost : array
        c_i of each example.
    """

    def __init__(self, data: DataSet, cost: Floats) -> None:
        self.relaxations: list[Relaxation] = [shard.relaxation() for shard in data.shards]
        parts = [len(r.gold) for r in self.relaxations]
        edges = np.concatenate([[0], np.cumsum(parts)]).tolist()
        self._spans = [slice(a, b) for a, b in pairwise(edges)]
        costs = [cost[a:b] for a, b in zip(data.starts[:-1], data.starts[1:], strict=True)]
        pairs = list(zip(self.relaxations, costs, strict=True))
        self._even = bool(np.all(cost == cost[0]))
        self._rate = float(cost[0])
        self._cost = np.concatenate([c[r.owner] for r, c in pairs])
        self.gold = np.concatenate([r.gold for r in self.relaxations])
        self._loss = self._cost * np.concatenate([r.loss for r in self.relaxations])
        self._constant = float(sum(c @ r.loss_constant for r, c in pairs))
        self._gold_features = self.features(self.gold)
        self.integral = all(r.integral for r in self.relaxations)

    def __len__(self) -> int:
        return len(self.gold)

    def features(self, z: Floats) -> Floats:
        """Return sum_i c_i F_i z_i."""
        weighted = z if self._even else self._cost * z
        spans = zip(self.relaxations, self._spans, strict=True)
        total = np.asarray(sum(r.features(weighted[s]) for r, s in spans))
        return self._rate * total if self._even else total

    def pull(self, z: Floats) -> Floats:
        """Return g(z) = sum_i c_i (F_i z_i - f_i(y_i))."""
        return np.asarray(self.features(z) - self._gold_features)

    def loss(self, z: Floats) -> float:
        """Return sum_i c_i (l_i . z_i + d_i)."""
        return float(self._loss @ z) + self._constant

    def gradient(self, weights: Floats) -> Floats:
        """Return c (F'w + l), the gradient of L in z."""
        scores = [r.scores(weights) for r in self.relaxations]
        total = scores[0] if len(scores) == 1 else np.concatenate(scores)
        total = self._rate * total if self._even else self._cost * total
        return np.asarray(total + self._loss)

    def along(self, a: Floats, b: float) -> Floats:
        """Return c (F'a + b l): what gradients at weights that add up to a, b times, add up to."""
        return np.asarray(self.gradient(a) + (b - 1.0) * self._loss)

    def project(self, z: Floats, error: float, state: list[Any] | None) -> Point:
        """Return a point of Z within ``error`` of the nearest to z."""
        share = error / np.sqrt(len(self.relaxations))
        before = [None] * len(self.relaxations) if state is None else state
        found = [
            r.project(z[s], error=share, state=b)
            for r, s, b in zip(self.relaxations, self._spans, before, strict=True)
        ]
        point = found[0].point if len(found) == 1 else np.concatenate([f.point for f in found])
        return Point(
            point, float(np.hypot.reduce([f.error for f in found])), [f.state for f in found]
        )
