r"""Pairs encoded for a pass: the features of all candidate edges in one matrix.

With edge features X (E, d) a pass is ``s = X w``, the heaviest matching of each pair, and

    loss = missed |gold - y| + extra |y - gold|,      w . delta = s . (gold - y).

>>> import numpy as np
>>> from structopt.structures.matching.inputs import read_pair
>>> from structopt.structures.base.oracles import loss_augmented
>>> pair = read_pair(np.array([[[1.0], [2.0]]]), (1, 1), 1)
>>> shard = MatchingShard([pair], [np.array([True, False])], np.array([-1.0, 1.0]))
>>> answers = shard.ask(loss_augmented, np.ones(1))
>>> answers.outputs, answers.loss, answers.score
(array([False,  True]), array([2.]), array([-1.]))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from structopt.arrays import Floats, stack_rows
from structopt.structures.base.vectors import Mask, VectorShard
from structopt.structures.matching.inputs import Pair
from structopt.structures.matching.reference import ReferenceSearch
from structopt.structures.matching.relaxation import MatchingRelaxation
from structopt.structures.matching.search import PairSearch


class MatchingShard(VectorShard):
    """Stacked pairs with gold matchings; outputs are stacked masks over the candidate edges.

    Parameters
    ----------
    pairs : list of Pair
    gold : list of masks
    added : array
        What each edge adds to the loss.
    start : int
        Number of the first example in messages.
    decoder : {"compiled", "networkx"}
    """

    inputs_in = "rows"
    each = ("pairs", "searches", "paid")

    def __init__(
        self, pairs: Sequence[Pair], gold: Sequence[Mask], added: Floats, start: int = 0,
        decoder: str = "compiled",
    ) -> None:  # fmt: skip
        offsets = np.concatenate([[0], np.cumsum([len(p.edges) for p in pairs])]).astype(np.int64)
        features = stack_rows([pair.features for pair in pairs])
        super().__init__(features, offsets, np.concatenate(gold), added, start)
        self.pairs = [pair._replace(features=None) for pair in pairs]  # they stand in the base
        search = ReferenceSearch if decoder == "networkx" else PairSearch
        self.searches = [search(pair.edges, pair.fertility) for pair in pairs]

    def search(
        self, i: int, scores: Floats, k: int, known: Mask | None
    ) -> list[tuple[Mask, float]]:
        """Return up to k heaviest matchings of pair i, without ``known``."""
        own = self.searches[i]
        if known is not None:
            other = own.best_other(scores, known)
            return [] if other is None else [(other, 0.0)]
        found = [own.best(scores)] if k == 1 else own.k_best(scores, k)
        return [(mask, 0.0) for mask in found]

    def relaxation(self) -> MatchingRelaxation:
        """Return all matchings as one polytope."""
        given = (self.rows.matrix, self.offsets, self.gold, self.added, self.paid)
        return MatchingRelaxation(self.pairs, *given)

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        for pair in self.pairs:
            yield from (pair.edges, *pair.fertility)
