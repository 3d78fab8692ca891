r"""Dual block ascent, compiled, for masters with a separable strongly convex regulariser.

Form (recognised in the compiled programme, whoever declared it):

    min  sum_j 1/2 p_j w_j^2 + q_j w_j + l1_j |w_j|  +  sum_i phi_i(xi_i),    lb <= w <= ub, xi >= 0
    s.t. f_r delta_r . w + xi_i(r) >= b_r,      and rows without a slack, on either side,

with phi linear, quadratic or the one after the other (:mod:`structopt.backends.ascent.prices`).

Dual: max b.alpha - sum_j h_j*(v_j) - sum_i phi_i*(s_i), v = sum alpha_r f_r delta_r, over
alpha >= 0, s_i the sum over i's rows (at most c_i if phi_i is linear, c_i xi_i). The
weights follow from v by soft-thresholding and clipping; with a pure quadratic they are linear in
alpha. A visit to a group (the rows of one slack) computes the slopes of its planes, solves that
block by SMO on the group's own small matrix of plane products, and moves w once. Sweeps go on
until the master's duality gap, which the slopes give for free, is small enough; later sweeps visit
only the groups that still have a share in it.

Between sweeps multipliers are carried on in the direction of the last one (Nesterov's momentum),

    alpha <- feasible(alpha + beta (alpha - alpha of one sweep ago)),    beta = (k - 1) / (k + 2)

up to a largest beta, with k counted from 1 again whenever the dual value falls. Where the gap is
still far, a Newton step moves all multipliers in use (:mod:`structopt.backends.ascent.joint_step`).

The dual value is close to its optimum long before the primal one is: every group that a sweep
visits unsettles the kinks of those before it. So the weights handed out are the mean of those after
the last sweeps, which lies lower.

Rows without a slack have no cap. To repair the worst of them, broken by v, costs the sum of all
their multipliers times v to first order, so that much counts as their gap.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from structopt.arrays import Floats, Ints, base_matrix
from structopt.backends.ascent.form import odd_program, odd_rows
from structopt.backends.ascent.joint_step import JointStep
from structopt.backends.ascent.planes import Layout, Planes, arrange
from structopt.backends.ascent.prices import Prices
from structopt.backends.base import Backend, Compiled, MasterSolution, Status
from structopt.errors import IncompatibleError
from structopt.master.cuts import Cuts
from structopt.master.program import Program
from structopt.parameters import Seed

_CHECK, _LONG, _MOST = 10, 20, 4e6
"""Every so many sweeps a Newton step over all multipliers in use is weighed; it is taken if, at the
pace since the last look, more sweeps than the second would be needed (it costs about as much time
as 20), and if its matrices hold no more numbers than the third. Looks every 10 or 20 sweeps, 20 or
40 ahead, gave 0.30 to 0.42 s on digits and 0.41 to 0.45 on digit words (StructRMM, B = 0.5) with no
clear best beside StructSVM's own noise, 0.18 to 0.24 s on digits. A step that gains nothing makes
the next one's ridge larger, or doubles the wait."""
_LEAST, _VISITS, _FADE = (2, 10), 1200, 0.7
"""A solve has as many sweeps at least as make the second number of visits, within the bounds of the
first: on 200 digit words a path over ten values of C takes 89 passes and 338 sweeps without, 73 and
419 with it. The third is what the share of a sweep in the mean falls to with the next, besides the
square of what the gap falls to: where the ascent is fast, the mean is the last weights. With the
last pool of OCR letters at C = 1 and 0.08, it lies a fourth to a third closer to the optimum than
the last weights, from 30 and 20 sweeps on."""
_REFRESH = 16
"""Solves between two computations of the weights from scratch."""

_MOMENTUM = 0.85
"""The largest beta. OCR letters, fold 1, ten values of C from 0.01 to 1 as a path take 770 / 740 /
800 sweeps up to 0.8 / 0.85 / 0.9 (without means, 970 up to 0.85 and 2,750 with beta = 0)."""


