r"""How sub-gradients move the weights, for three kinds of regulariser.

    min over w in W of  P(w) = R(w) + sum_i c_i h_i(w).

A pass asks about every example once, in batches B. With g_B = sum_{i in B} c_i d_i over the planes
m_i - w . d_i found there and b = |B| / n, a step of length eta in the metric H is

    w <- argmin_{u in W}  eta b R(u) + 1/2 sum_j (u_j - w_j - eta H_j g_Bj)^2 / H_j.

The planes of whole passes, averaged, are a dual point: M = sum c_i m_i and V = sum c_i d_i bound
the optimum from below by  M - sup_{w in W} (w . V - R(w)),  and so do t M and t V for t in [0, 1].

>>> import numpy as np
>>> ball = Ball(2, radius=1.0, nonnegative=np.zeros(0, np.int64))
>>> ball.bound(3.0, np.array([2.0, -1.0]))  # 3 - 1 * 2: what a hinge of 3 - 2 w_0 + w_1 has at best
1.0
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.errors import InvalidInputError
from structopt.master.form import HingeForm
from structopt.methods.subgradient.l1_ball import project_l1_ball

Rate = Callable[[int], float]
"""eta_t as a function of t = 1, 2, ..."""

ROUNDING = 1e-12
"""What counts as zero beside an l1 weight of 1."""


class Descent(ABC):
    """Base of the descents: a point, how it moves, and the bound that planes give."""

    averages: bool
    """Whether the model is the average of a window's points, or the last of them."""

    def __init__(self, start: Floats) -> None:
        self.point = start

    def begin(self, margin: float, pull: Floats, share: float) -> None:
        """Learn from a first pass at the starting point: M, V and the share b of a step."""
        return

    def renew(self) -> None:
        """Begin a window of passes."""
        return

    def enter(self, done: float) -> float:
        """Begin a pass, that far into its window (0 to 1); return the pass's weight in averages."""
        return 1.0

    @abstractmethod
    def step(self, pull: Floats, share: float) -> None:
        """Move the point by g_B = ``pull`` of a ``share`` b of the examples."""

    @abstractmethod
    def bound(self, margin: float, pull: Floats) -> float:
        """Return the lower bound of M = ``margin`` and V = ``pull``."""

    def residual(self, point: Floats) -> float:
        """Return by how much a point misses W, relative to its numbers."""
        return 0.0


class Ridge(Descent):
    r"""Steps of 1/t for ``R(w) = sum_j 1/2 p_j w_j^2``.

    .. math::
        w \leftarrow (1 - \tfrac1t) w + \tfrac{1}{t b}\, g_B / p, \qquad
        w \leftarrow w \min(1, \sqrt{M_0 / R(w)}),
        \qquad D = M - \tfrac12 \textstyle\sum_j V_j^2 / p_j

    M_0 is the objective at 0, so R(w*) <= P(w*) <= M_0: the second step loses no optimum.

    Notes
    -----
    Shalev-Shwartz, Singer, Srebro and Cotter (2011), Pegasos.
    """

    averages = True

    def __init__(self, form: HingeForm) -> None:
        super().__init__(np.zeros(len(form.curvature)))
        self._curvature, self._most, self._steps = form.curvature, np.inf, 0

    def begin(self, margin: float, pull: Floats, share: float) -> None:
        """Remember the objective at 0."""
        self._most = margin

    def step(self, pull: Floats, share: float) -> None:
        """Take the t-th step."""
        self._steps += 1
        w = self.point
        w *= 1.0 - 1.0 / self._steps
        w += pull / (self._steps * share * self._curvature)
        paid = 0.5 * float(self._curvature @ (w * w))
        if paid > self._most:
            w *= np.sqrt(self._most / paid)

    def bound(self, margin: float, pull: Floats) -> float:
        """Return the largest t M - t^2 / 2 sum V^2 / p."""
        square = float(pull @ (pull / self._curvature))
        t = min(1.0, margin / square) if square > 0 else 1.0
        return t * margin - 0.5 * t * t * square


