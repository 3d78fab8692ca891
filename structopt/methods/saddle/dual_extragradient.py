r"""The dual extragradient method with Euclidean projections, which keeps sums and no z.

The gradient of L in z is c (F'w + l), so that a sum of gradients is c (F'a + b l) with a the sum of
the weights and b their number: one vector and one number, whatever the number of outputs. With S
the sum of -eta L_w, from w_0 and the gold outputs z_0,

    v = (Pi_W[w_0 + S / omega], Pi_Z[z_0 + c (F'a + b l)]),
    u = (Pi_W[v_w - (eta/omega) L_w(v)], Pi_Z[v_z + eta omega c (F'v_w + l)]),
    S <- S - eta L_w(u),    (a, b) <- (a, b) + eta omega (u_w, 1).

A step is accepted if eta <G(u) - G(v), u - v+> <= |v - u|^2 / 2 + |u - v+|^2 / 2, G = (L_w, -L_z),
in the norm omega |w|^2 + |z|^2 / omega, v+ being the next v.
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
from structopt.methods.saddle.outputs import Outputs
from structopt.run.events import relative
from structopt.run.limits import LimitOptions
from structopt.structures.base.structure import Structure

_LOOSE, _TIGHT = 1e-3, 1e-7
"""Errors of projections, root mean square over the parts: a tenth of the relative gap between."""
_SHARE = 0.1
"""The primal weight as a share of |g| / |z| at the first step. On 12 matchings, C = 0.1, a gap of
1e-3 takes 176 iterations, and 1 or 10 in its place do not come there in 300."""


class Kept(NamedTuple):
    """What is kept between iterations: weights, and the sums that say where z is."""

    w: Floats
    a: Floats
    b: float


class Averaged(NamedTuple):
    """The mean of weights, and of g and the loss at the outputs."""

    w: Floats
    pull: Floats
    loss: float


class DualExtragradient(IteratedSaddle):
    r"""The dual extragradient method that keeps only sums; a round is some iterations.

    .. math::
        \min_{w\in W} \max_{z\in Z} \tfrac{1}{2C}|w|^2
        + \sum_i \big[(F_i^\top w + \ell_i)\cdot z_i + d_i - w\cdot f_i(y_i)\big]

    Between iterations nothing as long as z is kept, where ``"extragradient"`` keeps two z and their
    gradients; the price is a third projection an iteration. g and the loss are linear in z, so
    their averages bound the optimum from below.

    Parameters
    ----------
    structure, formulation, data, **limits
        As in :class:`~structopt.SaddleExtragradient`.

    Notes
    -----
    Taskar, Lacoste-Julien and Jordan (2006), Structured Prediction, Dual Extragradient and Bregman
    Projections, JMLR 7, section 3.3 and the memory-efficient form in section 3.4; steps are
    accepted and lengthened as in :class:`~structopt.Bregman`, which does the same with entropies.

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = so.datasets.make_alignments(6, mean_edges=8, seed=0)
    >>> structure = so.Matching().fitted(X, Y)
    >>> data = so.DataSet.of(structure, X, Y)
    >>> run = so.DualExtragradient(structure, so.M3N(0.1), data, tol=1e-2)
    >>> run.solve().certificate.certified
    True
    """

    name = "dual-extragradient"

    def __init__(
        self,
        structure: Structure,
        formulation: Formulation,
        data: DataSet,
        **limits: Unpack[LimitOptions],
    ) -> None:
        super().__init__(structure, formulation, data, **limits)
        self._outputs = Outputs(data, self._form.cost)
        self._integral = self._outputs.integral
        zero = np.zeros(data.n_features)
        self._origin = self._form.nearest(zero)
        self._now = Kept(self._origin, zero, 0.0)
        self._descent = zero.copy()
        pull = self._outputs.pull(self._project(self._outputs.gradient(zero)))
        far = float(np.linalg.norm(pull))
        size = float(np.linalg.norm(self._outputs.gold)) or 1.0
        self.omega = _SHARE * far / size if far > 0 else 1.0
        self.step_size = 1.0 / max(1.0, far)
        self._mean = Mean()

    # ------------------------------------------------------------------ an iteration
    def _iterate(self) -> None:
        v, form, out = self._now, self._form, self._outputs
        z_v = self._project(out.gold + out.along(v.a, v.b))
        pull_v, grad_v = out.pull(z_v), out.gradient(v.w)
        slope_v = form.curvature * v.w + pull_v
        while True:
            eta, omega = self.step_size, self.omega
            w = form.nearest(v.w - eta / omega * slope_v)
            z_u = self._project(z_v + eta * omega * grad_v)
            pull_u = out.pull(z_u)
            slope_u = form.curvature * w + pull_u
            total = self._descent - eta * slope_u
            after = Kept(
                form.nearest(self._origin + total / omega),
                v.a + eta * omega * w,
                v.b + eta * omega,
            )
            z = self._project(out.gold + out.along(after.a, after.b))
            bent = (slope_u - slope_v) @ (w - after.w)
            bent -= (out.gradient(w) - grad_v) @ (z_u - z)
            self._length = self._half(w - v.w, z_u - z_v) + self._half(after.w - w, z - z_u)
            r = eta * float(bent) / self._length if self._length > 0 else 0.0
            if r <= 1.0:
                break
            self._shorten(r)
        self._now, self._descent = after, total
        self._mean.add(eta, w, pull_u, out.loss(z_u))
        self._accept(r, 1.0)

    def _project(self, aim: Floats) -> Floats:
        start = time.perf_counter()
        gap = relative(self._primal, self._dual)
        rms = float(np.clip(0.1 * gap, _TIGHT, _LOOSE)) if np.isfinite(gap) else _LOOSE
        z = self._outputs.project(aim, rms * np.sqrt(len(aim)), None).z
        self._solving += time.perf_counter() - start
        return z

    def _half(self, w: Floats, z: Floats) -> float:
        """Return half the squared length of a way."""
        return 0.5 * (self.omega * float(w @ w) + float(z @ z) / self.omega)

    # ------------------------------------------------------------------ the end of a round
    def _averaged(self) -> Averaged:
        return Averaged(*self._mean.values())

    def _conclude(self, mean: Averaged, *, fell: bool) -> None:
        """Raise the lower bound, judge the weights that answer it; the sums go on."""
        self._raise(mean.pull, mean.loss)
        if self._form.regularised:
            self._judge(self._form.nearest(-mean.pull / self._form.curvature, self._form.curvature))
        z = self._project(self._outputs.gold + self._outputs.along(self._now.a, self._now.b))
        self._raise(self._outputs.pull(z), self._outputs.loss(z))
        self._mean = Mean()
