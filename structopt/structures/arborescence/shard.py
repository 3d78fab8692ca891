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

from collections.abc import Iterator
from typing import Any

import numpy as np

from structopt.arrays import Floats, Ints, base_matrix, check_weights
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.structures.arborescence import kernels
from structopt.structures.arborescence.inputs import Sentences
from structopt.structures.base.oracles import Oracle, best_other, loss_augmented, worst
from structopt.structures.base.parts import Directions
from structopt.structures.base.parts_kernels import part_scores
from structopt.structures.base.shard import Answers, Shard


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
    """

    def __init__(self, sentences: Sentences, gold: Ints, single_root: bool, start: int = 0) -> None:
        self.base = base_matrix(sentences.features)
        self.graph = (sentences.arcs, sentences.head, sentences.dependent, sentences.tokens)
        self.tokens, self.gold = sentences.tokens, gold
        self.single_root, self.start = single_root, start
        self.n_examples = len(self.tokens) - 1
        self._first = 0  # of this shard's arcs in the rows of base

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every sentence."""
        scores = self._scores(weights)
        if oracle is loss_augmented:
            return self._decoded(scores, scores, 1.0)
        if oracle is worst:
            return self._decoded(scores, -scores, 0.0)
        if oracle is best_other:
            given = (*self.graph, self.gold, self.single_root)
            arcs, missing = kernels.best_other(scores, *given)
            answers = self._compared(scores, arcs)
            answers.score[missing] = np.inf  # nothing but gold is possible
            return answers
        raise IncompatibleError(f"Arborescence does not know the oracle {oracle.name!r}.")

    def argmax(self, weights: Floats) -> Answers:
        """Return every sentence's best tree, without the loss."""
        scores = self._scores(weights)
        return self._decoded(scores, scores, 0.0)

    def k_best(self, weights: Floats, k: int) -> list[Answers]:
        """Return the k best of every sentence; ``score`` is infinite where there are fewer."""
        scores, found = self._scores(weights), np.tile(self.gold, (k, 1))
        missing = np.zeros((k, self.n_examples), dtype=bool)
        arcs, head, dependent, tokens = self.graph
        for i in range(self.n_examples):
            a, b = int(tokens[i]), int(tokens[i + 1])
            given = (scores, arcs[i], arcs[i + 1], head, dependent, b - a + 1)
            table, row = kernels.tables(*given)
            trees = kernels.k_best(table, self.single_root, k)
            found[: len(trees), a:b] = row[np.arange(1, b - a + 1), trees[:, 1:]]
            missing[len(trees) :, i] = True
        answers = [self._compared(scores, one) for one in found]
        for answer, none in zip(answers, missing, strict=True):
            answer.score[none] = np.inf
        return answers

    def single(self, i: int) -> SingleArborescence:
        """Return sentence i as a shard of its own: a view."""
        return SingleArborescence(self, i)

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the sentences ``which``: the arcs in which they differ from gold."""
        ptr, source, offset, coef = kernels.differing_arcs(self.tokens, self.gold, outputs, which)
        return Directions(ptr, source + self._first, offset, coef)

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        yield from self.graph

    def _scores(self, weights: Floats) -> Floats:
        return arc_scores(self.base, check_weights(weights, self.base.shape[1]))

    def _decoded(self, scores: Floats, aim: Floats, cost: float) -> Answers:
        arcs, without = kernels.decode(aim, *self.graph, self.gold, cost, self.single_root)
        check_tree(without, self.start)
        return self._compared(scores, arcs)

    def _compared(self, scores: Floats, arcs: Ints) -> Answers:
        loss, score = kernels.compare(scores, self.tokens, self.gold, arcs)
        return Answers(arcs, loss, score)


class SingleArborescence(ArborescenceShard):
    """One sentence of a shard, over the same base and without copies of it.

    Made for many small questions: weights must be a float64 vector of the right length, and are
    not checked.
    """

    def __init__(self, whole: ArborescenceShard, i: int) -> None:
        arcs, head, dependent, tokens = whole.graph
        first, stop = int(arcs[i]), int(arcs[i + 1])
        self.base, self._first = whole.base, first + whole._first
        self.tokens = np.array([0, tokens[i + 1] - tokens[i]])
        own = np.array([0, stop - first]), head[first:stop], dependent[first:stop]
        self.graph = (*own, self.tokens)
        self.gold = whole.gold[tokens[i] : tokens[i + 1]] - first
        self.single_root, self.start, self.n_examples = whole.single_root, whole.start + i, 1
        self._rows = whole.base.indptr[self._first : self._first + stop - first + 1]

    def single(self, i: int) -> SingleArborescence:
        """Return itself."""
        return self

    def _scores(self, weights: Floats) -> Floats:
        rows = (self._rows, self.base.indices, self.base.data)
        return np.asarray(part_scores(*rows, weights, 1)).ravel()


def arc_scores(base: Any, weights: Floats) -> Floats:
    """Return the score of every arc, ``base @ weights`` in one order of summation."""
    # a copy: weights that are read-only would be another type to numba, and compiled anew
    scores = part_scores(base.indptr, base.indices, base.data, np.array(weights), 1)
    return np.asarray(scores).ravel()


def check_tree(without: int, start: int = 0) -> None:
    """Refuse example ``without`` if there is one."""
    if without >= 0:
        raise InvalidInputError(
            f"The candidate arcs of example {start + without} hold no spanning tree: give every "
            "token an arc from the root, or more candidates.",
            example=start + without,
        )
