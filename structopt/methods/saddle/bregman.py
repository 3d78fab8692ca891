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
from structopt.methods.mean import Mean
from structopt.methods.saddle.method import IteratedSaddle
from structopt.run.limits import LimitOptions
from structopt.structures.base.expectations import Expected
from structopt.structures.base.structure import Structure

_SHARP = 1e7
"""Size of exponents above which steps grow no more: distributions are as good as corners there."""

_SUMMED = 1e9
"""Size of exponents up to which sums over outputs are known to some six digits; beyond, what their
roundings give is no distribution any more, and no lower bound is taken from it."""


class Point(NamedTuple):
    """Weights w, the distribution exp(a . phi + b loss) and its expectations."""

    w: Floats
    a: Floats
    b: float
    z: Expected

    def divergence(self, other: Point) -> float:
        """Return sum_i c_i KL(own || other)."""
        return self.z.divergence(other.z, self.a - other.a, self.b - other.b)


class Averaged(NamedTuple):
    """The mean of weights, and of what the distributions expect."""

    w: Floats
    pull: Floats
    loss: float


class Bregman(IteratedSaddle):
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

    _descent: Floats

    def __init__(
        self,
        structure: Structure,
        formulation: Formulation,
        data: DataSet,
        **limits: Unpack[LimitOptions],
    ) -> None:
        super().__init__(structure, formulation, data, **limits)
        zero = np.zeros(data.n_features)
        each = (np.abs(shard.base.data).max(initial=0.0) for shard in data.shards)
        self._largest = float(max(each, default=0.0))
        self._now = self._at(self._form.nearest(zero), zero, 0.0)
        # twice the divergence of a corner from the centre: the squared length of the way to go
        spread = 2.0 * self._now.z.log_partition
        self.omega = float(np.sqrt(spread)) if spread > 0 else 1.0
        self.step_size = 1.0 / max(1.0, float(np.linalg.norm(self._now.z.features)))
        self._restart()

    # ------------------------------------------------------------------ an iteration
    def _iterate(self) -> None:
        v, form = self._now, self._form
        while True:
            eta, omega = self.step_size, self.omega
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
            self._shorten(r)
        self._now, self._descent = after, total
        self._mean.add(eta, u.w, u.z.features, u.z.loss)
        self._accept(r, 1.0)

    def _at(self, w: Floats, a: Floats, b: float) -> Point:
        start = time.perf_counter()
        starts, cost = self.data.starts, self._form.cost
        each = [
            shard.expected(a, b, cost[first:stop])
            for shard, first, stop in zip(self.data.shards, starts[:-1], starts[1:], strict=True)
        ]
        features = np.sum([e.features for e in each], axis=0)
        loss, log_partition = sum(e.loss for e in each), sum(e.log_partition for e in each)
        self._solving += time.perf_counter() - start
        return Point(w, a, b, Expected(features, loss, log_partition))

    def _exponent(self) -> float:
        """Return the size of what is exponentiated now: its rounding is that of probabilities."""
        size = float(np.abs(self._now.a).max(initial=0.0))
        return size * self._largest + float(self._now.b)

    def _accept(self, r: float, most: float) -> None:
        super()._accept(r if self._exponent() <= _SHARP else most, most)

    def _distance(self, point: Point, other: Point) -> float:
        """Return V: half the squared length of the way."""
        way = point.w - other.w
        return 0.5 * self.omega * float(way @ way) + point.divergence(other) / self.omega

    # ------------------------------------------------------------------ the end of a round
    def _averaged(self) -> Averaged:
        return Averaged(*self._mean.values())

    def _conclude(self, mean: Averaged, *, fell: bool) -> None:
        """Raise the lower bound; set omega by the ways gone, and measure from here."""
        if self._exponent() <= _SUMMED:
            self._raise(mean.pull, mean.loss)
            self._raise(self._now.z.features, self._now.z.loss)
        far_w = float(np.linalg.norm(self._now.w - self._origin.w))
        far_z = float(np.sqrt(2.0 * self._now.divergence(self._origin)))
        if far_w > 0 and far_z > 0:
            self.omega *= float(np.clip(np.sqrt(far_z / far_w / self.omega), 0.1, 10.0))
        self._restart()

    def _restart(self) -> None:
        self._origin, self._mean = self._now, Mean()
        self._descent = np.zeros(self.data.n_features)
