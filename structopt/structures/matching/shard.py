r"""Pairs encoded for a pass: the features of all candidate edges in one matrix.

With edge features X (E, d) a pass is ``s = X w``, the heaviest matching of each pair, and

    loss = c_fn |gold - y| + c_fp |y - gold|,      w . delta = s . (gold - y).

>>> import numpy as np
>>> from structopt.structures.matching.inputs import read_pair
>>> from structopt.structures.base.oracles import loss_augmented
>>> pair = read_pair(np.array([[[1.0], [2.0]]]), (1, 1), 1)
>>> shard = MatchingShard([pair], [np.array([True, False])], 1.0, 1.0)
>>> answers = shard.ask(loss_augmented, np.ones(1))
>>> answers.outputs, answers.loss, answers.score
(array([False,  True]), array([2.]), array([-1.]))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints, base_matrix, check_weights
from structopt.errors import IncompatibleError
from structopt.structures.base.oracles import Oracle, best_other, loss_augmented, worst
from structopt.structures.base.parts import Directions
from structopt.structures.base.shard import Answers, Shard
from structopt.structures.matching.inputs import Pair
from structopt.structures.matching.relaxation import MatchingRelaxation
from structopt.structures.matching.search import Mask, PairSearch


class MatchingShard(Shard):
    """Stacked pairs with gold matchings; outputs are stacked masks over the candidate edges.

    Parameters
    ----------
    pairs : list of Pair
    gold : list of masks
    false_positive, false_negative : float
        Loss of an edge too many, and of one too few.
    searches : list, optional
        Who finds matchings in each pair; by default :class:`PairSearch`.
    """

    def __init__(
        self, pairs: Sequence[Pair], gold: Sequence[Mask], false_positive: float,
        false_negative: float, searches: Sequence[Any] | None = None,
    ) -> None:  # fmt: skip
        self.pairs, self.n_examples = pairs, len(pairs)
        sizes = [len(pair.edges) for pair in pairs]
        self.offsets: Ints = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        blocks = [pair.features for pair in pairs]
        sparse = any(sp.issparse(block) for block in blocks)
        self.features = (
            sp.vstack([sp.csr_array(b) for b in blocks], format="csr")
            if sparse
            else np.concatenate(blocks)
        )
        self.base = base_matrix(self.features)
        self.gold: Mask = np.concatenate(gold)
        self.costs = (false_positive, false_negative)
        self.owner = np.repeat(np.arange(self.n_examples), sizes)
        # adding c . z to the score, and the constant d, makes it loss-augmented
        self.loss = np.where(self.gold, -false_negative, false_positive)
        self.searches = (
            [PairSearch(pair.edges, pair.fertility) for pair in pairs]
            if searches is None
            else searches
        )

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every pair."""
        scores = self._scores(weights)
        if oracle is loss_augmented:
            return self._each(scores, scores + self.loss, lambda s, part, _: [s.best(part)])[0]
        if oracle is best_other:
            return self._each(scores, scores, lambda s, part, g: [s.best_other(part, g)])[0]
        if oracle is worst:
            return self._each(scores, -scores, lambda s, part, _: [s.best(part)])[0]
        raise IncompatibleError(f"Matching does not know the oracle {oracle.name!r}.")

    def argmax(self, weights: Floats) -> Answers:
        """Return every pair's best matching, without the loss."""
        scores = self._scores(weights)
        return self._each(scores, scores, lambda s, part, _: [s.best(part)])[0]

    def k_best(self, weights: Floats, k: int) -> list[Answers]:
        """Return the k best of every pair; ``score`` is infinite where there are fewer."""
        scores = self._scores(weights)
        return self._each(scores, scores, lambda s, part, _: s.k_best(part, k), k)

    def single(self, i: int) -> SinglePair:
        """Return pair i as a shard of its own, over the same base."""
        return SinglePair(self, i)

    def relaxation(self) -> MatchingRelaxation:
        """Return all matchings as one polytope."""
        return MatchingRelaxation(self)

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the pairs ``which``: the edges in which they differ from gold."""
        wanted = np.zeros(self.n_examples, dtype=bool)
        wanted[which] = True
        edges = np.flatnonzero((outputs != self.gold) & wanted[self.owner])
        counts = np.bincount(self.owner[edges], minlength=self.n_examples)[which]
        return Directions(
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            edges.astype(np.int64),
            np.zeros(len(edges), dtype=np.int64),
            np.where(self.gold[edges], 1.0, -1.0),
        )

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        yield from (self.offsets, self.loss)
        for pair in self.pairs:
            yield from (pair.edges, *pair.fertility)

    def _scores(self, weights: Floats) -> Floats:
        return np.asarray(self.features @ check_weights(weights, self.features.shape[1]))

    def _each(
        self,
        scores: Floats,
        augmented: Floats,
        question: Callable[[Any, Floats, Mask], list[Mask | None]],
        k: int = 1,
    ) -> list[Answers]:
        """Ask a question that has up to k answers, pair by pair."""
        outputs = np.tile(self.gold, (k, 1))
        missing = np.ones((k, self.n_examples), dtype=bool)
        for i, (a, b) in enumerate(pairwise(self.offsets.tolist())):
            for r, mask in enumerate(question(self.searches[i], augmented[a:b], self.gold[a:b])):
                if mask is not None:
                    outputs[r, a:b], missing[r, i] = mask, False
        return [self._compared(scores, o, m) for o, m in zip(outputs, missing, strict=True)]

    def _compared(self, scores: Floats, output: Mask, missing: Mask) -> Answers:
        """Return outputs with their loss and ``w . delta``."""
        wrong = output != self.gold
        lost = np.where(wrong, np.abs(self.loss), 0.0)
        apart = np.where(wrong, np.where(self.gold, scores, -scores), 0.0)
        loss, score = self._summed(lost), self._summed(apart)
        score[missing] = np.inf  # nothing but gold is possible
        return Answers(output, loss, score)

    def _summed(self, values: Floats) -> Floats:
        return np.bincount(self.owner, values, minlength=self.n_examples).astype(np.float64)


class SinglePair(MatchingShard):
    """One pair of a shard, over the same base and without copies."""

    def __init__(self, whole: MatchingShard, i: int) -> None:
        first, stop = int(whole.offsets[i]), int(whole.offsets[i + 1])
        self.pairs, self.n_examples = [whole.pairs[i]], 1
        self.offsets, self.features = np.array([0, stop - first]), whole.features[first:stop]
        self.base, self.gold, self.costs = whole.base, whole.gold[first:stop], whole.costs
        self.owner, self.loss = np.zeros(stop - first, np.int64), whole.loss[first:stop]
        self.searches, self._first = [whole.searches[i]], first

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the pair (``which`` is [0]) over the base of the whole shard."""
        return super().directions(outputs, which).moved(self._first)

    def single(self, i: int) -> SinglePair:
        """Return itself."""
        return self
