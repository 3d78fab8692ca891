r"""The extragradient method on the saddle-point form of margin-rescaled learning.

    predict   w' = Pi_W[w - (beta/omega) L_w(w, z)],     z' = Pi_Z[z + beta omega L_z(w, z)]
    correct   w  = Pi_W[w - (beta/omega) L_w(w', z')],   z  = Pi_Z[z + beta omega L_z(w', z')]

(Taskar, Lacoste-Julien and Jordan 2006, eq. (5)-(6)), with L of
:mod:`structopt.methods.saddle.form`. A prediction is accepted if

    r = beta |grad(w', z') - grad(w, z)|* / |(w', z') - (w, z)|  <=  nu

in the norm omega |w|^2 + |z|^2 / omega and its dual (|w|^2 = sum_j m_j w_j^2, w-steps divided by
m_j, with m_j about the size of the features of weight j); otherwise beta shrinks as the paper's
rule says, and where r stays far below nu it grows.

``variant="paper"`` does what is printed: beta begins with 1 and only shrinks, omega and the metric
are 1, r divides by |w' - w| + |z' - z|, nothing restarts, and every iteration is a round.
"""

from __future__ import annotations

import time
from typing import Any, Literal, NamedTuple, Unpack, get_args

import numpy as np

from structopt.arrays import Floats
from structopt.engines.dataset import DataSet
from structopt.errors import InvalidInputError
from structopt.formulations.base import Formulation
from structopt.methods.mean import Mean
from structopt.methods.saddle.method import IteratedSaddle
from structopt.methods.saddle.outputs import Outputs
from structopt.run.events import relative
from structopt.run.limits import LimitOptions
from structopt.structures.base.structure import Structure

_ACCURACY = 0.1
"""Projections are as accurate as this share of the last step in z: far from the end they are loose.
A relative error below 1 keeps the steps of an extragradient method convergent."""
_LOOSE = 1e-3
"""... but never more accurate than this, root mean square over the parts, nor than the relative
gap: on a segmentation with 12,000 parts a gap of 1e-3 then takes 2.2 s, and without more than 7."""
_TURN = 1.4
"""No round changes the primal weight by more than this factor. Without the limit it ran away where
w stood still: on 500 matchings the gap stayed at 1.4e-3."""
_PROBES = 30
"""Random signs to estimate the size of features by. On 150 matchings whose features were scaled by
0.1 to 10, 103 iterations do what took 626 without."""
_RANGE = 0.2
"""The first primal weight expects scores of this inverse size, in units of the loss. On matchings
(55,500 edges) 3 to 10 times less or 3 times more costs 1.5 to 4 times the iterations."""


Variant = Literal["adaptive", "paper"]


class Point(NamedTuple):
    """A point of the saddle-point problem, g(z), and the gradients of L."""

    w: Floats
    z: Floats
    pull: Floats
    grad_w: Floats
    grad_z: Floats


