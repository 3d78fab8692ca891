r"""Sequences of labels that training has shown with their words: a dictionary of seen pairs.

    Y(x) = {y : (x_t, y_t) occurs in the training data for each word x_t that occurs there}.

A label that was not seen with a word scores far below all others, so that no decoder takes it;
words that training does not show may have any label.

>>> import numpy as np
>>> X, Y = [np.eye(2), np.eye(2)[1:]], [["N", "V"], ["N"]]   # the words "cat" and "may"
>>> weights = np.zeros(8)
>>> weights[2] = 9.0                                         # of V at "cat", which was never seen
>>> for structure in (Chain(), SeenPairs()):
...     print(structure.fitted(X, Y).predict(X, weights))
[['V', 'N'], ['N']]
[['N', 'N'], ['N']]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from structopt.arrays import Floats
from structopt.structures.base.label_problem import LabelProblem
from structopt.structures.base.oracles import Oracle
from structopt.structures.chain.scores import ChainScores
from structopt.structures.chain.shard import ChainShard
from structopt.structures.chain.structure import Chain

FAR = 1e9
"""How far below the others what was not seen scores: finite, since gold of new data may be it."""


class SeenShard(ChainShard):
    """Stacked sequences whose tokens know which labels they were not seen with."""

    along: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "offsets": (*ChainShard.along["offsets"], "penalty")
    }
    penalty: Floats

    def part_scores(self, weights: Floats) -> ChainScores:
        """Return the scores, those of unseen pairs far below."""
        scores = super().part_scores(weights)
        return scores._replace(unary=scores.unary - self.penalty)

    def label_problem(self, oracle: Oracle) -> LabelProblem | None:
        """Methods that read labels off rows know nothing of the dictionary."""
        return None


class SeenPairs(Chain):
    """A chain whose tokens have only labels that training shows with their inputs that are not 0.

    Attributes
    ----------
    seen_ : array of bool, shape (inputs, labels)
    """

    seen_: Any

    def fitted(self, X: Any, Y: Any) -> Self:
        """Return a copy that knows the labels, the dimensions and the seen pairs."""
        fitted = super().fitted(X, Y)
        stacked, gold = fitted._stack(X, Y)
        counts = abs(stacked.matrix).T @ np.eye(len(fitted.labels_))[gold]
        fitted.seen_ = np.asarray(counts) > 0
        return fitted

    def pack(self, X: Sequence[Any], Y: Sequence[Any] | None, start: int = 0) -> SeenShard:
        """Return checked sequences as a shard."""
        stacked, gold = self._stack(X, Y, start, partial=True)
        shard = SeenShard(
            stacked, gold, self.class_weight_, bool(self.boundaries), start, self.decoder,
            self._allowed(), None if Y is None else self._costs(Y, gold, start),
        )  # fmt: skip
        unseen = np.asarray(abs(stacked.matrix) @ (1.0 - self.seen_)) > 0
        shard.penalty = np.where(unseen, FAR, 0.0)
        return self._begun_allowed(shard, stacked, gold, Y is not None)

    def _alone(self, x: Any, weights: Any) -> None:
        return None
