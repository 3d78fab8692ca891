r"""Examples whose outputs are integer programmes: live models, asked in turn.

With F_i stacked to one base matrix, a pass is one product ``s = F w`` and a question to each model:

    max  (s_i + c_i) . z,    c_i = cost_i (1 - 2 gold_i),    delta_i(z) = F_i' (gold_i - z).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints, base_matrix, check_weights
from structopt.errors import IncompatibleError, OracleError
from structopt.structures.base.integer.solver import Best, IntegerProgram
from structopt.structures.base.oracles import Oracle, best_other, loss_augmented, worst
from structopt.structures.base.parts import Directions
from structopt.structures.base.shard import Answers, Shard

LIVE = 500
"""Examples of a shard whose models stay live between passes: one holds 0.2 to 0.3 MB, and to build
it anew takes some milliseconds."""


def flipped(gold: Floats, cost: Floats) -> Floats:
    """Return c with ``cost . [z != gold] = cost . gold + c . z``."""
    return cost * (1.0 - 2.0 * gold)


class ProgramShard(Shard):
    """Integer programmes with features, gold outputs and costs of parts.

    Parameters
    ----------
    programs : sequence of IntegerProgram
    features : sequence of (parts, d) matrices
    golds, costs : sequences of vectors
    start : int
        Number of the first example in messages.
    """

    def __init__(
        self, programs: Sequence[IntegerProgram], features: Sequence[Any],
        golds: Sequence[Floats], costs: Sequence[Floats], start: int,
    ) -> None:  # fmt: skip
        self.programs, self.start, self.n_examples = list(programs), start, len(programs)
        self.base = base_matrix(sp.vstack([sp.csr_array(f) for f in features], format="csr"))
        self.ends = np.concatenate([[0], np.cumsum([len(g) for g in golds])]).astype(np.int64)
        self.gold, self.cost = np.concatenate(golds), np.concatenate(costs)
        self._first = 0  # the row of base at which the parts begin

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every example: 0/1 vectors, None where there is none."""
        scores = self._scores(weights)
        if oracle is loss_augmented:
            asked = scores + flipped(self.gold, self.cost)
            return self._each(scores, lambda i, a, b: self.programs[i].maximize(asked[a:b]))
        if oracle is worst:
            return self._each(scores, lambda i, a, b: self.programs[i].maximize(-scores[a:b]))
        if oracle is best_other:
            return self._each(scores, lambda i, a, b: self._other(i, scores[a:b], [self.gold[a:b]]))
        raise IncompatibleError(f"Program does not know the oracle {oracle.name!r}.")

    def argmax(self, weights: Floats) -> Answers:
        """Return every example's best output, without the loss."""
        scores = self._scores(weights)
        return self._each(scores, lambda i, a, b: self.programs[i].maximize(scores[a:b]))

    def k_best(self, weights: Floats, k: int) -> list[Answers]:
        """Return the k best outputs of every example; ``score`` is infinite where there is none."""
        scores = self._scores(weights)
        known: list[list[Floats]] = [[] for _ in range(self.n_examples)]

        def next_best(i: int, a: int, b: int) -> Best | None:
            best = self.programs[i].maximize(scores[a:b], forbidden=known[i])
            if best is not None:
                known[i].append(best.point)
            return best

        return [self._each(scores, next_best) for _ in range(k)]

    def single(self, i: int) -> ProgramShard:
        """Return example i as a shard of its own, over the same base and model."""
        a, b = int(self.ends[i]), int(self.ends[i + 1])
        one = object.__new__(ProgramShard)
        one.programs, one.start, one.n_examples = [self.programs[i]], self.start + i, 1
        one.base, one.ends = self.base, np.array([0, b - a])
        one.gold, one.cost, one._first = self.gold[a:b], self.cost[a:b], self._first + a
        return one

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the examples ``which``: the parts in which they differ from gold."""
        source, coef, ptr = [], [], [0]
        for i in which:
            a, b = self.ends[i], self.ends[i + 1]
            change = self.gold[a:b] - outputs[i]
            places = np.flatnonzero(change)
            source.append(self._first + a + places)
            coef.append(change[places])
            ptr.append(ptr[-1] + len(places))
        rows = np.concatenate(source).astype(np.int64)
        return Directions(np.array(ptr), rows, np.zeros(len(rows), np.int64), np.concatenate(coef))

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        yield self.cost
        for program in self.programs:
            rows = program.rows
            yield from (rows.A.data, rows.A.indices, rows.lower, rows.upper)

    def _scores(self, weights: Floats) -> Floats:
        vector = check_weights(weights, self.base.shape[1])
        mine = slice(self._first, self._first + len(self.gold))
        return np.asarray(
            (self.base if len(self.gold) == self.base.shape[0] else self.base[mine]) @ vector
        )

    def _other(self, i: int, scores: Floats, known: list[Floats]) -> Best | None:
        best = self.programs[i].maximize(scores)
        if best is None or not np.array_equal(best.point, known[0]):
            return best
        return self.programs[i].maximize(scores, forbidden=known)

    def _each(self, scores: Floats, question: Callable[[int, int, int], Best | None]) -> Answers:
        """Ask every example, and compare the answers with gold."""
        n = self.n_examples
        outputs: list[Any] = [None] * n
        loss, score, excess = np.zeros(n), np.full(n, np.inf), np.zeros(n)
        for i in range(n):
            a, b = int(self.ends[i]), int(self.ends[i + 1])
            try:
                best = question(i, a, b)
            except OracleError as error:
                raise OracleError(
                    f"Example {self.start + i}: {error}", example=self.start + i
                ) from error
            if i >= LIVE:
                self.programs[i].release()
            if best is not None:
                outputs[i], excess[i] = best.point, best.excess
                loss[i] = self.cost[a:b] @ (best.point != self.gold[a:b])
                score[i] = scores[a:b] @ (self.gold[a:b] - best.point)
        return Answers(outputs, loss, score, excess=excess)
