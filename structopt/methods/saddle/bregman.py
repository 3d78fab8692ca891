r"""The dual extragradient method with entropic projections: sum-product instead of projections.

Outputs are distributions p_i(y) = exp(a . phi + b loss) / Z_i with one vector a and one number b
for all examples, since the gradient of L in z is c (F'w + l): every step adds a multiple of (w, 1)
to (a, b), and no z is ever stored. With the sum S of -eta L_w,

    v = (Pi_W[w_0 + S / omega], p(a, b)),
    u = (Pi_W[v_w - (eta/omega) L_w(v)],  p(a + eta omega v_w, b + eta omega)),
    S <- S - eta L_w(u),    (a, b) <- (a, b) + eta omega (u_w, 1).

A step eta is accepted if eta <G(u) - G(v), u - v+> <= V(v, u) + V(u, v+), G = (L_w, -L_z), with the
divergence V = omega/2 |w - w'|^2 + 1/omega sum_i c_i KL(p_i || p'_i).
"""

from __future__ import annotations

import time
from typing import NamedTuple, Unpack

import numpy as np

from structopt.arrays import Floats
from structopt.engines.dataset import DataSet
from structopt.formulations.base import Formulation
from structopt.methods.method import Method
from structopt.methods.saddle.form import SaddleForm
from structopt.run.events import Round
from structopt.run.limits import LimitOptions
from structopt.structures.base.expectations import Expected
from structopt.structures.base.structure import Structure

_FIRST, _GROWTH = 10, 0.2
"""As in :mod:`structopt.methods.saddle.extragradient`."""


class Point(NamedTuple):
    """Weights w, the distribution exp(a . phi + b loss) and its expectations."""

    w: Floats
    a: Floats
    b: float
    z: Expected

    def divergence(self, other: Point) -> float:
        """Return sum_i c_i KL(own || other)."""
        return self.z.divergence(other.z, self.a - other.a, self.b - other.b)