class Adaptive(Descent):
    r"""Steps that find their own length, annealed to 0 in every window.

    .. math::
        \eta = 2 (1 - \text{done}) \; \max_s |w_s - w_0|_{1/H} \Big/ \sqrt{\textstyle\sum |g_B|_H^2}

    That is the distance moved so far over the gradients met so far: about 1/sqrt(t) once the
    distance has settled, and the length that a tuned constant would have. The first distance is a
    tenth of what would bring the hinges to 0 if they were linear. A pass weighs eta in averages,
    since sum eta V then telescopes: it is what moved the point, up to what R gives back, so that
    V comes near the dual's constraints as fast as the point comes to rest. A ``rate`` that is
    given takes the place of all this: eta = rate(t) in pass t.

    Notes
    -----
    Ivgi, Hinder and Carmon (2023), DoG. Linear annealing makes the last point as good as an average
    (Zamani and Glineur 2023; Defazio et al. 2023).
    """

    averages = False

    def __init__(self, start: Floats, rate: Rate | None = None) -> None:
        super().__init__(start)
        self._rate, self._entered = rate, 0
        self._start, self._metric = start.copy(), np.ones(len(start))
        self._distance, self._squares, self._length = 0.0, 0.0, 0.0

    def begin(self, margin: float, pull: Floats, share: float) -> None:
        """Guess the first length."""
        size = float(np.linalg.norm(pull))
        self._distance = 0.1 * margin / size if size > 0 else 0.0
        self._squares = share * size * size

    def enter(self, done: float) -> float:
        """Set the length of this pass's steps."""
        self._entered += 1
        if self._rate is not None:
            self._length = float(self._rate(self._entered))
            if not 0 < self._length < np.inf:
                raise InvalidInputError(
                    f"learning_rate({self._entered}) is {self._length}; steps are finite and > 0."
                )
            return self._length
        moved = self.point - self._start
        self._distance = max(self._distance, float(np.sqrt(moved @ (moved / self._metric))))
        if self._squares > 0:
            self._length = 2.0 * (1.0 - done) * self._distance / np.sqrt(self._squares)
        return self._length or 1.0

    def step(self, pull: Floats, share: float) -> None:
        """Climb along the pull, then let R answer."""
        climb = self._metric * pull
        self._squares += float(climb @ pull)
        self.point = self._answer(self.point + self._length * climb, share)

    @abstractmethod
    def _answer(self, point: Floats, share: float) -> Floats:
        """Return the point nearest to ``point`` in the metric, R paid for."""