class SaddleExtragradient(IteratedSaddle):
    r"""The extragradient method with projections; a round is some iterations and a certificate.

    .. math::
        \min_{w\in W} \max_{z\in Z} \tfrac{1}{2C}|w|^2
        + \sum_i \big[(F_i^\top w + \ell_i)\cdot z_i + d_i - w\cdot f_i(y_i)\big]

    At the end of each round the last iterate and the average of the predictions are compared: P by
    an exact oracle pass, D for their z, which projections keep feasible however loose they are. The
    run goes on from the one with the better D. Then the primal weight omega is
    set anew. Where a round improved but one of the two bounds, the other side's steps were too long
    and get shorter; where it improved both or none, omega balances the ways that z and w have gone,
    ``omega <- sqrt(omega |dz| / |dw|)``, as PDLP does at restarts.

    W is whatever the formulation and the structure ask for: free weights, bounds, or rows, in which
    case each projection of w is a small QP.

    In a :class:`~structopt.Round`, `value` is the better of the two objectives, `violation`
    the length of the last step over beta (0 at a saddle point), `iterations` counts predictions and
    corrections, `solve_seconds` is the time of projections, `lift_seconds` that of everything but
    projections and oracle passes.

    Parameters
    ----------
    structure, formulation, data, **limits
        See :class:`~structopt.Method`. The formulation is `M3N` or another with a
        quadratic regulariser and margin-rescaled hinges; the structure has a relaxation.
    variant : {"adaptive", "paper"}
        "paper" is the method as printed, constants included.
    nu : float
        Largest r at which a prediction is accepted, in (0, 1).
    omega : float, optional
        Primal weight, kept as it is; None chooses and adapts it.

    Raises
    ------
    IncompatibleError
        If the formulation is of another form, or the structure has no relaxation.

    Notes
    -----
    Taskar, Lacoste-Julien and Jordan (2006), section 4; beta shrinks by their rule. Their r divides
    by a sum of norms, here it is the norm of the sum, for which nu < 1 suffices. With
    ``M3N(C=inf)``, ``variant="paper"`` and :class:`~structopt.EarlyStopping` it is the training
    regime of the paper, which has no certificate.

    Examples
    --------
    >>> import structopt as so
    >>> from structopt.methods.saddle.extragradient import SaddleExtragradient
    >>> X, y = so.datasets.make_classes(60, seed=0)
    >>> structure = so.Multiclass().fitted(X, y)
    >>> run = SaddleExtragradient(structure, so.M3N(), so.DataSet.of(structure, X, y))
    >>> first = run.step()
    >>> first.iterations, first.dual <= first.primal
    (10, True)
    >>> run.solve().certificate.certified
    True
    """

    name = "extragradient"

    _now: Point
    _origin: Point

    def __init__(
        self,
        structure: Structure,
        formulation: Formulation,
        data: DataSet,
        *,
        variant: Variant = "adaptive",
        nu: float = 0.9,
        omega: float | None = None,
        **limits: Unpack[LimitOptions],
    ) -> None:
        super().__init__(structure, formulation, data, **limits)
        if not 0 < nu < 1 or (omega is not None and not 0 < omega < np.inf):
            raise InvalidInputError(f"nu must be in (0, 1) and omega > 0; got {nu} and {omega}.")
        if variant not in get_args(Variant):
            raise InvalidInputError(f"variant is one of {get_args(Variant)}, not {variant!r}.")
        self.nu, self._printed = nu, variant == "paper"
        self._adapts = omega is None and not self._printed
        self._outputs = Outputs(data, self._form.cost)
        self._integral = self._outputs.integral
        self._metric = np.ones(data.n_features) if self._printed else self._sizes()
        norm = nu if self._printed else self._norm()
        self.step_size = nu / norm
        self.omega = self._first_omega(norm) if self._adapts else omega or 1.0
        """The primal weight."""
        self._state: Any = None  # of the last projection
        self._care = 1.0  # share of errors that do not matter, less where they came to matter
        start = self._at(self._form.nearest(np.zeros(data.n_features)), self._outputs.gold)
        self._moved = self.step_size * self.omega * float(np.linalg.norm(start.grad_z))
        self._restart(start)

    # ------------------------------------------------------------------ an iteration
    def _iterations(self) -> int:
        return 1 if self._printed else super()._iterations()

    def _iterate(self) -> None:
        now = self._now
        while True:
            ahead, r = self._predict(now)
            if r <= self.nu:
                break
            self._shorten(r)
        self._mean.add(self.step_size, ahead.w, ahead.z)
        self._now = self._move(now, ahead)
        self._accept(np.inf if self._printed else r, self.nu)  # printed steps never grow

    def _predict(self, now: Point) -> tuple[Point, float]:
        """Return the prediction and its r."""
        ahead = self._move(now, now)
        scale = np.sqrt(self._metric)
        far_w, far_z = np.linalg.norm(scale * (ahead.w - now.w)), np.linalg.norm(ahead.z - now.z)
        bent_w = np.linalg.norm((ahead.grad_w - now.grad_w) / scale)
        bent_z = np.linalg.norm(ahead.grad_z - now.grad_z)
        self._moved = float(far_z)
        self._length = float(
            far_w + far_z
            if self._printed
            else np.sqrt(self.omega * far_w**2 + far_z**2 / self.omega)
        )
        if self._length == 0.0:
            return ahead, 0.0
        bent = np.sqrt(bent_w**2 / self.omega + self.omega * bent_z**2)
        return ahead, float(self.step_size * bent / self._length)

    def _move(self, point: Point, along: Point) -> Point:
        """Step from a point along the gradients of another."""
        step = self.step_size / self.omega / self._metric
        w = self._form.nearest(point.w - step * along.grad_w, self._metric)
        aim = point.z + self.step_size * self.omega * along.grad_z
        start = time.perf_counter()
        error = max(_ACCURACY * self._moved, self._rms() * np.sqrt(len(aim)))
        z, _, self._state = self._outputs.project(aim, error, self._state)
        self._solving += time.perf_counter() - start
        return self._at(w, z)

    def _rms(self) -> float:
        """Return the error of a part that does not matter yet."""
        return self._care * min(_LOOSE, max(0.0, relative(self._primal, self._dual)))

    def _at(self, w: Floats, z: Floats) -> Point:
        pull = self._outputs.pull(z)
        grad_w = self._form.curvature * w + pull
        return Point(w, z, pull, grad_w, self._outputs.gradient(w))

    # ------------------------------------------------------------------ the end of a round
    def _averaged(self) -> Point:
        return self._at(*self._mean.values())

    def _conclude(self, mean: Point, *, fell: bool) -> None:
        """Raise the lower bound; go on from the point with the better one, omega rebalanced."""
        before = self._dual
        bounds = [self._raise(x.pull, self._outputs.loss(x.z)) for x in (self._now, mean)]
        rose = self._dual > before
        if not (fell or rose):
            self._care *= 0.5
        if self._printed:
            return
        better = mean if bounds[1] > bounds[0] else self._now
        if self._adapts:
            self._rebalance(better, fell=fell, rose=rose)
        self._restart(better)

    def _rebalance(self, point: Point, *, fell: bool, rose: bool) -> None:
        """Shorten the steps of the side that got no better; else balance the ways gone."""
        if fell != rose:
            self.omega *= _TURN if rose else 1.0 / _TURN
            return
        far_w = float(np.linalg.norm(np.sqrt(self._metric) * (point.w - self._origin.w)))
        far_z = float(np.linalg.norm(point.z - self._origin.z))
        if far_w > 0 and far_z > 0:
            ratio = np.sqrt(far_z / far_w / self.omega)
            self.omega *= float(np.clip(ratio, 1.0 / _TURN, _TURN))

    def _restart(self, point: Point) -> None:
        self._now = self._origin = point
        self._mean = Mean()

    # ------------------------------------------------------------------ the first steps
    def _sizes(self) -> Floats:
        """Return the metric m: |F_j|^2 of each weight's row of F, to the nearest power of 4.

        For signs s drawn at random, (F s)_j^2 is |F_j|^2 on average. Powers of 4 of the median
        leave weights alone whose features differ no more than the estimates.
        """
        rng, total = np.random.default_rng(0), np.zeros(self.data.n_features)
        for _ in range(_PROBES):
            signs = 2.0 * rng.integers(2, size=len(self._outputs)).astype(np.float64) - 1.0
            total += self._outputs.features(signs) ** 2
        used = total > 0
        metric = np.ones(len(total))
        if np.any(used):
            size = np.log(total[used] / np.median(total[used])) / np.log(4.0)
            metric[used] = 4.0 ** np.clip(np.round(size), -10, 10)
        return metric

    def _norm(self) -> float:
        """Return about the largest singular value of F in the metric, by power iterations."""
        v, scale = np.random.default_rng(0).standard_normal(self.data.n_features), self._metric
        still, size = self._outputs.gradient(0.0 * v), 0.0
        for _ in range(8):
            v /= np.linalg.norm(v)
            there = self._outputs.gradient(v / np.sqrt(scale)) - still
            v = self._outputs.features(there) / np.sqrt(scale)
            size = float(np.sqrt(np.linalg.norm(v)))
            if size == 0.0:
                return 1.0
        return size

    def _first_omega(self, norm: float) -> float:
        """Return |z| / |w| for the gold outputs and for weights that give scores like the loss."""
        size = float(np.linalg.norm(self._outputs.gold) / np.sqrt(len(self._outputs)))
        return _RANGE * (size or 1.0) * norm  # gold outputs of no parts say nothing

    # ------------------------------------------------------------------ what the result says
    def _stalled(self) -> bool:
        still = self._length <= 1e-15 * float(np.sqrt(len(self._outputs)))
        return still or (not self._printed and super()._stalled())