class Bregman(Method):
    r"""The dual extragradient method with sum-product; a round is some iterations.

    .. math::
        \min_{w\in W} \max_{p} \tfrac{1}{2C}|w|^2
        + \sum_i E_{p_i}\big[\ell_i(y) - w\cdot\delta_i(y)\big]

    Memory is that of a few weight vectors, whatever the number of outputs. The lower bound is D at
    the averaged distributions (g and the loss are linear in z, so their averages are enough), the
    upper bound P at the last and at the averaged weights, by exact oracle passes.

    In a :class:`~structopt.Round`, `violation` is the divergence of the last step over eta,
    `solve_seconds` the time of sum-product, `lift_seconds` of everything but that and oracles.

    Parameters
    ----------
    structure, formulation, data, **limits
        See :class:`~structopt.Method`. The structure must be able to sum over its
        outputs: `Multiclass`, `Chain`, trees.

    Notes
    -----
    Taskar, Lacoste-Julien and Jordan (2006), Structured Prediction, Dual Extragradient and Bregman
    Projections, JMLR 7, section 4 and Figure 6; steps are adapted as in Nemirovski's mirror-prox.

    Examples
    --------
    >>> import structopt as so
    >>> from structopt.methods.saddle.bregman import Bregman
    >>> X, Y = so.datasets.make_chain_crf(20, seed=0)
    >>> structure = so.Chain().fitted(X, Y)
    >>> run = Bregman(structure, so.M3N(0.1), so.DataSet.of(structure, X, Y), tol=1e-2)
    >>> run.solve().certificate.certified
    True
    """

    name = "bregman"

    _origin: Point
    _descent: Floats
    _total_w: Floats
    _total_pull: Floats
    _total_loss: float
    _total: float

    def __init__(
        self,
        structure: Structure,
        formulation: Formulation,
        data: DataSet,
        **limits: Unpack[LimitOptions],
    ) -> None:
        super().__init__(structure, formulation, data, **limits)
        self._form = SaddleForm(self.master, data, self.name)
        self.iterations, self._summing, self._proven = 0, 0.0, True
        zero = np.zeros(data.n_features)
        self._now = self._at(self._form.nearest(zero), zero, 0.0)
        # twice the divergence of a corner from the centre: the squared length of the way to go
        spread = 2.0 * self._now.z.log_partition
        self.omega = float(np.sqrt(spread)) if spread > 0 else 1.0
        self.eta = 1.0 / max(1.0, float(np.linalg.norm(self._now.z.features)))
        self._length = np.inf
        self._restart()

    # ------------------------------------------------------------------ running
    def step(self) -> Round:
        """Do one round and return its record."""
        start, before, summing = time.perf_counter(), self.iterations, self._summing
        for _ in range(max(_FIRST, int(_GROWTH * self.iterations))):
            self._iterate()
            if self.limits.reached(self._elapsed()):
                break
        asking = time.perf_counter()
        mean_w = self._total_w / self._total
        value = min(self._judge(self._now.w), self._judge(mean_w))
        asked = time.perf_counter()
        mean = (self._total_pull / self._total, self._total_loss / self._total)
        for pull, loss in (mean, (self._now.z.features, self._now.z.loss)):
            self._dual = max(self._dual, self._form.dual(pull, loss))
        self._rebalance()
        solving = self._summing - summing
        return self._record(
            value=value,
            violation=self._length / self.eta,
            nonzeros=int(np.count_nonzero(self._now.w)),
            iterations=self.iterations - before,
            oracle_seconds=asked - asking,
            lift_seconds=time.perf_counter() - start - solving - (asked - asking),
            solve_seconds=solving,
        )

    # ------------------------------------------------------------------ an iteration
    def _iterate(self) -> None:
        v, form = self._now, self._form
        while True:
            eta, omega = self.eta, self.omega
            slope_v = form.curvature * v.w + v.z.features
            w = form.nearest(v.w - eta / omega * slope_v)
            u = self._at(w, v.a + eta * omega * v.w, v.b + eta * omega)
            slope_u = form.curvature * u.w + u.z.features
            total = self._descent - eta * slope_u
            w = form.nearest(self._origin.w + total / omega)
            after = self._at(w, v.a + eta * omega * u.w, v.b + eta * omega)
            bent = (slope_u - slope_v) @ (u.w - after.w)
            bent -= (u.w - v.w) @ (u.z.features - after.z.features)
            self._length = self._distance(u, v) + self._distance(after, u)
            r = eta * float(bent) / self._length if self._length > 0 else 0.0
            if r <= 1.0:
                break
            self.eta *= 2.0 / 3.0 * min(1.0, 1.0 / r)
        self._now, self._descent = after, total
        self._total_w += eta * u.w
        self._total_pull += eta * u.z.features
        self._total_loss += eta * u.z.loss
        self._total += eta
        self.iterations += 1
        if r < 0.7:
            self.eta *= 1.2

    def _at(self, w: Floats, a: Floats, b: float) -> Point:
        start = time.perf_counter()
        starts, cost = self.data.starts, self._form.cost
        each = [
            shard.expected(a, b, cost[first:stop])
            for shard, first, stop in zip(self.data.shards, starts[:-1], starts[1:], strict=True)
        ]
        features = np.sum([e.features for e in each], axis=0)
        loss, log_partition = sum(e.loss for e in each), sum(e.log_partition for e in each)
        self._summing += time.perf_counter() - start
        return Point(w, a, b, Expected(features, loss, log_partition))

    def _distance(self, point: Point, other: Point) -> float:
        """Return V: half the squared length of the way."""
        way = point.w - other.w
        return 0.5 * self.omega * float(way @ way) + point.divergence(other) / self.omega

    # ------------------------------------------------------------------ the end of a round
    def _judge(self, weights: Floats) -> float:
        value, proven = self._form.primal(weights)
        self._proven = self._proven and proven
        self._offer(weights, value, self._form.residual(weights))
        return value

    def _rebalance(self) -> None:
        """Set omega by the ways that both sides have gone, and measure from here."""
        far_w = float(np.linalg.norm(self._now.w - self._origin.w))
        far_z = float(np.sqrt(2.0 * self._now.divergence(self._origin)))
        if far_w > 0 and far_z > 0:
            self.omega *= float(np.clip(np.sqrt(far_z / far_w / self.omega), 0.1, 10.0))
        self._restart()

    def _restart(self) -> None:
        self._origin, zero = self._now, np.zeros(self.data.n_features)
        self._descent, self._total_w, self._total_pull = zero, zero.copy(), zero.copy()
        self._total_loss = self._total = 0.0

    # ------------------------------------------------------------------ what the result says
    def _certain(self) -> bool:
        return self._proven

    def _note(self) -> str:
        notes = []
        if not self._form.regularised:
            notes.append("without a regulariser the only lower bound is 0")
        if not self._proven:
            notes.append("some oracle answers are not proven to be the best")
        return "; ".join(notes)
