r"""Sentences encoded for a pass: one row of features an arc, all trees in one compiled call.

    score = F w  (one number an arc),    answers = the arcs of the best trees.

Outputs are stacked arcs: for every token the row of the arc that leads to it.

>>> import numpy as np
>>> from structopt.structures.arborescence.inputs import stack_sentences
>>> from structopt.structures.base.oracles import loss_augmented
>>> sentences = stack_sentences([np.zeros((3, 2, 1))])  # arcs 0->1, 0->2, 1->2, 2->1
>>> shard = ArborescenceShard(sentences, np.array([0, 2]), False)
>>> answers = shard.ask(loss_augmented, np.zeros(1))
>>> answers.outputs, answers.loss
(array([3, 1]), array([2.]))
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from structopt.arrays import Floats, Ints, base_matrix, check_weights
from structopt.errors import InvalidInputError
from structopt.structures.arborescence import (
    kernels,
    projective_kernels,
    projective_reference,
)
from structopt.structures.arborescence.inputs import Sentences
from structopt.structures.base.input_rows import InputRows
from structopt.structures.base.oracles import (
    Oracle,
    best_other,
    loss_augmented,
    other_augmented,
    worst,
)
from structopt.structures.base.parts import Directions
from structopt.structures.base.shard import Answers, Shard, decoders, forget, ranked


class ArborescenceShard(Shard):
    """Stacked sentences with gold trees.

    Parameters
    ----------
    sentences : Sentences
    gold : array of int
        For every token the row of its gold arc.
    single_root : bool
    start : int
        Number of the first example in messages.
    decoder : {"compiled", "networkx"}
    cost : array, optional
        What each arc costs, 0 for those of gold; by default 1.
    projective : bool
        Whether arcs may not cross.
    """

    inputs_in = "rows"
    along: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "arcs": ("rows", "head", "dependent", "cost"),
        "tokens": ("gold", "known"),
    }

    def __init__(
        self, sentences: Sentences, gold: Ints, single_root: bool, start: int = 0,
        decoder: str = "compiled", cost: Floats | None = None, projective: bool = False,
    ) -> None:  # fmt: skip
        self.base = base_matrix(sentences.features)
        self.rows = InputRows.over(self.base)
        self.arcs, self.head, self.dependent, self.tokens = sentences[1:]
        self.gold, self.single_root, self.start = gold, single_root, start
        self.decoder, self.n_examples = decoder, len(self.tokens) - 1
        self.projective = projective
        self.known: Ints | None = None  # gold as it was given, -1 where a head is unknown
        self.cost = np.ones(len(self.head)) if cost is None else cost
        if cost is None:
            self.cost[gold] = 0.0

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every sentence."""
        scores = self._scores(weights)
        if oracle is loss_augmented:
            return self._decoded(scores, scores + self.cost)
        if oracle is worst:
            return self._decoded(scores, -scores)
        if oracle in (best_other, other_augmented):
            given = (*self._graph, self.gold, self.single_root)
            aim = scores if oracle is best_other else scores + self.cost
            return self._compared(scores, *self._ways.best_other(aim, *given))
        raise self._unknown(oracle)

    def argmax(self, weights: Floats) -> Answers:
        """Return every sentence's best tree, without the loss."""
        scores = self._scores(weights)
        return self._decoded(scores, scores)

    def k_best(self, weights: Floats, k: int) -> list[Answers]:
        """Return the k best of every sentence; ``score`` is infinite where there are fewer."""
        scores, found = self._scores(weights), []
        for i, (a, b) in enumerate(pairwise(self.tokens.tolist())):
            own = (scores, self.arcs[i], self.arcs[i + 1], self.head, self.dependent, b - a + 1)
            table, row = kernels.tables(*own)
            trees = self._ways.k_best(table, self.single_root, k)
            self._check_tree(-1 if len(trees) else i)
            found.append(row[np.arange(1, b - a + 1), trees[:, 1:]])
        return [self._compared(scores, *best) for best in ranked(self.gold, self.tokens, found)]

    def part(self, a: int, b: int) -> Self:
        """Return sentences a to b - 1 as a shard over the same base."""
        part = super().part(a, b)
        part.gold = part.gold - self.arcs[a]  # arcs are numbered from the part's first
        if part.known is not None:
            part.known = np.where(part.known < 0, -1, part.known - self.arcs[a])
        return part

    @property
    def n_scores(self) -> int:
        """How many arcs there are."""
        return len(self.head)

    def joined(self, outputs: Sequence[Any], edges: Ints) -> Ints:
        """Return the trees of runs, with the numbers that arcs have in the whole."""
        runs = zip(outputs, self.arcs[edges[:-1]], strict=True)
        return np.concatenate([arcs + first for arcs, first in runs])

    @property
    def unknown(self) -> Any:
        """Which sentences have heads that are unknown."""
        if self.known is None:
            return super().unknown
        return np.logical_or.reduceat(self.known < 0, self.tokens[:-1])

    def anchored(self, outputs: Any) -> Self:
        """Return the same sentences with delta measured from other trees; losses stay."""
        moved = forget(copy.copy(self))
        moved.gold = np.asarray(outputs, dtype=np.int64)
        return moved

    def completed(self, weights: Floats) -> Self:
        """Return the sentences with heads that are unknown chosen as these weights like best."""
        if self.known is None:
            return self
        token = np.repeat(self.tokens[:-1], np.diff(self.arcs)) + self.dependent - 1
        right = self.known[token]
        trees, missing = self.within(weights, (right < 0) | (right == np.arange(len(token))))
        self._check_tree(int(np.argmax(missing)) if missing.any() else -1)
        return self.anchored(trees)

    def within(self, weights: Floats, held: Any) -> tuple[Ints, Any]:
        """Return every sentence's best tree of the arcs allowed, and the first that has none."""
        aim = np.where(held, self._scores(weights), -np.inf)
        given = (*self._graph, self.single_root)
        trees, without = self._ways.decode(aim, *given)
        if without >= 0:  # the rest was not decoded
            return trees, np.arange(self.n_examples) == without
        return trees, ~np.logical_and.reduceat(held[trees], self.tokens[:-1])

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the sentences ``which``: the arcs in which they differ from gold."""
        ptr, source, offset, coef = kernels.differing_arcs(self.tokens, self.gold, outputs, which)
        return Directions(ptr, source + self.rows.first, offset, coef)

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        yield from (*self._graph, self.cost)
        if self.projective:
            yield np.array([self.projective])

    @property
    def _ways(self) -> Any:
        """Who decodes."""
        if not self.projective:
            return decoders(kernels, self.decoder)
        return projective_kernels if self.decoder == "compiled" else projective_reference

    @property
    def _graph(self) -> tuple[Ints, Ints, Ints, Ints]:
        return self.arcs, self.head, self.dependent, self.tokens

    def _scores(self, weights: Floats) -> Floats:
        if not self.rows.few:
            weights = check_weights(weights, self.base.shape[1])
        return self.rows.scores(weights, 1).ravel()

    def _decoded(self, scores: Floats, aim: Floats) -> Answers:
        given = (*self._graph, self.single_root)
        arcs, without = self._ways.decode(aim, *given)
        self._check_tree(without)
        return self._compared(scores, arcs)

    def _compared(self, scores: Floats, arcs: Ints, missing: Any = ()) -> Answers:
        """Return trees with their loss and ``w . delta``, infinite where they are missing."""
        loss, score = kernels.compare(scores, self.tokens, self.gold, self.cost, arcs)
        if len(missing):
            score[missing] = np.inf
        return Answers(arcs, loss, score)

    def _check_tree(self, without: int) -> None:
        """Refuse example ``without`` if there is one."""
        if without >= 0:
            raise InvalidInputError(
                f"The candidate arcs of example {self.start + without} hold no "
                f"{'projective' if self.projective else 'spanning'} tree: give every token an arc "
                "from the root, or more candidates.",
                example=self.start + without,
            )
