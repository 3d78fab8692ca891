r"""EM: an M3N with a scale for every weight, solved again and again while the scales follow.

    min over w of  R(w) + C sum xi,     R(w) = min over s of 1/2 sum_k w_k^2 / s_k + g(s).

A round takes a few sweeps of dual ascent on the M3N at fixed scales (over the cuts so far, warm
from the last round's multipliers), makes one exact oracle pass at its weights, which gives the
upper bound and the violated cuts, and moves the scales towards their best values at these weights
and beyond. Solving the M3Ns loosely costs few extra rounds and saves most of the sweeps.

*Smoothing.* Where R has exact zeros, a scale of 0 would never leave it. Scales are therefore taken
at sqrt(w_k^2 + eps^2), with eps so small that R rises by no more than the current gap. Zeros are
set at the end, against the certificate.

*The lower bound.* With v = sum alpha delta, the weights are w_k = s_k v_k. For the l1 norm the step
log s_k += relax * log(2 |v_k|) telescopes: over a window of rounds the mean of log(2 |v_k|) is the
change of log s_k divided by relax times the rounds, however loosely the M3Ns were solved. So
averages of the multipliers over windows come ever closer to the dual's |v_k| <= 1/2, while those of
single rounds do not.
"""

from __future__ import annotations

from typing import Literal, Unpack

import numpy as np

from structopt.arrays import Floats
from structopt.backends.ascent.backend import Ascent
from structopt.backends.base import MasterSolution
from structopt.engines.dataset import DataSet
from structopt.errors import IncompatibleError
from structopt.formulations.adaptive_m3n import AdaptiveM3N
from structopt.formulations.base import Formulation
from structopt.formulations.scale_mixture import ScaleMixture
from structopt.formulations.scaled_m3n import ScaledM3N
from structopt.master.declare import RestrictedMaster
from structopt.master.form import other_than_hinges
from structopt.master.separation import Separation
from structopt.methods.cutting_plane import CuttingPlane
from structopt.methods.scale_mixture import check_declared
from structopt.methods.state import State
from structopt.parameters import Count, Seed
from structopt.run.events import relative
from structopt.run.limits import LimitOptions
from structopt.run.result import Result, Stop
from structopt.structures.base.structure import Structure

# Constants were chosen on OCR100: 100 words, L1M3N at C = 0.1, 1, 10 and 100.
_RELAX = {"relaxed": 1.8, "(4)": 1.0, "(6)": 2.0, "paper": 2.0}
"""How far the scales move in log s; at C = 1 it takes 721 / 706 / 647 rounds to a gap of 1e-3 with
1.5 / 1.8 / 1.9."""
_INNER, _SWEEPS, _STEPS = 0.03, 10, 30
"""The ascent's gap as a share of the run's, its sweeps at most, and its steps in a visit. A share
of 0.3 takes 1,414 rounds to 1e-2 at C = 0.1 instead of 91; 30 sweeps save rounds but no time."""
_PRINTED_SWEEPS = 300
"""Sweeps at most where every M3N is solved to its end: the first takes 20 rounds instead of 385 at
C = 3 on 20 sequences, in less time."""
_SMOOTH = 1.0
"""Share of the gap that smoothing may cost; 0.5 and 2 take as long or longer."""
_IDLE, _MAX_AGE = 0.03, 5
"""A cut idles while its multiplier is below this share of the relative gap (times what an example's
multipliers sum to on average), and goes after so many rounds: two thirds of the time of keeping all
with any multiplier."""
_SETTLE = 10
"""Rounds at least in which the weights left settle, once the small ones are off; at most it takes
as many as came before."""
_OFF = 1e-150
"""The scale of a weight that is switched off."""
_SOLVED, _NOTHING = 1e-4, 1e-4
"""As printed: the relative gap at which (5) counts as solved (the paper has no number), and the
scale tau below which a weight is 0 (section 5.3.1)."""
_PATIENCE = 500
"""Rounds without a gap smaller by 1% after which a run counts as stalled."""


