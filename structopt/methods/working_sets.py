r"""Cutting planes example by example, as StructRMM and L1-M3N print them.

    repeat
        for i = 1 .. n:
            the most violated constraint of example i, over all families
            if it is violated by more than eps: add it to S_i, solve the problem over S
    until no S_i has changed

:class:`~structopt.CuttingPlane` asks about all examples and adds what they answer before it solves
again: the same optimum in far fewer solves.
"""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from structopt.arrays import Floats
from structopt.backends import registry
from structopt.backends.base import Backend
from structopt.engines.dataset import DataSet
from structopt.errors import IncompatibleError
from structopt.formulations.base import Formulation
from structopt.master.cuts import Cuts
from structopt.master.separation import touches_slack, violations
from structopt.methods.cutting_plane import CuttingPlane
from structopt.methods.nearest_feasible import nearest_feasible
from structopt.methods.state import State
from structopt.parameters import Positive, Seed
from structopt.run.events import Round
from structopt.run.limits import LimitOptions
from structopt.run.result import Result
from structopt.structures.base.shard import asked, excess_of
from structopt.structures.base.structure import Structure

_EXACT = 1e-9
"""Relative tolerance of every master: the printed rules compare with its exact optimum."""


class WorkingSets(CuttingPlane):
    r"""Working sets that grow by one constraint at a time; a round visits every example once.

    .. math::
        j = \arg\max_k\, [\text{violation}_k(\tilde y_k) - \epsilon_k], \qquad
        S_i^j \leftarrow S_i^j \cup \{\tilde y_j\} \text{ if positive, and solve again}

    With one family it is Algorithm 1 of L1-M3N, an LP after each example; with the three families
    of StructRMM it is that paper's Algorithm 1, with its slips corrected: gold is no candidate of
    the unit margin, and the third family looks for the most negative projection. A round that adds
    nothing ends the run. Then P(w) is within ``C n eps`` of the optimum (slacks that cost C each),
    for StructRMM within ``C (eps + eps_B)``; the certificate says by how much it is.

    Parameters
    ----------
    structure, formulation, data, **limits
        See :class:`~structopt.Method`. Constraints of all examples together are not taken.
    eps : float
        By how much a constraint with a slack may be violated at the end.
    eps_B : float
        The same of constraints without a slack: the bounds of StructRMM.
    backend, fallback, random_state, warm_start, checkpoint
        As in :class:`~structopt.CuttingPlane`; "auto" passes over backends whose solutions are not
        those of the master itself.

    Notes
    -----
    Shivaswamy and Jebara (2009), Algorithm 1; Zhu, Xing and Zhang (2009), Algorithm 1.

    Examples
    --------
    >>> import structopt as so
    >>> X, y = so.datasets.make_classes(20, seed=0)
    >>> for formulation in (so.StructRMM(C=10.0, B=2.0), so.L1M3N(C=0.1)):
    ...     model = so.StructuredClassifier(so.Multiclass(), formulation, method="working-sets",
    ...                                     method_options={"eps": 1e-4, "eps_B": 1e-4})
    ...     print(model.fit(X, y).result_.certificate.certified)
    True
    True
    """

    name = "working-sets"
    only_asks = False

    def __init__(
        self,
        structure: Structure,
        formulation: Formulation,
        data: DataSet,
        *,
        eps: Positive = 1e-3,
        eps_B: Positive = 1e-3,
        backend: str | Backend = "auto",
        fallback: bool = False,
        random_state: Seed | None = None,
        warm_start: Result | State | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        **limits: Unpack[LimitOptions],
    ) -> None:
        self.eps, self.eps_B = eps, eps_B
        self._changed = True
        data.single(0)  # refused here, before any work, where examples cannot be had one by one
        super().__init__(
            structure, formulation, data, backend=backend, fallback=fallback,
            random_state=random_state, warm_start=warm_start, checkpoint=checkpoint, **limits,
        )  # fmt: skip
        if any(family.joint for family in self.master.families):
            raise IncompatibleError(
                f"The method {self.name!r} adds constraints of one example at a time; "
                f"{type(formulation).__name__} has one for all: slacks='n', or 'cutting-plane'."
            )
        self._pace.tolerance = _EXACT

    def step(self) -> Round:
        """Visit every example once; then bound the optimum and evaluate the weights."""
        start, asking, cuts_before = time.perf_counter(), 0.0, len(self.master.pool)
        solution, steps, full = self._solve_master(), 0, True
        steps += solution.iterations
        if self._inside is None:  # where all bounds hold: a point to retreat to
            self._separate(nearest_feasible(self.master, solution.x))
        for i in np.flatnonzero(self.data.sample_weight > 0).tolist():
            before = time.perf_counter()
            found = self._most_violated(i, solution.x)
            asking += time.perf_counter() - before
            if found is not None and len(added := self.master.add(found)):
                self.backend.append(added)
                solution = self._solve_master()
                steps += solution.iterations
            if self.limits.reached(self._elapsed()):
                full = False
                break
        solved = time.perf_counter()
        added_in_all = len(self.master.pool) - cuts_before
        self._changed = added_in_all > 0 or not full
        self._bound_below(solution)
        x = nearest_feasible(self.master, solution.x)
        separation = self._separate(x)
        self._doubts.check(x, separation)
        self.master.pool.settle(solution.cut_duals, negligible=self._negligible(solution))
        if self._checkpoint is not None:
            self._checkpoint.save(self._weights, self._cuts)
        return self._record(
            value=separation.value,
            violation=separation.violation,
            cuts_added=added_in_all,
            cuts=len(self.master.pool),
            nonzeros=self._nonzeros(solution),
            iterations=steps,
            oracle_seconds=asking + time.perf_counter() - solved,
            solve_seconds=solved - start - asking,
        )

    def _most_violated(self, i: int, x: Floats) -> Cuts | None:
        """Return the constraint of example i that exceeds its eps by most, if one does."""
        best, chosen = 0.0, None
        for number in range(len(self.master.families)):
            cuts, direct = self._asked_of(number, i, x)
            if not len(cuts):
                continue
            eps = self.eps if touches_slack(self.master, cuts) else self.eps_B
            beyond = violations(cuts, x) - eps
            if beyond.max() > best:
                best = float(beyond.max())
                chosen = direct(cuts.take(np.array([int(np.argmax(beyond))])))
        return chosen

    def _asked_of(self, number: int, i: int, x: Floats) -> tuple[Cuts, Any]:
        """Return the answer of example i to one family's oracle, lifted, and who directs it."""
        family, program = self.master.families[number], self.master.program
        weights = np.ascontiguousarray(x[program.asked_about(number)])
        answers = asked(self.data.single(i), family.oracle, weights)
        loss, told = answers.loss, bool(np.isfinite(answers.score[0]))
        cuts = Cuts(
            np.full(1, number), np.full(1, i), loss, family.oracle.margin(loss),
            family.oracle.scale(loss), score=answers.score, excess=excess_of([answers]),
        )  # fmt: skip
        if not told or (family.where is not None and not family.where[i]):
            cuts = cuts.take(np.zeros(0, dtype=np.int64))

        def direct(some: Cuts) -> Cuts:
            directions = self.data.single_directions(i, answers)
            return replace(some, directions=directions, base=self.data.base)

        if family.looks_into_delta and len(cuts):
            cuts = direct(cuts)
        return family.lift(cuts), direct

    # ------------------------------------------------------------------ before and after
    def _start(self) -> None:
        """Choose a backend that solves the master itself, and set it up without cuts."""
        backend, random_state = self._asked
        self.backend = registry.choose(backend, self.master, random_state, moving=False)
        self.backend.start(self.master)

    def _stalled(self) -> bool:
        return not self._changed

    def _note(self) -> str:
        done = "" if self._changed else (
            f"no constraint of a working set's example is violated by more than {self.eps:g} "
            f"({self.eps_B:g} without a slack)"
        )  # fmt: skip
        return "; ".join(filter(None, (done, super()._note())))
