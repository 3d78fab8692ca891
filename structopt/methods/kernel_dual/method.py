r"""The kernel form, learned in its dual: nothing but inner products of inputs is ever needed.

With one plane (margin m, delta) per output, alpha_i on the simplex, v_i = sum_y alpha_iy delta_iy,

    D(alpha) = sum_i c_i m_i.alpha_i - p/2 |w|^2,       w = 1/p sum_i c_i v_i.

A delta is a sum of parts and a part is an input at a label, so v_i is a matrix V_i (positions by
labels), w is beta = 1/p (c_i V_i stacked), scores are ``K beta`` with the kernel matrix K, and

    |sum of parts|^2 = sum_k V_k' K V_k + (what has no kernel: transitions).

Each visit asks the oracle about one example, adds its plane, and moves weight between the planes of
this example, from the worst to the best, with exact line search. What is needed of K is the Gram
matrix of the planes; no factor of it is formed.

StructRMM's bounds ``|w . delta| <= B`` are planes too, with the margin -B and the direction -delta
(above) or delta (below). Their multipliers beta and beta* are >= 0 and have no other limit:

    D(alpha, beta, beta*) = sum c m.alpha - B sum (beta + beta*) - p/2 |w|^2          (3),
    w = 1/p (sum c v - sum beta delta + sum beta* delta),

each moved to its best value with the others held. The upper bound is the objective at t w, with
t = min(1, B / max |w . delta|).
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Unpack

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.engines.dataset import DataSet
from structopt.engines.trust import check_known
from structopt.errors import IncompatibleError
from structopt.formulations.base import Formulation
from structopt.formulations.struct_rmm import StructRMM
from structopt.formulations.struct_svm import StructSVM
from structopt.master.declare import RestrictedMaster
from structopt.master.form import HingeForm
from structopt.master.value import value_at
from structopt.methods.forerunner import largest_projection
from structopt.methods.kernel_dual.kernels import balance
from structopt.methods.method import Method
from structopt.parameters import Seed
from structopt.run.events import Round
from structopt.run.limits import LimitOptions
from structopt.structures.base.oracles import best_other, worst
from structopt.structures.base.parts import Directions
from structopt.structures.base.shard import Shard, asked
from structopt.structures.base.structure import Structure

PAIRS = 10
"""Moves between the planes of an example per visit; more of them gain little before the next
oracle call."""


class KernelDual(Method):
    """Dual ascent over examples, for inputs that are rows of a kernel matrix.

    Parameters
    ----------
    structure, formulation, data, **limits
        See :class:`~structopt.Method`; the data's inputs are rows of ``gram``, and
        the weights are beta, label by label, then those without a kernel.
    gram : array of shape (N, N)
        Kernel values of all rows of the data.
    offsets : array of int
        Example i has the rows ``offsets[i] .. offsets[i + 1] - 1``.
    random_state : int, optional
        Seed of the order of visits.
    """

    name = "kernel-dual"
    rounds = 1000

    def __init__(
        self,
        structure: Structure,
        formulation: Formulation,
        data: DataSet,
        *,
        gram: Floats,
        offsets: Ints,
        random_state: Seed | None = None,
        **limits: Unpack[LimitOptions],
    ) -> None:
        self.gram, self.offsets, self._seed = gram, offsets, random_state
        super().__init__(structure, formulation, data, **limits)
        shape = SimpleNamespace(
            n_features=1, n_examples=data.n_examples, sample_weight=data.sample_weight
        )
        self._form = HingeForm.of(self.master, shape, self.name)  # type: ignore[arg-type]
        if not self._form.is_ridge:
            raise IncompatibleError(
                f"{type(formulation).__name__} is not 1/2 p |w|^2 plus hinges (and the bounds of "
                "StructRMM), which the kernel's dual form needs: use KernelMap, which takes every "
                "formulation."
            )
        self._curvature = float(self._form.curvature[0])
        n, size = len(gram), data.n_features
        self._n_labels = len(structure.labels_)  # type: ignore[attr-defined]
        self._kernelled = self._n_labels * n
        self.beta = np.zeros(size)
        self._random = np.random.default_rng(0 if random_state is None else random_state)
        # per example: planes over (positions x labels, then the rest), margins, shares
        widths = np.diff(offsets) * self._n_labels + (size - self._kernelled)
        self._planes = [np.zeros((1, w)) for w in widths]
        self._margins = [np.zeros(1) for _ in widths]
        self._shares = [np.ones(1) for _ in widths]
        # ... and the bounds that it has met: -delta or delta, beta or beta*
        self._bounding = [np.zeros((0, w)) for w in widths]
        self._prices = [np.zeros(0) for _ in widths]

    def _declare(self) -> RestrictedMaster:
        """Declare the formulation over one weight: all that matters is its form."""
        master = RestrictedMaster(self.data.n_examples, 1, sample_weight=self.data.sample_weight)
        wanted = self.formulation
        self._bound = math.inf
        if isinstance(wanted, StructRMM) and type(wanted).master is StructRMM.master:
            self._check_abilities(type(wanted).__name__, worst, best_other)
            self._bound = wanted.B
            StructSVM.master(wanted, master)
        else:
            master.declare(wanted)
        if len(self.structure.nonnegative_weights()):
            raise IncompatibleError("Weights that must be >= 0 have no kernel form.")
        master.compile()
        return master

    def _largest_projection(self, formulation: Formulation) -> float:
        """Solve another formulation on the same data; return its largest |w . delta|."""
        self._check_abilities(type(self.formulation).__name__, worst, best_other)
        first = KernelDual(
            self.structure, formulation, self.data, gram=self.gram, offsets=self.offsets,
            random_state=self._seed, limits=replace(self.limits, callbacks=()),
        )  # fmt: skip
        largest, self._caveat = largest_projection(first)
        return largest

    def step(self) -> Round:
        """Visit every example once, then measure both bounds with one pass."""
        start, asking = time.perf_counter(), 0.0
        for i in self._random.permutation(self.data.n_examples).tolist():
            asking += self._visit(i)
        visited = time.perf_counter()
        paid = 0.5 * self._curvature * self._squared_norm()
        t = self._within()
        answers = self.data.ask(self._form.oracle, t * self.beta)
        found = value_at(self._form.oracle, self._form.cost, answers, t * t * paid)
        asked = time.perf_counter()
        gains = [m @ a for m, a in zip(self._margins, self._shares, strict=True)]
        spent = self._bound * sum(p.sum() for p in self._prices) if self._bound < math.inf else 0.0
        self._dual = max(self._dual, float(self._form.cost @ gains) - spent - paid)
        self._proven = self._proven and found.exact
        self._offer(t * self.beta, found.value)
        return self._record(
            value=found.value,
            violation=float(found.hinges.max(initial=0.0)),
            cuts=sum(len(m) - 1 for m in self._margins),
            nonzeros=int(np.count_nonzero(self.beta)),
            iterations=self.data.n_examples,
            oracle_seconds=asking + (asked - visited),
            solve_seconds=visited - start - asking,
        )

    def _within(self) -> float:
        """Return the factor that brings every projection within the bound."""
        if self._bound == math.inf:
            return 1.0
        answers = [a for o in (worst, best_other) for a in self.data.ask(o, self.beta)]
        self._proven = self._proven and all(a.exact for a in answers)
        scores = np.concatenate([a.score for a in answers])
        largest = float(np.abs(scores[np.isfinite(scores)]).max(initial=0.0))
        return min(1.0, self._bound / largest) if largest > 0 else 1.0

    # ------------------------------------------------------------------ one example
    def _visit(self, i: int) -> float:
        """Ask about example i, add its plane, move its shares; return the seconds of asking."""
        cost = self._form.cost[i]
        if cost == 0:
            return 0.0
        before = time.perf_counter()
        single = self.data.single(i)
        answers = asked(single, self._form.oracle, self.beta)
        asking = time.perf_counter() - before
        loss, score = answers.loss, answers.score
        if np.isfinite(score[0]) and self._form.oracle.hinge(loss, score)[0] > 0:
            self._add_plane(i, single.directions(answers.outputs, np.zeros(1, np.int64)), loss)
        if self._bound < math.inf:
            asking += self._price(i, single)
        planes, margins, shares = self._planes[i], self._margins[i], self._shares[i]
        if len(margins) == 1:
            return asking
        metric = self._metric(i, planes)
        scores = self._scores(i)
        value = margins - planes @ scores
        unmoved = self._bound == math.inf  # since the oracle was asked
        if unmoved and self.data.exact and answers.exact and answers.excess is None:
            hinge = np.maximum(self._form.oracle.hinge(loss, score), 0.0)
            size = float(margins.max() + (np.abs(planes) @ np.abs(scores)).max())
            check_known(self._form.oracle, np.full(len(value), i), value, hinge, size)
        step = cost / self._curvature
        moved = balance(value, metric, shares, step, PAIRS)
        self._move(i, step * (moved @ planes))
        return asking

    def _price(self, i: int, single: Shard) -> float:
        """Look for bounds that example i breaks, and move the prices of those that it has met."""
        before = time.perf_counter()
        for oracle, sign in ((worst, -1.0), (best_other, 1.0)):
            found = single.ask(oracle, self.beta)
            score = float(found.score[0])
            if np.isfinite(score) and -sign * score > self._bound * (1 + 1e-12):
                row = self._row(i, single.directions(found.outputs, np.zeros(1, np.int64)), sign)
                if not np.any(np.all(self._bounding[i] == row, axis=1)):
                    keep = self._prices[i] > 0
                    self._bounding[i] = np.concatenate([self._bounding[i][keep], row[None]])
                    self._prices[i] = np.append(self._prices[i][keep], 0.0)
        asking = time.perf_counter() - before
        rows, prices = self._bounding[i], self._prices[i]
        if not len(rows):
            return asking
        metric = self._metric(i, rows)
        value = -self._bound - rows @ self._scores(i)
        old = prices.copy()
        for _ in range(PAIRS):
            for r in np.flatnonzero(np.diag(metric) > 0).tolist():
                step = max(-prices[r], self._curvature * value[r] / metric[r, r])
                prices[r] += step
                value -= step / self._curvature * metric[r]
        self._move(i, (prices - old) @ rows / self._curvature)
        return asking

    def _row(self, i: int, directions: Directions, scale: float) -> Floats:
        """Write a delta as a row over (positions x labels, then the rest)."""
        n, first, k = len(self.gram), int(self.offsets[i]), self._n_labels
        row = np.zeros(self._planes[i].shape[1])
        d, rest = directions, self._planes[i].shape[1] - len(self.beta) + self._kernelled
        place = np.where(
            d.offset < self._kernelled,
            (d.source - first) * k + d.offset // n,
            rest + d.offset - self._kernelled,
        )
        np.add.at(row, place, scale * d.coef)
        return row

    def _add_plane(self, i: int, directions: Directions, loss: Floats) -> None:
        """Add the plane of an oracle's answer, if it is new."""
        row = self._row(i, directions, float(self._form.oracle.scale(loss)[0]))
        margin = float(self._form.oracle.margin(loss)[0])
        known = np.all(self._planes[i] == row, axis=1) & (self._margins[i] == margin)
        if np.any(known):
            return
        keep = self._shares[i] > 0
        self._planes[i] = np.concatenate([self._planes[i][keep], row[None]])
        self._margins[i] = np.append(self._margins[i][keep], margin)
        self._shares[i] = np.append(self._shares[i][keep], 0.0)

    def _metric(self, i: int, planes: Floats) -> Floats:
        """Return the inner products of an example's planes."""
        a, b = self.offsets[i], self.offsets[i + 1]
        nodes = (b - a) * self._n_labels
        shaped = planes[:, :nodes].reshape(len(planes), b - a, self._n_labels)
        turned = np.einsum("st,rtk->rsk", self.gram[a:b, a:b], shaped).reshape(len(planes), -1)
        rest = planes[:, nodes:]
        return np.asarray(planes[:, :nodes] @ turned.T + rest @ rest.T)

    def _scores(self, i: int) -> Floats:
        """Return the score of every part of example i."""
        a, b = self.offsets[i], self.offsets[i + 1]
        nodes = self.beta[: self._kernelled].reshape(self._n_labels, -1)
        unary = self.gram[a:b] @ nodes.T
        return np.concatenate([unary.ravel(), self.beta[self._kernelled :]])

    def _move(self, i: int, change: Floats) -> None:
        a, b = self.offsets[i], self.offsets[i + 1]
        count = (b - a) * self._n_labels
        nodes = self.beta[: self._kernelled].reshape(self._n_labels, -1)
        nodes[:, a:b] += change[:count].reshape(b - a, self._n_labels).T
        self.beta[self._kernelled :] += change[count:]

    def _squared_norm(self) -> float:
        nodes = self.beta[: self._kernelled].reshape(self._n_labels, -1)
        rest = self.beta[self._kernelled :]
        return float(np.sum(nodes * (nodes @ self.gram)) + rest @ rest)
