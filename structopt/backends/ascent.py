r"""Dual block ascent, compiled, for masters with a separable strongly convex regulariser.

Form (recognised in the compiled programme, whoever declared it):

    min  sum_j 1/2 p_j w_j^2 + q_j w_j + l1_j |w_j|  +  sum_i c_i xi_i,    lb <= w <= ub, xi >= 0
    s.t. f_r delta_r . w + xi_i(r) >= b_r,      and rows without a slack, on either side.

Dual: max b.alpha - sum_j h_j*(v_j), v = sum alpha_r f_r delta_r, over alpha >= 0 with
sum over i's rows <= c_i. The weights follow from v by soft-thresholding and clipping; with a pure
quadratic they are linear in alpha. A visit to a group (the rows of one slack) computes the slopes
of its planes, solves that block by SMO on the group's own small matrix of plane products, and
moves w once. Sweeps go on until the master's duality gap, which the slopes give for free, is small
enough; later sweeps visit only the groups that still have a share in it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from structopt.backends.base import Backend, Compiled, MasterSolution, Status
from structopt.errors import IncompatibleError
from structopt.program import Program, Rows
from structopt.structures.parts import Directions, Floats, Ints, base_matrix

_REFRESH = 16
"""Solves between two computations of the weights from scratch."""


@dataclass
class _Planes:
    """One-sided rows ``coef-scaled direction . w + xi_group >= rhs``, in order of arrival."""

    row: Ints
    sign: Floats
    weight: Floats  # divided into alpha to give the row's multiplier
    group: Ints
    soft: NDArray[np.bool_]  # whether the row has a slack
    rhs: Floats
    directions: Directions  # coefficients already scaled
    alpha: Floats

    def take(self, which: Ints) -> _Planes:
        return _Planes(
            self.row[which], self.sign[which], self.weight[which], self.group[which],
            self.soft[which], self.rhs[which], self.directions.take(which), self.alpha[which],
        )  # fmt: skip

    def plus(self, other: _Planes) -> _Planes:
        return _Planes(
            row=np.concatenate([self.row, other.row]),
            sign=np.concatenate([self.sign, other.sign]),
            weight=np.concatenate([self.weight, other.weight]),
            group=np.concatenate([self.group, other.group]),
            soft=np.concatenate([self.soft, other.soft]),
            rhs=np.concatenate([self.rhs, other.rhs]),
            directions=Directions.concatenate([self.directions, other.directions]),
            alpha=np.concatenate([self.alpha, other.alpha]),
        )


class Ascent(Backend):
    """Dual block ascent over cached planes.

    Parameters
    ----------
    max_sweeps : int
        Sweeps over the groups in one solve at most.
    steps : int
        Steps inside one block, in one visit, at most.
    seed : int
        Of the order in which groups are visited.
    """

    name = "ascent"
    takes_quadratic = True
    live_rows = True
    max_age = 5
    finisher = "clarabel"

    def __init__(self, *, max_sweeps: int = 500, steps: int = 10, seed: int = 0) -> None:
        self.max_sweeps, self.steps, self.seed = max_sweeps, steps, seed

    # ------------------------------------------------------------------ recognising the form
    def refusal(self, program: Program | None, samples: Sequence[Rows] = ()) -> str | None:
        """Return why the master is not of this backend's form, or None."""
        if (refused := super().refusal(program, samples)) is not None or program is None:
            return refused
        lead = f"The {self.name!r} backend takes a separable regulariser with slacks in cuts only: "
        if program.diagonal is None:
            return lead + "the quadratic term couples weights."
        if program.A.shape[0]:
            return lead + f"there are {program.A.shape[0]} constraints beyond bounds."
        slack = np.zeros(program.size, dtype=bool)
        slack[program.slacks] = True
        inside = np.zeros(program.size, dtype=bool)
        inside[program.weights] = True
        if not np.all(slack | inside):
            return lead + "there are variables besides weights and slacks."
        if not np.all((program.diagonal > 0)[inside] | (program.lb == program.ub)[inside]):
            return lead + "some weights have no quadratic term."
        plain = (program.diagonal == 0) & (program.l1 == 0) & (program.lb == 0) & (program.q > 0)
        if not np.all((plain & np.isposinf(program.ub))[slack]):
            return lead + "slacks must be >= 0 with a linear cost > 0."
        for rows in samples:
            if (reason := self._odd_rows(program, rows)) is not None:
                return lead + reason
        return None

    @staticmethod
    def _odd_rows(program: Program, rows: Rows) -> str | None:
        slack = np.zeros(program.size, dtype=bool)
        slack[program.slacks] = True
        entries = np.diff(rows.extra.indptr)
        if np.any(entries > 1) or not np.all(slack[rows.extra.indices]):
            return "a cut may touch one slack besides the weights."
        value = np.zeros(len(rows))
        value[entries == 1] = rows.extra.data
        lower, upper = np.isfinite(rows.lower), np.isfinite(rows.upper)
        if np.any((value != 0) & (lower == upper)) or np.any(value[lower] < 0):
            return "a slack must loosen its cut."
        return "a slack must loosen its cut." if np.any(value[upper] > 0) else None

    # ------------------------------------------------------------------ the master's rows
    def start(self, master: Compiled) -> None:
        """Bind a master whose form was accepted."""
        program = master.program
        assert program is not None, "refusal() turns conic masters away"
        self._program = program
        weights = program.weights
        diagonal = np.asarray(program.P.diagonal())[weights]
        self._lb, self._ub = program.lb[weights], program.ub[weights]
        fixed = self._lb == self._ub
        self._inverse = np.where(fixed, 0.0, 1.0 / np.where(diagonal > 0, diagonal, 1.0))
        self._linear, self._l1 = program.q[weights], program.l1[weights]
        free = np.isneginf(self._lb) & np.isposinf(self._ub)
        self._pure = bool(np.all(free) and not np.any(self._l1) and not np.any(self._linear))
        self._slack_of = np.full(program.size, -1, dtype=np.int64)
        self._slack_of[program.slacks] = np.arange(len(program.slacks))
        self._random = np.random.default_rng(self.seed)
        self._n_rows = self._n_groups = 0
        self._n_groups = len(program.slacks)
        none = Directions(np.zeros(1, np.int64), *(np.zeros(0, np.int64),) * 2, np.zeros(0))
        empty = np.zeros(0)
        soft = np.zeros(0, dtype=bool)
        self._planes = _Planes(none.source, empty, empty, none.source, soft, empty, none, empty)
        self._base = base_matrix(sp.csr_array((0, len(self._inverse))))
        self._layout: _Layout | None = None
        self._solves = 0

    def append(self, rows: Rows) -> None:
        """Add cut rows as planes."""
        if (reason := self._odd_rows(self._program, rows)) is not None:
            raise IncompatibleError(f"The {self.name!r} backend cannot take this cut: {reason}")
        self._base = rows.base
        for bound, sign in ((rows.lower, 1.0), (rows.upper, -1.0)):
            which = np.flatnonzero(np.isfinite(bound))
            if len(which):
                self._planes = self._planes.plus(self._one_sided(rows, which, bound, sign))
        self._n_rows += len(rows)
        self._layout = None if self._layout is None else self._layout.stale()

    def _one_sided(self, rows: Rows, which: Ints, bound: Floats, sign: float) -> _Planes:
        entries = np.diff(rows.extra.indptr)
        slack = np.full(len(rows), -1, dtype=np.int64)
        slack[entries == 1] = self._slack_of[rows.extra.indices]
        weight = np.ones(len(rows))
        weight[entries == 1] = np.abs(rows.extra.data)
        hard = np.flatnonzero(slack < 0)
        # any group will do for a hard row; its example's shares the most parts with it
        n_slacks, owner = len(self._program.slacks), rows.owner[hard]
        slack[hard] = np.where(owner < n_slacks, owner, n_slacks + owner)
        soft = np.ones(len(rows), dtype=bool)
        soft[hard] = False
        self._n_groups = max(self._n_groups, int(slack.max(initial=-1)) + 1)
        directions = rows.directions.take(which)
        factor = sign * (rows.factor / weight)[which]
        scaled = Directions(
            directions.ptr, directions.source, directions.offset,
            directions.coef * np.repeat(factor, np.diff(directions.ptr)),
        )  # fmt: skip
        return _Planes(
            which + self._n_rows, np.full(len(which), sign), weight[which], slack[which],
            soft[which], sign * (bound / weight)[which], scaled, np.zeros(len(which)),
        )  # fmt: skip

    def delete(self, keep: NDArray[np.bool_]) -> None:
        """Keep only some cut rows."""
        place = np.cumsum(keep) - 1
        which = np.flatnonzero(keep[self._planes.row])
        if self._layout is not None:
            self._layout = self._layout.taken(which)
        self._planes = self._planes.take(which)
        self._planes.row = place[self._planes.row]
        self._n_rows = int(keep.sum())

    def warm(self, cut_duals: Floats, weights: Floats | None = None) -> None:
        """Start from given multipliers, scaled down where they exceed a slack's cost."""
        p = self._planes
        alpha = np.maximum(p.sign * cut_duals[p.row], 0.0) * p.weight
        load = np.bincount(p.group, alpha * p.soft, minlength=self._n_groups)
        cap = self._caps(np.arange(self._n_groups))
        self._solves = 0
        fits = np.minimum(1.0, cap / np.maximum(load, 1e-300))[p.group]
        p.alpha = alpha * np.where(p.soft, fits, 1.0)

    def shift(self, linear: Floats, stretch: float) -> None:
        """Change the linear cost of the weights and stretch their inverse curvature by a factor.

        Multipliers stay; the plane products, linear in the inverse curvature, are stretched too.
        """
        self._linear = linear
        self._pure = False
        if stretch != 1.0:
            self._inverse = self._inverse * stretch
            if self._layout is not None:
                self._layout.gram[1][:] *= stretch
        if self._solves:
            self._w = self._weights_of(self._v)

    def rescale(self, inverse: Floats) -> None:
        """Change the inverse curvature of every weight.

        Multipliers stay; weights and plane products are built anew in the next solve.
        """
        self._inverse = np.where(self._lb == self._ub, 0.0, inverse)
        self._layout, self._solves = None, 0

    def _caps(self, groups: Ints) -> Floats:
        costs = self._program.q[self._program.slacks]
        caps = np.full(len(groups), np.inf)
        soft = groups < len(costs)
        caps[soft] = costs[groups[soft]]
        return caps

    # ------------------------------------------------------------------ solving
    def solve(self, *, tolerance: float, time_limit: float | None = None) -> MasterSolution:
        """Sweep until the duality gap is at most ``tolerance`` times the dual value."""
        converged, visits = self.ascend(tolerance=tolerance, time_limit=time_limit)
        return self.solution(converged, visits)

    def ascend(self, *, tolerance: float, time_limit: float | None = None) -> tuple[bool, int]:
        """Sweep as in `solve`; say whether the tolerance was met, and how many visits it took."""
        from structopt.backends import ascent_kernels as kernels

        deadline = np.inf if time_limit is None else time.perf_counter() + time_limit
        layout = self._arrange()
        base = (self._base.indptr, self._base.indices, self._base.data)
        alpha = self._planes.alpha[layout.order]
        cap = self._caps(layout.groups)
        if self._solves % _REFRESH == 0:  # from scratch, so that rounding never accumulates
            size = len(self._inverse)
            self._v = kernels.pull_of(*layout.planes, *layout.parts, *base, alpha, size)
            self._w = self._weights_of(self._v)
        self._solves += 1
        v, w = self._v, self._w
        gaps = np.zeros(len(cap))
        converged = len(cap) == 0
        visits = sweeps = 0
        everyone = True
        while not converged and sweeps < self.max_sweeps and time.perf_counter() < deadline:
            visited = np.arange(len(cap)) if everyone else np.flatnonzero(gaps > 0.2 * gaps.mean())
            kernels.sweep(
                self._random.permutation(visited), *layout.planes, layout.rhs, layout.soft,
                *layout.parts, *layout.gram, *base, cap, alpha, gaps, v, w,
                self._inverse, self._linear, self._l1, self._lb, self._ub, self._pure, self.steps,
            )  # fmt: skip
            visits += len(visited)
            sweeps += 1
            small = tolerance > 0 and gaps.sum() <= tolerance * max(
                abs(self._dual(alpha, layout.rhs, v, w)), 1e-12
            )
            converged = small and everyone
            everyone = small or not everyone
        self._planes.alpha[layout.order] = alpha
        return converged, visits

    @property
    def weights(self) -> Floats:
        """The weights as they stand; a view."""
        return self._w

    def multipliers(self) -> Floats:
        """Return the multipliers of the rows as they stand."""
        p = self._planes
        duals = np.zeros(self._n_rows)
        np.add.at(duals, p.row, p.sign * p.alpha / p.weight)
        return duals

    def _weights_of(self, v: Floats) -> Floats:
        from structopt.backends.ascent_kernels import responses

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
        from structopt.backends import ascent_kernels as kernels

        program, layout = self._program, self._arrange()
        base = (self._base.indptr, self._base.indices, self._base.data)
        hinge = kernels.hinges(
            *layout.planes, layout.rhs, layout.soft, *layout.parts, *base, self._w
        )
        x = np.zeros(program.size)
        x[program.weights] = self._w
        soft = layout.groups < len(program.slacks)
        x[program.slacks[layout.groups[soft]]] = hinge[soft]
        status: Status = "optimal" if converged else "inaccurate"
        return MasterSolution(status, x, self.multipliers(), np.zeros(0), visits)

    def _arrange(self) -> _Layout:
        """Sort planes by group and refresh parts and products, keeping products that stand."""
        from structopt.backends import ascent_kernels as kernels

        old, p = self._layout, self._planes
        if old is not None and old.fresh:
            return old
        order = np.argsort(p.group, kind="stable")
        groups, counts = np.unique(p.group[order], return_counts=True)
        group_ptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        sorted_directions = p.directions.take(order)
        d = sorted_directions
        local, *parts = kernels.index_parts(group_ptr, d.ptr, d.source, d.offset)
        place, width = np.full(len(order), -1), np.zeros(len(order), np.int64)
        old_gram = np.zeros(0)
        if old is not None:
            known = order < len(old.place)
            place[known], width[known] = old.place[order[known]], old.width[order[known]]
            old_gram = old.gram[1]
        gram = kernels.grow_gram(
            group_ptr, d.ptr, local, d.coef, *parts, self._base.indptr, self._base.indices,
            self._base.data, self._inverse, place, width, old_gram,
        )  # fmt: skip
        inside = np.arange(len(order)) - np.repeat(group_ptr[:-1], counts)
        new_place, new_width = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
        new_place[order] = np.repeat(gram[0][:-1], counts) + inside * np.repeat(counts, counts)
        new_width[order] = inside
        self._layout = _Layout(
            True, order, groups, (group_ptr, d.ptr, local, d.coef), p.rhs[order], p.soft[order],
            tuple(parts), gram, new_place, new_width,
        )  # fmt: skip
        return self._layout


@dataclass(frozen=True)
class _Layout:
    """Planes sorted by group, their distinct parts, and the groups' plane products."""

    fresh: bool
    order: Ints
    groups: Ints
    planes: tuple[NDArray[np.generic], ...]
    rhs: Floats
    soft: NDArray[np.bool_]
    parts: tuple[Ints, ...]
    gram: tuple[Ints, Floats]
    place: Ints  # of each plane's row in the flat gram, in order of arrival
    width: Ints  # of each plane's column in its group

    def stale(self) -> _Layout:
        return self.taken(np.arange(len(self.place)))

    def taken(self, which: Ints) -> _Layout:
        which = which[which < len(self.place)]
        return _Layout(
            False, self.order, self.groups, self.planes, self.rhs, self.soft, self.parts,
            self.gram,
            self.place[which], self.width[which],
        )  # fmt: skip