class Proximal(Adaptive):
    r"""Proximal steps for any separable R, here ``1/2 p w^2 + l1 |w|`` on lb <= w <= ub.

    .. math::
        w \leftarrow \operatorname{clip}\Big(
        \frac{\operatorname{soft}(w + \eta H g_B,\ \eta b H\,l_1)}{1 + \eta b H p}\Big)

    Weights at 0 stay exactly 0 while the pull on them is weaker than l1. Without curvature the
    bound needs |V_j| <= l1_j (on one side only where a weight is bounded), so t makes that so.

    The metric gives weights with weaker pulls longer steps: H is (r / rms_j)^(1/2), from the pulls
    of the last window and at most 10^(1/2), r the root mean square of all.
    """

    def __init__(self, form: HingeForm) -> None:
        super().__init__(np.clip(np.zeros(len(form.l1)), form.lb, form.ub))
        self._form = form
        flat = form.curvature == 0
        self._needs_ceiling = flat & np.isposinf(form.ub)  # V <= l1
        self._needs_floor = flat & np.isneginf(form.lb)  # V >= -l1
        self._rests = bool(np.all(self._needs_ceiling & self._needs_floor))
        self._seen, self._steps = np.zeros(len(form.l1)), 0

    def renew(self) -> None:
        """Choose the metric of the next window from the pulls of the last."""
        if np.any(self._seen):
            rms = np.sqrt(self._seen / self._steps)
            usual = float(np.sqrt(np.mean(rms[rms > 0] ** 2)))
            self._metric = np.sqrt(usual / np.maximum(rms, 0.1 * usual))
        self._seen[:], self._steps = 0.0, 0

    def step(self, pull: Floats, share: float) -> None:
        """Climb along the pull, then let R answer."""
        self._seen += pull * pull
        self._steps += 1
        super().step(pull, share)

    def _answer(self, point: Floats, share: float) -> Floats:
        form, reach = self._form, self._length * share * self._metric
        size = np.maximum(np.abs(point) - reach * form.l1, 0.0)
        answer = np.copysign(size, point) / (1.0 + reach * form.curvature) + 0.0
        return np.asarray(np.clip(answer, form.lb, form.ub))

    def bound(self, margin: float, pull: Floats) -> float:
        """Scale V until flat, unbounded weights rest, and on while that helps."""
        l1 = self._form.l1
        over = np.where(pull > 0, self._needs_ceiling, self._needs_floor) & (np.abs(pull) > l1)
        t = float(np.min(l1[over] / np.abs(pull[over]), initial=1.0))
        if self._rests:  # then the conjugate is 0
            return t * margin
        best = t * margin - self._conjugate(t * pull)
        while (value := 0.5 * t * margin - self._conjugate(0.5 * t * pull)) > best:
            best, t = value, 0.5 * t
        return best

    def _conjugate(self, v: Floats) -> float:
        """Return the largest w . v - R(w), weights within rounding of their rest taken to rest."""
        form = self._form
        over = np.abs(v) - form.l1
        over = np.where(over > ROUNDING * form.l1, over, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            free = np.where(over > 0, np.copysign(over, v) / form.curvature, 0.0)
        w = np.clip(free, form.lb, form.ub)
        paid = 0.5 * form.curvature * w * w + form.l1 * np.abs(w)
        return float(np.sum(v * w - paid))


class Ball(Adaptive):
    r"""Projected steps for R = 0 on ``|w|_1 <= radius``.

    .. math::
        w \leftarrow \Pi(w + \eta g_B), \qquad D = M - \text{radius}\, |V|_\infty

    Where a weight must be >= 0, negative entries are 0 before the projection, which makes it that
    on the part of the ball, and V counts only where it is positive.

    Notes
    -----
    Zhu, Xing and Zhang (2009), eq. (3) and Algorithm 2; the projection is Euclidean.
    """

    def __init__(
        self, n_features: int, radius: float, nonnegative: Ints, rate: Rate | None = None
    ) -> None:
        super().__init__(np.zeros(n_features), rate)
        self._radius, self._nonnegative = radius, nonnegative

    def _answer(self, point: Floats, share: float) -> Floats:
        return project_l1_ball(self._upward(point), self._radius).point

    def residual(self, point: Floats) -> float:
        """Return |w|_1 - radius in radii, if positive."""
        return max(0.0, float(np.abs(point).sum()) / self._radius - 1.0)

    def bound(self, margin: float, pull: Floats) -> float:
        """Return the larger of 0 (t = 0) and M - radius |V|_inf."""
        steepest = float(np.abs(self._upward(pull)).max(initial=0.0))
        return max(0.0, margin - self._radius * steepest)

    def _upward(self, v: Floats) -> Floats:
        """Return v, 0 for negative entries where weights must be >= 0."""
        if len(self._nonnegative):
            v = v.copy()
            v[self._nonnegative] = np.maximum(v[self._nonnegative], 0.0)
        return v


class EuclideanBall(Ball):
    r"""Projected steps for R = 0 on ``|w|_2 <= radius``: the M3N's own form of Algorithm 2.

    .. math::
        w \leftarrow v \min(1, \text{radius} / |v|_2),\ v = w + \eta g_B, \qquad
        D = M - \text{radius}\, |V|_2

    Notes
    -----
    Zhu, Xing and Zhang (2009), sections 4.2.1 and 4.2.2: no weight becomes exactly 0.
    """

    def _answer(self, point: Floats, share: float) -> Floats:
        v = self._upward(point)
        return np.asarray(v * min(1.0, self._radius / max(float(np.linalg.norm(v)), 1e-300)))

    def residual(self, point: Floats) -> float:
        """Return |w|_2 - radius in radii, if positive."""
        return max(0.0, float(np.linalg.norm(point)) / self._radius - 1.0)

    def bound(self, margin: float, pull: Floats) -> float:
        """Return the larger of 0 and M - radius |V|_2."""
        return max(0.0, margin - self._radius * float(np.linalg.norm(self._upward(pull))))