class EM(CuttingPlane):
    r"""An EM-style run that can be stepped; a round is one update of the scales.

    .. math::
        \text{round: } w \approx \arg\min_{w,\xi\ge 0} \tfrac12 \sum_k w_k^2 / s_k + C \sum_i \xi_i
        \text{ s.t. } w\cdot\delta_i(y) \ge \ell_i(y) - \xi_i, \qquad
        s \leftarrow s^{1-\theta} \big( \arg\min_s \tfrac12 {\textstyle\sum_k w_k^2/s_k} + g(s)
        \big)^{\theta}

    Bounds and values in the records are those of the formulation itself (P1 for
    :class:`~structopt.L1M3N`), not of the scaled M3Ns.

    Parameters
    ----------
    structure, data, **limits
        See :class:`~structopt.Method`.
    formulation : ScaleMixture
        L1M3N, AdaptiveM3N, LaplaceM3N, or any other whose regulariser is a minimum over scales.
    update : {"relaxed", "(4)", "(6)", "paper"}
        How far scales move: beyond their best values (theta = 1.8), to them (theta = 1; for
        AdaptiveM3N the paper's update (4)), or to their mirror image (theta = 2; the paper's update
        (6), replaced by (4) in a round after one that did not lower the objective). "paper" is
        Algorithm 3 as printed, for AdaptiveM3N: tau = 1 at first, each M3N (5) solved, then (6)
        whatever it does to the objective, and weights whose tau is below 1e-4 are 0 at the end.
    iterations : int
        T, the M3Ns that update="paper" solves; its run ends with the last.
    random_state : int, optional
        Seed of the order of visits; None is 0.
    warm_start : Result or State, optional
        As in :class:`~structopt.CuttingPlane`.

    Raises
    ------
    IncompatibleError
        If the regulariser is no minimum over scales, or the weights are constrained.

    Notes
    -----
    Zhu, Xing and Zhang (2009), Algorithm 3, which solves P2 (AdaptiveM3N); for P1 at a given C the
    variational form of the l1 norm takes the place of its step 2.

    Once the gap is within the tolerance, weights below the smoothing are switched off for good, the
    others settle for some rounds, and at last weights become exactly 0, smallest first, as many as
    the certificate allows: the objective may rise up to the tolerance (in the last record), after a
    run that is not certified not at all.

    Examples
    --------
    >>> import structopt as so
    >>> from structopt.formulations.l1_m3n import L1M3N
    >>> X, y = so.datasets.make_classes(60, seed=0)
    >>> structure = so.Multiclass().fitted(X, y)
    >>> run = EM(structure, L1M3N(), so.DataSet.of(structure, X, y))
    >>> first = run.step()
    >>> first.round, first.dual <= first.primal
    (1, True)
    >>> run.solve().certificate.certified
    True
    """

    name = "em"
    max_age = _MAX_AGE
    formulation: ScaleMixture
    backend: Ascent

    def __init__(
        self,
        structure: Structure,
        formulation: Formulation,
        data: DataSet,
        *,
        update: Literal["relaxed", "(4)", "(6)", "paper"] = "relaxed",
        iterations: Count = 15,
        random_state: Seed | None = None,
        warm_start: Result | State | None = None,
        **limits: Unpack[LimitOptions],
    ) -> None:
        self.update, self.iterations = update, iterations
        self._printed, self._left = update == "paper", iterations
        self._own_dual, self._own_gap = -np.inf, np.inf  # of the M3N at the present scales
        self._solution: tuple[Floats, Floats] | None = None  # of the last one solved, and its tau
        self._scales: Floats | None = None
        self._smoothing, self._value = np.inf, np.inf
        self._settling, self._settled = 0, False
        self._off = np.zeros(data.n_features, dtype=bool)
        self._smallest, self._smallest_at = np.inf, 0
        sweeps = _PRINTED_SWEEPS if self._printed else _SWEEPS
        super().__init__(
            structure,
            formulation,
            data,
            backend=Ascent(max_sweeps=sweeps, steps=_STEPS, momentum=False),
            fallback=True,  # the method's own choice, not the user's
            random_state=0 if random_state is None else random_state,
            warm_start=warm_start.copy() if isinstance(warm_start, State) else warm_start,
            **limits,
        )
        self._pace.tolerance = _INNER
        if self._printed:
            self._scales = np.full(data.n_features, 0.5)  # tau = 1
            self.backend.rescale(self._scales)

    # ------------------------------------------------------------------ the parts of a round
    def _solve_master(self) -> MasterSolution:
        solution = super()._solve_master()
        if self._settling:
            solution.x[self.master.weight_columns][self._off] = 0.0
        return solution

    def _objective(self, x: Floats) -> float:
        """Return the formulation's objective; the master's own is that at scales of 1."""
        slacks = x[self.master.slack_columns]
        paid = self.formulation.regulariser(x[self.master.weight_columns])
        return paid + self.formulation.C * float(slacks.sum())

    def _bound_below(self, solution: MasterSolution) -> bool:
        """Raise the lower bound by the multipliers of this round and by averages."""
        below = self._below
        priced = below.lagrangian.price(self.master.pool.cuts, solution.cut_duals, None)
        if self._scales is not None:
            pull = priced.pull[self.master.weight_columns]
            self._own_dual = priced.gain - 0.5 * float(self._scales @ (pull * pull))
        below.averages.add(priced, 1.0)
        for p in (priced, *below.averages.means()):
            bound = self.formulation.lower_bound(p.gain, p.pull[self.master.weight_columns])
            self._dual = max(self._dual, bound)
        return True

    def _negligible(self, solution: MasterSolution) -> float:
        usual = float(np.sum(solution.cut_duals)) / self.data.n_examples
        # as printed P2's own gap stays wide: each M3N is solved to its end before the scales move
        gap = self._own_gap if self._printed else relative(self._primal, self._dual)
        return float(_IDLE * np.clip(gap, 0.0, 1.0) * usual)

    def _tune(self, added: int, value: float, *, accurate: bool) -> None:
        """Move the scales, and solve the next M3N to a share of the gap."""
        if self._printed:
            self._go_on_as_printed(value)
            return
        if not self._settled:
            self._rescale(self._here.weights, value)
        gap = np.clip(relative(self._primal, self._dual), 0.0, 1.0)
        self._pace.tolerance = float(_INNER * gap)

    def _nonzeros(self, solution: MasterSolution) -> int:
        """Return how many weights the model has once zeros are set."""
        model = self._weights if self._settled else self._here.weights
        return int(np.count_nonzero(model))

    def _go_on_as_printed(self, value: float) -> None:
        """Go on with (5) until it is solved; then do (6)."""
        weights, scales = self._here.weights, self._scales
        assert scales is not None
        paid = 0.5 * float(np.sum(weights * weights / scales))
        own = value - self.formulation.regulariser(weights) + paid
        self._own_gap = relative(own, self._own_dual)
        if own - self._own_dual > _SOLVED * max(own, 1e-300):
            self._pace.tolerance = max(0.1 * _SOLVED, 0.3 * self._own_gap)
            return
        self._solution, self._left = (weights.copy(), 2.0 * scales), self._left - 1
        if self._left:
            self._scales = np.maximum(self.formulation.scales(weights, scales, 2.0), _OFF)
            self.backend.rescale(self._scales)

    def _rescale(self, weights: Floats, value: float) -> None:
        """Move the scales towards their best values at these weights."""
        relax = _RELAX[self.update]
        if relax == 2.0 and not value < self._value:
            relax = 1.0
        self._value = value
        if self._settling:
            self._off = np.abs(weights) <= self._smoothing
            weights = np.where(self._off, 0.0, weights)
        elif self.formulation.absorbing:
            self._soften(weights)
            weights = np.hypot(weights, self._smoothing)
        self._scales = np.maximum(self.formulation.scales(weights, self._scales, relax), _OFF)
        self.backend.rescale(self._scales)

    def _soften(self, weights: Floats) -> None:
        """Lower the smoothing until it costs no more than its share of the gap."""
        bare = self.formulation.regulariser(weights)
        allowed = bare + _SMOOTH * (self._primal - self._dual)

        def cost() -> float:
            return self.formulation.regulariser(np.hypot(weights, self._smoothing))

        if not np.isfinite(self._smoothing):
            self._smoothing = self._even_weight()
        least = 1e-15 * float(np.abs(weights).max(initial=1e-100))
        while self._smoothing > least and cost() > allowed:
            self._smoothing *= 0.8

    def _even_weight(self) -> float:
        """Return the size of weights that would satisfy a cut if all were of one size."""
        rows = self.master.pool.cuts
        if not len(rows):
            return 1.0
        deltas = rows.deltas(self.data.n_features)
        total = np.asarray(abs(deltas).sum(axis=1)).ravel()
        return float(np.median(rows.lower / np.maximum(total, 1e-300)))

    # ------------------------------------------------------------------ the end
    def _finished(self) -> bool:
        if self._printed:
            return False
        if super()._done():
            self._settle(self._here.weights, self._here.value)
        return self._settled

    def _settle(self, weights: Floats, value: float) -> None:
        """Within the tolerance: switch small weights off, let the others settle, set zeros."""
        if not self.formulation.absorbing:
            self._settled = True
            return
        most = max(_SETTLE, len(self.history) // 2)
        good = self._settling >= _SETTLE and value <= self._limit()
        if good or self._settling >= most:
            self._zero(weights, value)
            self._settled = True
        self._settling += 1

    def _zero(self, weights: Floats, value: float) -> None:
        """Set the smallest weights to 0, as many as the certificate allows."""
        limit = self._limit()
        if value > limit:
            weights, value = self._weights, self._primal
        self._weights, self._primal = weights.copy(), value
        order = np.argsort(np.abs(weights), kind="stable")
        few, many = int(np.sum(weights == 0.0)), len(order) + 1
        while many - few > 1:
            count = (few + many) // 2
            x = self.master.program.at(weights)
            x[self.master.weight_columns][order[:count]] = 0.0
            worth = self._evaluate(x).value
            if worth <= limit:
                few, self._primal = count, worth
                self._weights = x[self.master.weight_columns]
            else:
                many = count

    def _limit(self) -> float:
        """Return the objective that weights may have and still be as good as was asked for."""
        if not super()._done():
            return self._primal
        share = self._dual / (1.0 - self.limits.tol) if self.limits.tol < 1.0 else np.inf
        return max(self._primal, share, self._dual + self.limits.abs_tol)

    def _done(self) -> bool:
        ended = self._left == 0 if self._printed else self._settled
        return ended and super()._done()

    def _stalled(self) -> bool:
        if self._printed:
            return self._left == 0
        gap = self._primal - self._dual
        if gap < 0.99 * self._smallest:
            self._smallest, self._smallest_at = gap, len(self.history)
        return len(self.history) - self._smallest_at >= _PATIENCE

    def _result(self, status: Stop) -> Result:
        if self._printed:
            if self._solution is not None:  # the last, not the best
                weights, tau = self._solution
                x = self.master.program.at(np.where(tau < _NOTHING, 0.0, weights))
                self._primal = self._evaluate(x).value
                self._weights = x[self.master.weight_columns]
            return super()._result(status)
        if status != "interrupted" and self.history and not self._settled:
            if super()._done():  # out of budget while settling
                status = "optimal"
            if self.formulation.absorbing:
                self._zero(self._weights, self._primal)
        return super()._result(status)

    # ------------------------------------------------------------------ before and after
    def _declare(self) -> RestrictedMaster:
        """Declare the M3N at scales of 1; refuse regularisers that are no minimum over scales."""
        wanted = self.formulation
        if not isinstance(wanted, ScaleMixture):
            raise IncompatibleError(
                f"The method {self.name!r} learns regularisers that are a minimum over scales: "
                f"L1M3N, AdaptiveM3N or LaplaceM3N; got {type(wanted).__name__}."
            )
        if wanted.constraints is not None:
            raise IncompatibleError(
                f"The method {self.name!r} learns free weights; for {type(wanted).__name__} with "
                "constraints use method='cutting-plane'."
            )
        if len(self.structure.nonnegative_weights()):
            raise IncompatibleError(
                f"The method {self.name!r} learns free weights; "
                f"{type(self.structure).__name__} keeps some >= 0: use method='cutting-plane'."
            )
        if self._printed and not isinstance(wanted, AdaptiveM3N):
            raise IncompatibleError(
                "Algorithm 3 as printed (update='paper') solves AdaptiveM3N; for "
                f"{type(wanted).__name__} use update='relaxed'."
            )
        wanted.check()
        n, weight = self.data.n_examples, self.data.sample_weight
        declared = RestrictedMaster(n, self.data.n_features, sample_weight=weight)
        declared.declare(wanted)
        declared.read()
        if (reason := other_than_hinges(declared)) is not None:
            raise IncompatibleError(
                f"The method {self.name!r} learns one hinge an example: {reason}."
            )
        check_declared(wanted, declared, self.name)
        master = RestrictedMaster(
            n, self.data.n_features, sample_weight=weight, base=self.data.base
        )
        ScaledM3N(wanted.C).master(master)
        master.compile()
        self._check_abilities(type(wanted).__name__, *(family.oracle for family in master.families))
        return master

    def _begin_at(self, weights: Floats) -> Separation:
        """Evaluate weights, and take them for the first scales."""
        separation = super()._begin_at(weights)
        self._dual = 0.0  # nothing here is negative
        self._add(separation)
        self._rescale(weights, separation.value)
        return separation