class Ascent(Backend):
    """Dual block ascent over cached planes.

    Parameters
    ----------
    max_sweeps : int
        Sweeps over the groups in one solve at most.
    steps : int
        Steps inside one block, in one visit, at most.
    momentum : bool
        Whether multipliers are carried on between sweeps. Not worth it for a few sweeps a solve.
    random_state : int
        Of the order in which groups are visited.

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = so.datasets.make_chain_crf(8, n_features=5, n_relevant=3, seed=0)
    >>> quick = so.Ascent(max_sweeps=50)
    >>> result = so.StructuredClassifier(so.Chain(), so.M3N(C=0.5), backend=quick).fit(X, Y).result_
    >>> result.backend, result.certificate.certified
    ('ascent', True)
    """

    name = "ascent"
    takes_maps = False
    keeps_time = True
    takes_quadratic = True
    max_age = 5
    finisher = "clarabel"

    def __init__(
        self,
        *,
        max_sweeps: int = 500,
        steps: int = 10,
        momentum: bool = True,
        random_state: Seed = 0,
    ) -> None:
        self.max_sweeps, self.steps, self.random_state = max_sweeps, steps, random_state
        self.momentum = momentum

    # ------------------------------------------------------------------ recognising the form
    def refusal(self, program: Program, samples: Sequence[Cuts] = ()) -> str | None:
        """Return why the master is not of this backend's form, or None."""
        if (refused := super().refusal(program, samples)) is not None:
            return refused
        reasons = [odd_program(program), *(odd_rows(program, rows) for rows in samples)]
        found = next(filter(None, reasons), None)
        lead = f"The {self.name!r} backend takes a separable regulariser with slacks in cuts only: "
        return None if found is None else lead + found

    # ------------------------------------------------------------------ the master's rows
    def start(self, master: Compiled) -> None:
        """Bind a master whose form was accepted."""
        program = self._bind(master)
        self._slack_of = np.full(program.size, -1, dtype=np.int64)
        self._slack_of[program.slacks] = np.arange(len(program.slacks))
        self._random = np.random.default_rng(self.random_state)
        self._n_rows, self._n_groups = 0, len(program.slacks)
        self._planes = Planes(getattr(master, "pool", None))
        self._base = base_matrix(sp.csr_array((0, len(self._inverse))))
        self._layout: Layout | None = None
        self._solves = self._pushes = 0
        self._joint = JointStep()

    def _bind(self, master: Compiled) -> Program:
        """Take the objective and the bounds of a master."""
        program = master.program
        self._program = program
        weights = program.weights
        diagonal = np.asarray(program.P.diagonal())[weights]
        self._lb, self._ub = program.lb[weights], program.ub[weights]
        fixed = self._lb == self._ub
        self._inverse = np.where(fixed, 0.0, 1.0 / np.where(diagonal > 0, diagonal, 1.0))
        self._linear, self._l1 = program.q[weights], program.l1[weights]
        self._prices = Prices.of(program)
        free = np.isneginf(self._lb) & np.isposinf(self._ub)
        self._pure = bool(np.all(free) and not np.any(self._l1) and not np.any(self._linear))
        return program

    def resume(self, master: Compiled) -> bool:
        """Go on from the multipliers; plane products are stretched if the curvature is."""
        before = self._inverse
        self._bind(master)
        used = before > 0
        ratio = float(np.max(self._inverse[used] / before[used], initial=0.0))
        if self._layout is not None and np.allclose(self._inverse, ratio * before, 1e-14, 0.0):
            self._layout.gram[1][:] *= ratio
        else:
            self._layout = None
        self._joint.forget()
        self._fit(self._planes.each["alpha"])
        return True

    def append(self, rows: Cuts) -> None:
        """Add cut rows as planes."""
        if (reason := odd_rows(self._program, rows)) is not None:
            raise IncompatibleError(f"The {self.name!r} backend cannot take this cut: {reason}")
        self._base = rows.base
        before = len(self._planes)
        self._planes.extend(rows, self._n_rows, self._slack_of, len(self._program.slacks))
        new = self._planes.each["group"][before:]
        self._n_groups = max(self._n_groups, int(new.max(initial=-1)) + 1)
        self._n_rows += len(rows)
        self._layout = None if self._layout is None else self._layout.stale()

    def delete(self, keep: NDArray[np.bool_]) -> None:
        """Keep only some cut rows."""
        place = np.cumsum(keep) - 1
        stays = keep[self._planes.each["row"]]
        which = np.flatnonzero(stays)
        if np.any(
            self._planes.each["before"][~stays]
        ):  # the last sweep's weights had a share of it
            self._pushes = 0
        self._joint.products.keep(which, len(self._planes))
        if self._layout is not None:
            self._layout = self._layout.taken(which)
        self._planes.keep(which)
        self._planes.each["row"] = place[self._planes.each["row"]]
        self._n_rows = int(keep.sum())

    def warm(self, cut_duals: Floats, weights: Floats | None = None) -> None:
        """Start from given multipliers, scaled down where they exceed a slack's cost."""
        p = self._planes.each
        self._fit(np.maximum(p["sign"] * cut_duals[p["row"]], 0.0) * p["weight"])

    def _fit(self, alpha: Floats) -> None:
        """Start from multipliers, scaled down where they exceed a slack's cost."""
        p = self._planes.each
        load = np.bincount(p["group"], alpha * p["soft"], minlength=self._n_groups)
        cap = self._prices.of_groups(np.arange(self._n_groups)).cap
        self._solves = self._pushes = 0
        fits = np.minimum(1.0, cap / np.maximum(load, 1e-300))[p["group"]]
        p["alpha"] = alpha * np.where(p["soft"], fits, 1.0)

    def shift(self, linear: Floats, stretch: float) -> None:
        """Change the linear cost of the weights and stretch their inverse curvature by a factor.

        Multipliers stay; the plane products, linear in the inverse curvature, are stretched too.
        """
        self._linear = linear
        self._pure = False
        if stretch != 1.0:
            self._inverse = self._inverse * stretch
            self._joint.forget()
            if self._layout is not None:
                self._layout.gram[1][:] *= stretch
        if self._solves:
            self._w = self._weights_of(self._v)

    def reprice(self, which: Ints, prices: Prices) -> None:
        """Change what some slacks cost, by their number; multipliers stay."""
        for mine, given in zip(self._prices, prices, strict=True):
            mine[which] = given

    def slacks(self) -> Floats:
        """Return the slacks that the multipliers stand for; 0 where the cost is linear."""
        p = self._planes.each
        load = np.zeros(self._n_groups)
        np.add.at(load, p["group"][p["soft"]], p["alpha"][p["soft"]])
        over = np.maximum(0.0, load[: len(self._prices.knee)] - self._prices.knee)
        return self._prices.give * over

    def rescale(self, inverse: Floats) -> None:
        """Change the inverse curvature of every weight.

        Multipliers stay; weights and plane products are built anew in the next solve.
        """
        self._inverse = np.where(self._lb == self._ub, 0.0, inverse)
        self._layout, self._solves = None, 0
        self._joint.forget()

    # ------------------------------------------------------------------ solving
    def solve(self, *, tolerance: float, time_limit: float | None = None) -> MasterSolution:
        """Sweep until the duality gap is at most ``tolerance`` times the dual value."""
        converged, visits = self.ascend(tolerance=tolerance, time_limit=time_limit)
        return self.solution(converged, visits)

    def ascend(self, *, tolerance: float, time_limit: float | None = None) -> tuple[bool, int]:
        """Sweep as in `solve`; say whether the tolerance was met, and how many visits it took."""
        from structopt.backends.ascent import kernels, plane_kernels

        deadline = np.inf if time_limit is None else time.perf_counter() + time_limit
        layout = self._arrange()
        base = (self._base.indptr, self._base.indices, self._base.data)
        planes = self._planes.each
        alpha, before = planes["alpha"][layout.order], planes["before"][layout.order]
        prices = self._prices.of_groups(layout.groups)
        cap = prices.cap
        if self._solves % _REFRESH == 0:  # from scratch, so that rounding never accumulates
            size = len(self._inverse)
            self._v = plane_kernels.pull_of(*layout.planes, *layout.parts, *base, alpha, size)
            self._w = self._weights_of(self._v)
            if self.momentum:
                last = plane_kernels.pull_of(*layout.planes, *layout.parts, *base, before, size)
                self._before = last * self._inverse if self._pure else last
        self._solves += 1
        v, w = self._v, self._w
        gaps, violated = np.zeros(len(cap)), np.zeros(len(cap))
        hard = np.flatnonzero(~layout.soft)
        converged = len(cap) == 0
        visits = sweeps = 0
        everyone, reached = True, -np.inf
        since, due, wait, marked = 0, 2, _CHECK, np.inf  # the first look only marks the gap
        least = np.clip(_VISITS / max(1, len(cap)), *_LEAST) if self.momentum else 1
        mean, share, last = w.copy() if self.momentum else w, 1.0, np.inf
        while not converged and sweeps < self.max_sweeps and time.perf_counter() < deadline:
            visited = np.arange(len(cap)) if everyone else np.flatnonzero(gaps > 0.2 * gaps.mean())
            if self.momentum:
                self._push(layout, cap, alpha, before)
            kernels.sweep(
                self._random.permutation(visited), *layout.planes, layout.rhs, layout.soft,
                *layout.parts, *layout.gram, *base, *prices, alpha, gaps, violated, v, w,
                self._inverse, self._linear, self._l1, self._lb, self._ub, self._pure, self.steps,
            )  # fmt: skip
            visits += len(visited)
            sweeps += 1
            if tolerance == 0.0:  # so many sweeps, whatever the gap
                everyone = not everyone
                continue
            dual = self._dual(alpha, layout.rhs, v, w)
            dual -= kernels.charges(layout.planes[0], layout.soft, alpha, *prices[1:])
            self._pushes = self._pushes if dual >= reached else 0
            reached = dual
            gap = gaps.sum() + (alpha[hard].sum() * violated.max() if len(hard) else 0.0)
            if self.momentum:
                share = 1.0 / (1.0 + _FADE * min(1.0, max(gap, 0.0) / last) ** 2 / share)
                mean += share * (w - mean)
                last = max(gap, 1e-300)
            goal = tolerance * max(abs(dual), 1e-12)
            converged = gap <= goal and everyone and sweeps >= least
            everyone = gap <= goal or not everyone
            if self._pure and gap > goal and sweeps >= due:
                pace = np.log(max(marked / gap, 1.0)) / (sweeps - since)
                far = np.log(gap / goal) > _LONG * pace
                if far and 0 < self._joint.size(alpha, len(w)) <= _MOST:
                    stuck = self._joint.stuck
                    if self._joint.take(layout, prices, alpha, w, self._inverse, self._dense):
                        last, self._pushes = np.inf, 0
                    elif stuck:
                        wait *= 2
                since, due, marked = sweeps, sweeps + wait, gap
        planes["alpha"][layout.order], planes["before"][layout.order] = alpha, before
        self._mean = mean
        return converged, visits

    @property
    def weights(self) -> Floats:
        """The weights as they stand; a view."""
        return self._w

    @property
    def mean(self) -> Floats:
        """The mean weights after the last sweeps; without momentum those as they stand."""
        return self._mean

    def multipliers(self) -> Floats:
        """Return the multipliers of the rows as they stand."""
        p = self._planes.each
        duals = np.zeros(self._n_rows)
        np.add.at(duals, p["row"], p["sign"] * p["alpha"] / p["weight"])
        return duals

    def _push(self, layout: Layout, cap: Floats, alpha: Floats, before: Floats) -> None:
        """Carry multipliers on in the direction of the last sweep, and the weights with them."""
        from structopt.backends.ascent import kernels, plane_kernels

        self._pushes += 1
        beta = min(_MOMENTUM, (self._pushes - 1) / (self._pushes + 2))
        now = self._w if self._pure else self._v  # what is linear in alpha
        last, self._before = self._before, now.copy()
        if beta == 0.0:
            before[:] = alpha
            return
        off = kernels.push(layout.planes[0], layout.soft, cap, beta, alpha, before)
        base = (self._base.indptr, self._base.indices, self._base.data)
        back = plane_kernels.pull_of(*layout.planes, *layout.parts, *base, off, len(now))
        now += beta * (now - last) + (back * self._inverse if self._pure else back)
        if not self._pure:
            self._w[:] = self._weights_of(now)

    def _dense(self, planes: Ints) -> Floats:
        directions = self._planes.scaled(planes)
        return np.asarray(directions.tocsr(self._base, len(self._inverse)).toarray())

    def _weights_of(self, v: Floats) -> Floats:
        from structopt.backends.ascent.kernels import responses

        return np.asarray(responses(v, self._linear, self._l1, self._inverse, self._lb, self._ub))

    def _dual(self, alpha: Floats, rhs: Floats, v: Floats, w: Floats) -> float:
        """Return the dual value (for a pure quadratic, v.w = sum w^2 / inverse)."""
        if self._pure:
            return float(alpha @ rhs - 0.5 * np.sum(w * w / self._inverse))
        with np.errstate(divide="ignore"):
            curvature = np.where(self._inverse > 0, 1.0 / self._inverse, 0.0)
        conjugate = (v - self._linear) * w - 0.5 * curvature * w * w - self._l1 * np.abs(w)
        return float(alpha @ rhs - conjugate.sum())

    def solution(self, converged: bool, visits: int) -> MasterSolution:
        """Return where the ascent stands."""
        from structopt.backends.ascent import plane_kernels

        program, layout = self._program, self._arrange()
        base = (self._base.indptr, self._base.indices, self._base.data)
        hinge = plane_kernels.hinges(
            *layout.planes, layout.rhs, layout.soft, *layout.parts, *base, self._mean
        )
        x = np.zeros(program.size)
        x[program.weights] = self._mean
        soft = layout.groups < len(program.slacks)
        least = -self._prices.knee * self._prices.give  # what a slack is without any need
        x[program.slacks] = np.maximum(0.0, least)
        mine = layout.groups[soft]
        x[program.slacks[mine]] = np.maximum(hinge[soft], least[mine])
        status: Status = "optimal" if converged else "inaccurate"
        return MasterSolution(status, x, self.multipliers(), np.zeros(0), visits)

    def _arrange(self) -> Layout:
        """Return the planes sorted by group, with products that stand kept."""
        if self._layout is None or not self._layout.fresh:
            self._layout = arrange(self._planes, self._base, self._inverse, self._layout)
        return self._layout
